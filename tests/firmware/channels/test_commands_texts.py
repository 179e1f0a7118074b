"""The commands for sessions and the profile."""

from board import ANN, ROOM, Board, commands_of, error_of, lines_of
from engram.memory.access import OWNER


def _board():
    board = Board()
    board.commands = commands_of(board)
    return board


def _say(board, content, caller=OWNER):
    board.now += 60
    board.journal.add(caller, "user", caller.principal, content)


# --- /session


def test_without_a_session_it_says_so():
    board = _board()
    for line in ("/session", "/session list"):
        assert lines_of(board, line) == ["no session yet; the first message begins one"]


def test_the_present_session_is_shown():
    board = _board()
    _say(board, "hello")
    assert lines_of(board, "/session") == ["* s1         1 turn  2026-09-21 14:14  hello"]


def test_sessions_are_begun_listed_and_switched():
    board = _board()
    _say(board, "hello")
    assert lines_of(board, "/session new  my trip ") == ["session s4 begins"]
    _say(board, "one")
    assert lines_of(board, "/session list") == [
        "* s4         1 turn  2026-09-21 14:15  my trip",
        "  s1         1 turn  2026-09-21 14:14  hello",
    ]
    assert lines_of(board, "/session switch s1") == ["now in * s1         1 turn  2026-09-21 14:14  hello"]
    assert lines_of(board, "/session")[0].startswith("* s1")


def test_a_session_is_deleted():
    board = _board()
    _say(board, "hello")
    assert lines_of(board, "/session delete s1") == ["deleted s1 with 1 turn; /compact takes them off the flash"]
    assert lines_of(board, "/session list") == ["no session yet; the first message begins one"]


def test_a_room_without_a_session_says_so_though_there_are_others():
    board = _board()
    for _ in range(2):
        lines_of(board, "/session new")
    lines_of(board, "/session delete s3")
    assert lines_of(board, "/session") == ["no session yet; the first message begins one"]
    assert len(lines_of(board, "/session list")) == 1


def test_session_explains_what_is_wrong():
    board = _board()
    assert "takes new [TITLE], list, switch ID or delete ID" in error_of(board, "/session rename x")
    for action in ("switch", "delete"):
        assert "looks like s12" in error_of(board, "/session " + action)
        assert "there is no session s9; /session list" in error_of(board, f"/session {action} s9")


def test_private_sessions_are_neither_shown_nor_deleted_by_others():
    board = _board()
    _say(board, "hello", ANN)
    assert "no session" in lines_of(board, "/session list", ROOM)[0]
    assert "there is no session s1" in error_of(board, "/session delete s1", ROOM)


# --- /profile


def test_the_profile_is_shown_whole_or_by_file():
    board = _board()
    lines = lines_of(board, "/profile")
    assert [line for line in lines if line[:3] == "---"] == ["--- identity.md", "--- soul.md", "--- user.md"]
    assert lines_of(board, "/profile user.md")[0] == "--- user.md" and len(lines_of(board, "/profile user.md")) == 2


def test_the_profile_is_edited_and_the_edit_undone():
    board = _board()
    changed = "user.md is changed (/undo undoes it):"
    assert lines_of(board, "/profile user.md write Likes tea") == [changed, "Likes tea"]
    assert lines_of(board, "/profile user.md add Lives in 北京") == [changed, "Likes tea\nLives in 北京"]
    assert lines_of(board, "/profile user.md replace tea => green tea")[1].startswith("Likes green tea\n")
    for content in ("Likes tea\nLives in 北京\n", "Likes tea\n"):
        assert lines_of(board, "/undo") == ["user.md is again as it was before the last change."]
        assert board.profile.for_caller(OWNER).text("user.md") == content


def test_profile_explains_what_is_wrong():
    board = _board()
    before = board.profile.for_caller(OWNER).text("user.md")
    for line, problem in (
        ("/profile other.md", "must be one of identity.md, soul.md, user.md"),
        ("/profile other.md add x", "must be one of"),
        ("/profile user.md remove x", "FILE takes add TEXT, write TEXT or replace OLD => NEW"),
        ("/profile user.md replace x y", "FILE takes add TEXT"),
        ("/profile user.md replace zanzibar => y", "stands not at all in user.md"),
        ("/profile user.md add", "must be a text that is not empty"),
        ("/profile user.md write " + "x" * 2001, "at most 2000 are kept"),
    ):
        assert problem in error_of(board, line), line
    assert board.profile.for_caller(OWNER).text("user.md") == before


def test_the_profile_stays_out_of_a_group_room():
    board = _board()
    for line in ("/profile", "/profile user.md", "/profile user.md write x"):
        assert error_of(board, line, ROOM) == "/profile: is private and stays out of group rooms."
