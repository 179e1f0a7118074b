"""The tests with a real model share its server, and write what they measure to build/bench/real_model.json."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from driving import Home
from llama_server import ASKED_FOR, LlamaServer, model_file

SECONDS = 100.0
"""The longest wait for a sign of a board; several messages at once may take three times as long."""

FIGURES = Path(__file__).resolve().parents[2] / "build" / "bench" / "real_model.json"


@pytest.fixture(params=ASKED_FOR)
def model(request: pytest.FixtureRequest) -> str:
    """Return the name of a model that is installed."""
    if not model_file(request.param):
        pytest.skip(f"{request.param} is not installed: make llama MODELS={request.param}")
    return request.param


@pytest.fixture
def server(model: str, tmp_path: Path) -> Iterator[LlamaServer]:
    """Give a server of the model, not started yet; it ends with the test."""
    server = LlamaServer(model, tmp_path)
    yield server
    server.close()


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
