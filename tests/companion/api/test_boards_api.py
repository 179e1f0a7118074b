"""How boards are, over HTTP: figures, warnings and days; and where else they show."""

from collections.abc import Callable
from typing import Any

import pytest

from engram import __version__
from one_case import in_one_case
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


def test_the_days_of_a_board_are_shown(companion: Companion, kitchen: Sent):
    (day,) = shown(companion, f"/v1/boards/{kitchen.device}/days")
    told = shown(companion, f"/v1/boards/{kitchen.device}/status")["told"]
    assert day["day"] == told["at"] // 86400
    assert (day["turns"], day["searches"], day["searches_empty"], day["flash_most"]) == (7, 3, 1, 95)


@in_one_case("days", [0, 401, "x"])
def test_a_number_of_days_that_is_not_kept_is_refused(companion: Companion, kitchen: Sent, days: Any):
    assert companion.client.get(f"/v1/boards/{kitchen.device}/days", params={"days": days}).status_code == 422


@in_one_case("what", ["status", "days"])
def test_a_board_that_never_came_is_not_found(companion: Companion, what: str):
    assert companion.client.get(f"/v1/boards/nobody/{what}").status_code == 404


def test_the_fullest_flash_is_a_figure_without_a_boards_name(companion: Companion, kitchen: Sent):
    metrics = companion.client.get("/metrics").text
    assert "engram_flash_most_percent 95.0" in metrics and kitchen.device not in metrics
    assert shown(companion, "/v1/stats")["flash_most_percent"] == 95
