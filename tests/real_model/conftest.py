"""The tests with a real model share its server, and write what they measure to build/bench/real_model.json."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from driving import Home
from llama_server import ASKED_FOR, LlamaServer, model_file

Served = Callable[..., LlamaServer]
SECONDS = 100.0
"""How long a sign of a board may take; what it is told at once may take three times as long."""

FIGURES = Path(__file__).resolve().parents[2] / "build" / "bench" / "real_model.json"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give each test the models that are asked for."""
    if "model" in metafunc.fixturenames:
        metafunc.parametrize("model", ASKED_FOR)


@pytest.fixture
def served(model: str, tmp_path: Path) -> Iterator[Served]:
    """Give what makes a server of the model, started unless it is to be seen loading; it ends with the test."""
    if not model_file(model):
        pytest.skip(f"{model} is not installed: make llama MODELS={model}")
    with ExitStack() as stack:

        def serve(context: int = 8192, is_loading: bool = False) -> LlamaServer:
            server = LlamaServer(model, tmp_path, context)
            stack.callback(server.close)
            return server if is_loading else server.start()

        yield serve


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A folder for a board whose answers are short, on a machine that is slow."""
    return Home(tmp_path / "home", within=SECONDS).having(llm__reply_tokens=64)


@pytest.fixture
def measured(model: str) -> Callable[..., None]:
    """Give what writes figures of the model."""

    def write(**figures: object) -> None:
        all_figures = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
        all_figures.setdefault(model, {}).update(figures)
        FIGURES.parent.mkdir(exist_ok=True)
        FIGURES.write_text(json.dumps(all_figures, indent=1))

    return write
