"""llama.cpp's server until its input ends: MODEL PORT CONTEXT FOLDER, with the Python of build/llama.

FOLDER gets a file for each prompt, as the model reads it.
"""

import os
import sys

import xllamacpp  # pyright: ignore[reportMissingImports]


def main() -> None:
    model, port, context, folder = sys.argv[1:]
    params = xllamacpp.CommonParams()
    params.model.path, params.port, params.n_ctx, params.path_prompts_log_dir = model, int(port), int(context), folder
    # Questions for its state are answered between two batches.
    params.use_jinja, params.warmup, params.n_batch = True, False, 256
    # Threads wait for each other: on a core that others use, two are slower than one.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = max(1, (os.cpu_count() or 1) // 2)
    server = xllamacpp.Server(params)
    sys.stdin.read()
    del server


main()
