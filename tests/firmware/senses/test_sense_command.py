"""The command /senses."""

from board import ANN, Board, error_of, lines_of
from engram.memory.access import OWNER
from perceiving import house


def test_the_list_has_the_latest_reading_and_the_age_of_each():
    board = house()
    board.now += 120
    assert lines_of(board, "/senses") == [
        "door: 0.0, 15 h 1 min ago",
        "bedroom temperature: 19.2 °C, 2 min ago",
        "outside: 9.2 °C, 2 min ago",
        "bedroom humidity: 43.0 %, 2 min ago",
    ]


def test_one_sense_is_shown_by_day():
    board = house()
    assert lines_of(board, "/senses outside yesterday") == [
        "outside, 2026-09-22 00:00 to 2026-09-23 00:00: mean 9.0 °C",
        "lowest: 6.0 °C at 2026-09-22 02:50",
        "highest: 12.0 °C at 2026-09-22 15:00",
    ]
    hours = "bedroom temperature, 2026-09-22 09:30 to 2026-09-23 09:30: "
    assert lines_of(board, "/senses Bedroom  Temperature")[0].startswith(hours)
    assert lines_of(board, "/senses outside last week")[0] == "outside: no readings are kept of that time."


def test_a_limit_is_set_shown_and_removed():
    board = house()
    assert lines_of(board, "/senses limit outside below 5") == ["will tell you here when outside is below 5.0 °C (l1)"]
    assert lines_of(board, "/senses limit humidity above -1.5")[0].endswith("bedroom humidity is above -1.5 % (l2)")
    assert "limit: below 5.0 °C (l1)" in lines_of(board, "/senses outside")
    assert lines_of(board, "/senses unlimit l1") == ["l1 is removed"]
    assert "limit: below 5.0 °C (l1)" not in lines_of(board, "/senses outside")


def test_what_is_wrong_with_a_limit_is_said():
    board = house()
    for line, problem in (
        ("/senses limit", "takes a name"),
        ("/senses limit outside below", "takes a name"),
        ("/senses limit outside below five", "needs a number"),
        ("/senses limit nothing below 5", "there are: door"),
        ("/senses unlimit l9", "l9"),
    ):
        assert problem in error_of(board, line), line


def test_a_sense_is_forgotten_by_the_owner():
    board = house(senses_share="all")
    assert "owner" in error_of(board, "/senses forget outside", ANN)
    board.sense_view.set_limit(OWNER, "outside", low=20)
    assert lines_of(board, "/senses forget outside")[0].startswith("outside is forgotten")
    assert "there are: door, bedroom" in error_of(board, "/senses outside")
    assert board.sense_view.limits.of_caller(OWNER) == []


def test_a_board_without_senses_says_how_to_get_some():
    assert "there are none yet" in error_of(Board().serve(), "/senses")
