"""The commands for sessions and the profile."""

from board import ROOM, Board, commands_of, error_of, lines_of
from engram.memory.access import OWNER


def _board():
    board = Board()
    board.commands = commands_of(board)
    return board


def _say(board, content, caller=OWNER):
    board.now += 60
    board.journal.add(caller, "user", caller.principal, content)


# --- /session


def test_sessions_are_begun_listed_and_switched():
    board = _board()
    _say(board, "hello")
    assert lines_of(board, "/session new  my trip ") == ["session s4 begins"]
    _say(board, "one")
    assert lines_of(board, "/session list") == [
        "* s4         1 turn  2026-09-21 14:15  my trip",
        "  s1         1 turn  2026-09-21 14:14  hello",
    ]
    assert lines_of(board, "/session switch s1") == ["now in * s1         1 turn  2026-09-21 14:15  hello"]
    assert lines_of(board, "/session")[0].startswith("* s1")


def test_a_session_is_deleted():
    board = _board()
    _say(board, "hello")
    assert lines_of(board, "/session delete s1") == ["deleted s1 with 1 turn; /compact takes them off the flash"]
    assert lines_of(board, "/session list") == ["no session yet; the first message begins one"]


# --- /profile


def test_the_profile_is_edited_and_the_edit_undone():
    board = _board()
    changed = "user.md is changed (/undo undoes it):"
    assert lines_of(board, "/profile user.md write Likes tea") == [changed, "Likes tea"]
    assert lines_of(board, "/profile user.md add Lives in 北京") == [changed, "Likes tea\nLives in 北京"]
    assert lines_of(board, "/profile user.md replace tea => green tea")[1].startswith("Likes green tea\n")
    for content in ("Likes tea\nLives in 北京\n", "Likes tea\n"):
        assert lines_of(board, "/undo") == ["user.md is again as it was before the last change."]
        assert board.profile.for_caller(OWNER).text("user.md") == content


def test_the_profile_stays_out_of_a_group_room():
    board = _board()
    for line in ("/profile", "/profile user.md", "/profile user.md write x"):
        assert error_of(board, line, ROOM) == "/profile: is private and stays out of group rooms."
