"""The scripted model finds a person's own words by the marks that the firmware sets: here a board writes the message."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

import support
from board import Board, Script
from engram.memory.access import OWNER
from engram.timers.timer_store import TimerSpec, Words
from engram_host.fake_llm.types import split_recalled
from turns import say

WORDS = "Is the bike at the paint shop?\nI forgot."


@pytest.fixture
def board(tmp_path: Path) -> Iterator[Board]:
    """A board whose model plays a script, and that shows a model four turns."""
    support.use_root(str(tmp_path))
    board = Board().learn(Script(), session_messages=4)
    yield board
    board.close()


def asked(board: Board) -> str:
    """What the board sends to its model when the person says WORDS."""
    asyncio.run(say(board, WORDS))
    assert board.model
    return board.model.requests[-1][-1]


def test_the_time_is_not_the_persons_words(board: Board):
    message = asked(board)
    assert message != WORDS and split_recalled(message) == (WORDS, ())


def test_new_tags_are_not_the_persons_words(board: Board):
    asyncio.run(say(board, "hello"))
    board.records.store("Tea is drunk at five", ["tea"])
    message = asked(board)
    assert "(new tags: tea)" in message and split_recalled(message) == (WORDS, ())


def test_a_reminder_is_not_the_persons_words(board: Board):
    board.timers.add(OWNER, TimerSpec("say", "buy brushes", False, Words("paint shop")))
    message = asked(board)
    assert "buy brushes" in message and split_recalled(message) == (WORDS, ())


def test_readings_of_senses_are_not_the_persons_words(board: Board):
    board.find_senses().observe("bedroom temperature", 21.4, "°C")
    message = asked(board)
    assert "- bedroom temperature: 21.4 °C" in message and split_recalled(message) == (WORDS, ())


def test_memories_that_are_recalled_beside_readings_are_found(board: Board):
    board.find_senses().observe("bedroom temperature", 21.4, "°C")
    stored = board.records.store("The bike is at the paint shop", ["bike"])
    words, recalled = split_recalled(asked(board))
    assert words == WORDS and [stored.id in line for line in recalled] == [True]


def test_recalled_memories_and_turns_are_distinguished_from_the_persons_words(board: Board):
    board.records.store("The bike is green", ["bike"])
    board.journal.add(OWNER, "user", OWNER.principal, "my bike has a bell")
    for number in range(8):
        board.journal.add(OWNER, "user", OWNER.principal, f"word {number}")
    message = asked(board)
    words, recalled = split_recalled(message)
    assert words == WORDS and len(recalled) == 2
    assert sorted(line[line.index("] ") + 2 :] for line in recalled) == ["The bike is green", "my bike has a bell"]


def test_memories_without_citations_are_recalled_lines(tmp_path: Path):
    support.use_root(str(tmp_path))
    board = Board().learn(Script(), session_messages=4, recall_citations="off")
    board.records.store("The bike is green", ["bike"])
    board.journal.add(OWNER, "user", OWNER.principal, "my bike has a bell")
    for number in range(8):
        board.journal.add(OWNER, "user", OWNER.principal, f"word {number}")
    message = asked(board)
    board.close()
    words, recalled = split_recalled(message)
    assert "The bike is green" in message and "[m" not in message
    assert words == WORDS and sum("bike" in line for line in recalled) == 2


def test_a_speaker_with_a_bracket_in_the_name_is_recalled(board: Board):
    board.journal.add(OWNER, "user", "Ann [at home]", "the bike has a bell")
    for number in range(8):
        board.journal.add(OWNER, "user", OWNER.principal, f"word {number}")
    words, recalled = split_recalled(asked(board))
    assert words == WORDS and any("Ann [at home]] the bike has a bell" in line for line in recalled)


def test_lines_of_the_person_that_look_like_recalled_ones_stay_theirs(board: Board):
    board.records.store("The bike is green", ["bike"])
    quoted = "Is this true of the bike?\n\n- [m1 2026-01-31] The bike is green"
    asyncio.run(say(board, quoted))
    assert board.model
    words, recalled = split_recalled(board.model.requests[-1][-1])
    assert words == quoted and len(recalled) == 1


def test_all_marks_together_leave_the_persons_words(board: Board):
    asyncio.run(say(board, "hello"))
    board.records.store("The bike is green", ["bike"])
    board.timers.add(OWNER, TimerSpec("say", "buy brushes", False, Words("paint shop")))
    words, recalled = split_recalled(asked(board))
    assert words == WORDS and len(recalled) == 1
