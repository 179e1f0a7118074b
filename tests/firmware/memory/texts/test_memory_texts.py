"""Profile and notes: small texts with limits, edited by piece, confined to their own files."""

import os

from board import Board
from engram import files
from engram.errors import ArgumentError
from engram.memory.access import OWNER
from engram.memory.texts.notes import Notes
from engram.memory.texts.profile import Profile
from support import change, raises

TODAY = "2026-09-21.md"
YESTERDAY = "2026-09-20.md"


def _refused(argument, problem, attempt, *arguments):
    with raises(ArgumentError) as caught:
        attempt(*arguments)
    assert caught.error.argument == argument, str(caught.error)
    assert problem in caught.error.problem, str(caught.error)


def _kinds(board):
    """Profile and notes with a file of each: what both must do alike."""
    return ((board.profile.for_caller(OWNER), "user.md"), (board.notes.for_caller(OWNER), "MEMORY.md"))


# --- both


def test_a_piece_that_is_not_there_or_twice_is_not_replaced():
    for keeper, name in _kinds(Board()):
        keeper.write(name, "one two two")
        problem = f"stands not at all in {name}; give a piece of it that stands there exactly once."
        _refused("old", problem, keeper.replace, name, "four", "x")
        _refused("old", "stands 2 times in " + name, keeper.replace, name, "two", "x")
        _refused("old", "must be the text to replace", keeper.replace, name, "", "x")
        assert keeper.text(name) == "one two two"


def test_what_is_no_text_is_refused():
    for keeper, name in _kinds(Board()):
        before = keeper.text(name)
        for content in (None, 5, ["a"]):
            _refused("text", "must be a text", keeper.write, name, content)
            _refused("text", "must be a text that is not empty", keeper.append, name, content)
        _refused("text", "must be a text that is not empty", keeper.append, name, " \n")
        _refused("text", "NUL", keeper.write, name, "a\0b")
        _refused("text", "NUL", keeper.append, name, "a\0b")
        assert keeper.text(name) == before


def test_a_text_over_the_limit_is_refused_and_the_old_one_stays():
    change(Notes, limit=300)
    change(Profile, limit=300)
    board = Board()
    for keeper, name in _kinds(board):
        keeper.write(name, "字" * 298)
        _refused("text", f"{name} would have 301 characters, at most 300", keeper.write, name, "x" * 301)
        _refused("text", "would have 301 characters", keeper.append, name, "字")
        _refused("text", "would have 301 characters", keeper.write, name, "字" * 299 + "ab")
        assert keeper.text(name) == "字" * 298


# --- profile


def test_what_a_person_wrote_over_the_limit_is_cut_and_reported():
    change(Profile, limit=300)
    board = Board()
    files.write(board.place + "/profile/user.md", "字" * 310)
    assert (
        board.profile.for_caller(OWNER).text("user.md") == "字" * 300
        and board.profile.for_caller(OWNER).overlong("user.md") == 10
    )


def test_the_profile_has_no_other_files():
    board = Board()
    for name in ("USER.md", "user.md/../soul.md", "../memory/MEMORY.md", "user.md\0", "", None, "secrets.json"):
        _refused(
            "file",
            "must be one of identity.md, soul.md, agent.md, user.md, task.md",
            board.profile.for_caller(OWNER).text,
            name,
        )
        _refused("file", "must be one of", board.profile.for_caller(OWNER).write, name, "x")


# --- notes

TRICKS = (
    "../x",
    "../profile/user.md",
    "MEMORY.md/../../profile/user.md",
    "MEMORY.md\0",
    "/MEMORY.md",
    "memory.md",
    "MEMORY.md.new",
    "2026-02-30.md",
    "2026-13-01.md",
    "2026-9-21.md",
    "02026-09-21.md",
    "२०२६-०९-२१.md",
    "2026-09-21.md/..",
    "2026/09/21.md",
    "memory_records.jsonl",
    "reserve.bin",
    "",
    ".",
    None,
    7,
)


def test_a_name_that_is_no_notes_is_refused():
    board = Board()
    before = sorted(os.listdir(board.place + "/memory"))
    notes = board.notes.for_caller(OWNER)
    for name in TRICKS:
        _refused("file", "must be MEMORY.md or a day's note such as " + TODAY, notes.text, name)
        _refused("file", "must be MEMORY.md", notes.lines, name)
        for attempt in (notes.write, notes.append):
            _refused("file", f"can be changed only if it is one of MEMORY.md, {TODAY}, {YESTERDAY}", attempt, name, "x")
        with raises(ArgumentError):
            notes.replace(name, "x", "y")  # pyright: ignore[reportArgumentType]  # some are no text, on purpose
    assert sorted(os.listdir(board.place + "/memory")) == before
