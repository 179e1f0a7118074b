"""The diary: what a day's messages become after midnight, once, and what is never written."""

import json

from board import ANN, DAY, ROOM, Board, Script, say
from engram.memory.access import OWNER

SAID = ("I booked the flight to Paris", "Carla comes along", "the boiler was mended for 90 euros", "we ate soup")
NOTE = "2026-09-21.md"


def _line(sources, content):
    return {"from": sources, "content": content}


def _board(*lines):
    board = Board().learn(Script(json.dumps(lines)), extract_on=True, distill_on=False)
    for content in SAID:
        say(board, content)
        board.now += 600
    _read_for_facts(board)
    return board


def _read_for_facts(board):
    board.learning_cursor.until = board.journal.newest


def _diary(board):
    return board.jobs.jobs[1]


async def _write(board):
    for _ in range(5):
        if _diary(board).is_due():
            await _diary(board).step()


def _note(board, caller=OWNER):
    return board.notes.for_caller(caller).text(NOTE)


async def test_after_midnight_the_days_messages_become_lines_of_its_note():
    board = _board(
        _line(["t3", "t4"], "Booked the flight to Paris, with Carla"), _line(["t5"], "Boiler mended, 90 euros")
    )
    await _write(board)
    assert not _note(board)
    board.now += DAY
    await _write(board)
    assert _note(board) == (
        "- 14:13-14:23 Booked the flight to Paris, with Carla [t3 t4]\n- 14:33 Boiler mended, 90 euros [t5]\n"
    )
    assert not board.note_retention.waiting()  # their messages were read for facts


async def test_what_is_forgotten_leaves_the_diary_too_and_a_note_of_ones_own_is_no_line_of_it():
    board = _board(_line(["t3", "t4"], "Booked the flight"), _line(["t5"], "Boiler mended, 90 euros"))
    board.now += DAY
    await _write(board)
    board.journal.redact("t4", OWNER)
    assert _note(board) == "- 14:33 Boiler mended, 90 euros [t5]\n"
    board.notes.for_caller(OWNER).note("the code was tried [tested]")
    assert board.note_retention.waiting() == {"owner": 1}


async def test_a_day_is_written_once_whenever_the_power_fails():
    board = _board(_line(["t3"], "Booked the flight"))
    board.now += DAY
    await _write(board)
    there = _note(board)
    board.restart()
    board.learn(Script())
    await _write(board)
    assert _note(board) == there and board.model.asked == 0
    board.learning_cursor.diary = 0  # the power failed before that was kept
    board.learn(Script())
    board.learning_cursor.diary = 0
    await _write(board)
    assert _note(board) == there and board.model.asked == 0


async def test_what_nobody_said_and_what_is_no_line_is_refused():
    board = _board(
        _line(["t99"], "soup"),
        _line([], "soup"),
        _line(["t3"], "Nothing like it"),
        _line(["t3"], "x" * 201),
        _line([{}], "soup"),
        _line(["t6"], "Soup"),
    )
    board.now += DAY
    await _write(board)
    assert _note(board) == "- 14:43 Soup [t6]\n" and _diary(board).refused == 5


async def test_few_messages_others_and_groups_have_no_line_in_a_persons_note():
    board = _board(_line(["t3"], "Booked the flight"))
    for caller in (ANN, ROOM):
        say(board, "I like my walled garden", caller=caller)
    board.now += DAY
    await _write(board)
    assert "walled" not in "".join(board.model.requests[0]) and len(board.model.requests) == 1
    assert not _note(board, ANN)
