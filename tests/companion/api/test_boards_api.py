"""How boards are, over HTTP: figures, warnings and days; and where else they show."""

from collections.abc import Callable
from typing import Any

import pytest

from engram import __version__
from peers import Companion
from sending import Sent

FIGURES: dict[str, int | str] = {
    "run": 4, "firmware": __version__, "flash": 95, "flash_size": 100, "model": "m", "model_problem": "it is down",
    "turns": 7, "searches": 3, "searches_empty": 1,
}  # fmt: skip


@pytest.fixture
def kitchen(board: Callable[..., Sent]) -> Sent:
    """A board that has told how it is."""
    made = board()
    made.hello()
    made.ask("status", items=[[name, value] for name, value in FIGURES.items()])
    return made


def shown(companion: Companion, path: str, **params: Any) -> Any:
    answer = companion.client.get(path, params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_figures_of_a_board_are_shown_with_what_to_do(companion: Companion, kitchen: Sent):
    found = shown(companion, f"/v1/boards/{kitchen.device}/status")
    assert found["told"]["at"] > 0 and found["told"]["status"]["turns"] == 7
    assert [warning.partition(":")[0] for warning in found["warnings"]] == [
        "Its flash is 95 % full",
        "Its model gave no answer the last time",
    ]


def test_a_board_that_told_nothing_has_no_figures(companion: Companion, board: Callable[..., Sent]):
    silent = board()
    silent.hello()
    found = shown(companion, f"/v1/boards/{silent.device}")["board"]
    assert found["told"] is None and "engram board deploy" in found["warnings"][0]
