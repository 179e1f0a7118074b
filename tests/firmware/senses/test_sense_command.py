"""The command /senses, for people and for programs."""

from board import ANN, error_of, lines_of
from engram.memory.access import OWNER
from perceiving import house


def _said(board, line, caller=OWNER):
    return [line for line in lines_of(board, line, caller) if isinstance(line, str)]


def _reports(board, line):
    return [line for line in lines_of(board, line) if isinstance(line, dict)]


def test_the_list_has_the_latest_reading_and_the_age_of_each():
    board = house()
    board.now += 120
    assert _said(board, "/senses") == [
        "door: 0.0, 15 h ago",
        "bedroom temperature: 19.2 °C, 2 min ago",
        "outside: 9.2 °C, 2 min ago",
        "bedroom humidity: 43.0 %, 2 min ago",
    ]


def test_programs_get_numbers_in_place_of_sentences():
    board = house()
    assert _reports(board, "/senses")[1] == {
        "sense": "bedroom temperature",
        "unit": "°C",
        "decimals": 1,
        "states": [],
        "value": 192,
        "at": board.now,
    }


def test_events_and_sensors_that_fail_are_in_the_list():
    board = house()
    board.sense_view.set_limit(OWNER, "outside", low=20)
    for _ in range(3):
        board.now += 60
        board.senses.observe("outside", 9)
        board.senses.tick()
    board.sense_view.failing = lambda: ["bedroom humidity"]
    lines = _said(board, "/senses")
    assert lines[2].endswith("; low (e1)") and lines[3].endswith("; failing")


def test_one_sense_is_shown_by_day():
    board = house()
    lines = _said(board, "/senses outside yesterday")
    assert lines[0] == "outside, 2026-09-22: 6.0 to 12.0 °C, mean 9.0; lowest at 02:50, highest at 15:00"
    assert lines[1] == "readings: 144"
    hours = "bedroom temperature, 2026-09-22 09:30 to 2026-09-23 09:30: "
    assert _said(board, "/senses Bedroom  Temperature")[0].startswith(hours)
    week = "outside, 2026-09-14 00:00 to 2026-09-20 23:59: no readings"
    assert _said(board, "/senses outside last week")[0].startswith(week)
    empty = "outside, 2026-01-03: no readings are kept of that time; the first are of 2026-09-21."
    assert _said(board, "/senses outside 2026-01-03")[0] == empty


def test_a_limit_is_set_shown_and_removed():
    board = house()
    assert _said(board, "/senses limit outside below 5") == ["will tell you here when outside is below 5.0 °C (l1)"]
    assert _said(board, "/senses limit outside above -1.5")[0].endswith("above -1.5 °C (l2)")
    assert "limit: below 5.0 °C (l1)" in _said(board, "/senses outside")
    assert _said(board, "/senses unlimit l1") == ["l1 is removed"]
    assert "limit: below 5.0 °C (l1)" not in _said(board, "/senses outside")


def test_a_limit_needs_only_a_part_of_a_name():
    board = house()
    said = _said(board, "/senses limit humidity below 30")
    assert said[0].startswith("will tell you here when bedroom humidity is below 30")


def test_a_limit_may_have_the_unit_of_its_sense():
    board = house()
    for value in ("5.5 °C", "5.5°C"):
        assert "below 5.5 °C" in _said(board, "/senses limit outside below " + value)[0]


def test_a_sense_is_shown_by_a_part_of_its_name():
    board = house()
    assert _said(board, "/senses humidity")[0].startswith("bedroom humidity, 2026-09-22 09:30 to ")
    assert _said(board, "/senses humidity yesterday")[0].startswith("bedroom humidity, 2026-09-22: ")


def test_what_is_wrong_with_a_limit_is_said():
    board = house()
    for line, problem in (
        ("/senses limit", "takes a name"),
        ("/senses unlimit", "takes a name"),
        ("/senses forget", "takes a name"),
        ("/senses limit outside below", "takes a name"),
        ("/senses limit outside below 5 °F", "needs a number"),
        ("/senses limit outside below five", "needs a number"),
        ("/senses limit outside below 1.2.3", "needs a number"),
        ("/senses limit nothing below 5", "there are: door"),
        ("/senses unlimit l9", "l9"),
    ):
        assert problem in error_of(board, line), line


def test_a_sense_is_forgotten_by_the_owner():
    board = house(senses_share="all")
    assert "only" in error_of(board, "/senses forget outside", ANN) or "owner" in error_of(
        board, "/senses forget outside", ANN
    )
    assert _said(board, "/senses forget outside")[0].startswith("outside is forgotten")
    assert "there are: door, bedroom" in error_of(board, "/senses outside")


def test_a_board_without_senses_says_how_to_get_some():
    from board import Board

    assert "there are none yet" in error_of(Board().serve(), "/senses")
