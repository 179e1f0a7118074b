"""What the end-to-end tests share: a board's folder, and a model to ask."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import get_micropython
from driving import Home
from fake_llm import Serving, serving

APIS = ("openai", "anthropic")


@pytest.fixture(autouse=True, scope="session")
def micropython() -> None:
    """There is nothing to drive without it."""
    if not get_micropython.usable(get_micropython.HOME / "64", 64):
        pytest.skip("there is no 64-bit MicroPython for this machine")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A folder for a board, not made yet."""
    return Home(tmp_path / "home")


@pytest.fixture
def scripted() -> Iterator[Callable[..., Serving]]:
    """A scripted model: `scripted(rule, rule)` starts one; it ends with the test."""
    with ExitStack() as stack:
        yield lambda *rules: stack.enter_context(serving(rules))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give `api` to a test: each API where it is marked `both_apis`, since what goes over the wire matters; else the first
    one in `make test`, and the others in `make soak`.
    """
    if "api" in metafunc.fixturenames:
        is_for_both = metafunc.definition.get_closest_marker("both_apis")
        others = [api if is_for_both else pytest.param(api, marks=pytest.mark.soak) for api in APIS[1:]]
        metafunc.parametrize("api", [APIS[0], *others])
