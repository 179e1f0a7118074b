"""Who a channel says is asking: checked names, files that nobody else's name leads to, rooms that stay apart."""

from board import ANN, ROOM, Board
from engram.errors import ArgumentError, NotFound, StoreFull
from engram.memory import access, principal_files
from engram.memory.access import OWNER, Caller
from engram.memory.journal import schema
from support import change, raises

BOB = Caller("bob", "chat#3", False, "")
GARDEN = Caller("ann", "chat#1", False, "garden")

ODD = (
    "ann", "Ann", "ANN", "aNN", "ann ann", "ann.md", "ann~bob", "_61nn", "_", "__", "-", "a_6", ".", "..", "../owner",
    "/etc/passwd", "a/b", "a\\b", "~", "user~ann", "Owner", "OWNER", "owner.", "小明", "é", "e\u0301", "ｏｗｎｅｒ", "🎉",
    "@ann:example.org", "telegram:12345", "CON", "nul", "a" * 32, "é" * 16, "MEMORY", "2026-01-31", "%61", "ann:", ":",
)  # fmt: skip
WRONG = (
    "",
    " ",
    " ann",
    "ann ",
    "a\0b",
    "a\nb",
    "a\x1bb",
    "a\u202eb",
    'a"b',
    "a\\b",
    "a" * 33,
    "é" * 17,
    None,
    5,
    True,
    ["ann"],
)


def _refused(argument, attempt, *arguments):
    with raises(ArgumentError) as caught:
        attempt(*arguments)
    assert caught.error.argument == argument, str(caught.error)


# --- names


def test_a_name_that_cannot_be_stored_is_refused_with_what_is_wrong():
    for who in WRONG:
        _refused("who", access.check_caller, Caller(who, "x", False, ""))


def test_rooms_groups_and_workspaces_are_checked():
    for room in ("", "a\0", "r" * 65, 5, " x"):
        _refused("room", access.check_caller, Caller("ann", room, False, ""))
    for group in (1, "yes", None):
        _refused("group", access.check_caller, Caller("ann", "x", group, ""))
    for workspace in ("Garden", "my garden", "a,b", "#a", "w" * 30, "a\0", 5, None, True):
        _refused("workspace", access.check_caller, Caller("ann", "x", False, workspace))
    garden = Caller("ann", "x", True, "garden")
    assert access.check_caller(garden) is garden


# --- files


def test_no_two_principals_share_a_file_even_where_case_is_ignored():
    seen = {}
    for who in ODD:
        for name in ("user.md", "MEMORY.md", "2026-01-31.md"):
            path = principal_files.file_name_of(name, who).lower()
            assert path not in seen, (who, seen.get(path))
            seen[path] = who


def test_whose_a_file_is_can_be_read_from_its_name():
    for who in ODD:
        assert principal_files.principal_of(principal_files.file_name_of("2026-01-31.md", who)) == (
            "2026-01-31.md",
            who,
        )
    assert principal_files.principal_of("user.md") == ("user.md", "owner")
    for file in (
        "user~.md",
        "user~Ann.md",
        "user~_6.md",
        "user~_6G.md",
        "user~_61nn.md",
        "user~_ff.md",
        "user~owner.md",
        "user~a~b.md",
    ):
        assert principal_files.principal_of(file) == ("", ""), file


def test_only_so_many_people_have_files_of_their_own():
    board = Board(principals_most=2)
    for who in ("ann", "bob"):
        board.notes.for_caller(Caller(who, "x", False, "")).note("hello")
    for _ in range(2):
        with raises(StoreFull) as caught:
            board.profile.for_caller(Caller("carl", "x", False, "")).append("user.md", "x")
        assert "principals.most" in str(caught.error)
        board.notes.for_caller(ANN).note("again")
        board.notes.for_caller(OWNER).note("mine")
        board.restart()


def test_a_group_room_has_no_notes_and_no_user_md():
    board = Board()
    _refused("file", board.notes.for_caller, ROOM)
    profile = board.profile.for_caller(ROOM)
    assert profile.names() == ["identity.md", "soul.md"]
    _refused("file", profile.text, "user.md")
    for name in ("user.md", "soul.md"):
        _refused("file", profile.write, name, "x")


def test_undo_takes_back_only_ones_own_texts():
    board = Board()
    board.notes.for_caller(BOB).write("MEMORY.md", "one")
    board.notes.for_caller(BOB).write("MEMORY.md", "two")
    board.notes.for_caller(ANN).write("MEMORY.md", "hers")
    board.restart()
    assert board.undo.undo(BOB) == "MEMORY.md is again as it was before the last change."
    assert (board.notes.for_caller(BOB).text("MEMORY.md"), board.notes.for_caller(ANN).text("MEMORY.md")) == (
        "one",
        "hers",
    )


# --- workspaces


def test_a_tag_ws_shares_a_memory_with_those_in_the_workspace_only():
    board = Board()
    ref = board.records.store("the key is under the pot", ["key", "ws:garden"], GARDEN).id
    board.restart()
    inside, outside = Caller("bob", "x", False, "garden"), Caller("bob", "x", True, "garden")
    assert board.records.get(ref, inside)["scope"] == "ws:garden"
    for caller in (BOB, ANN, OWNER, outside, Caller("bob", "x", False, "office")):
        assert not board.records.is_seen(ref, caller)
        assert list(board.records.newest(caller)) == [] and "key" not in [tag for tag, _ in board.records.tags(caller)]


def test_nobody_writes_into_a_workspace_that_they_are_not_in():
    board = Board()
    for caller in (ANN, OWNER, Caller("ann", "x", True, "garden"), Caller("ann", "x", False, "office")):
        _refused("tags", board.records.store, "x", ["ws:garden"], caller)
    mine = board.records.store("the key", ["key"], ANN).id
    _refused("tags", board.records.update, mine, {"tags": ["ws:garden"]}, ANN)
    _refused("tags", board.records.store, "x", ["ws:garden", "ws:office"], GARDEN)
    _refused("tags", board.records.store, "x", ["ws:"], GARDEN)


def test_a_memory_that_all_see_does_not_go_to_a_workspace():
    board = Board()
    ref = board.records.store("dinner is at eight", ["dinner"], ROOM).id
    _refused("tags", board.records.update, ref, {"tags": ["ws:garden"]}, GARDEN)


def test_the_private_versions_of_what_went_to_a_workspace_stay_private():
    board = Board()
    ref = board.records.store("my secret is where the key is", ["key"], GARDEN).id
    board.records.update(ref, {"content": "the key is under the pot", "tags": ["ws:garden"]}, GARDEN)
    inside = Caller("bob", "x", False, "garden")
    assert [version["content"] for version in board.records.history(ref, inside)] == ["the key is under the pot"]
    assert len(list(board.records.history(ref, GARDEN))) == 2
    with raises(NotFound) as caught:
        board.undo.undo(inside)
    assert "to undo" in str(caught.error)
    assert "secret" in board.undo.undo(GARDEN)


def test_outside_of_a_workspace_undo_does_not_reach_what_went_there():
    board = Board()
    ref = board.records.store("the key is under the pot", ["key"], GARDEN).id
    board.records.update(ref, {"tags": ["ws:garden"]}, GARDEN)
    with raises(NotFound):
        board.undo.undo(ANN)
    assert board.records.is_seen(ref, GARDEN)


# --- sessions


def test_two_people_in_a_room_that_a_channel_mixed_up_keep_their_sessions():
    board = Board()
    mixed = (Caller("ann", "lobby", False, ""), Caller("bob", "lobby", False, ""))
    for _ in range(2):
        for caller in mixed:
            board.journal.add(caller, "user", caller.principal, "I am " + caller.principal)
    board.restart()
    for caller in mixed:
        texts = [board.journal.turn(seq)["text"] for seq in board.journal.window(board.journal.current(caller), 9)]
        assert texts == ["I am " + caller.principal] * 2 and len(list(board.journal.sessions(caller))) == 1


def test_nobody_goes_on_privately_in_the_session_of_a_group():
    board = Board()
    board.journal.add(ROOM, "user", "ann", "hello all")
    shared = board.journal.current(ROOM)
    with raises(NotFound) as caught:
        board.journal.switch(ANN, shared)
    assert "there is no session " + shared in str(caught.error)
    seq = board.journal.add(Caller("ann", ROOM.room, False, ""), "user", "ann", "only for you")
    assert not board.journal.has("t%d" % seq, ROOM)


def test_who_begins_many_sessions_pushes_out_none_of_others():
    change(schema, SESSIONS=4)
    board = Board()
    hers = board.journal.begin(ANN)
    for _ in range(9):
        board.now += 1
        board.journal.begin(BOB)
    assert [session.id for session in board.journal.sessions(ANN)] == [hers]
    assert len(list(board.journal.sessions(BOB))) == 3


def test_long_names_of_rooms_and_people_fit_into_a_segments_header():
    most = schema.SESSIONS
    board = Board()
    for number in range(most):
        who = "%02d" % number + "n" * (access.NAME_BYTES - 2)
        board.now += 1
        board.journal.begin(Caller(who, "%02d" % number + "r" * (access.ROOM_BYTES - 2), False, ""), "字" * 60)
    for _ in range(40):
        board.journal.add(ANN, "user", "ann", "x" * 1000)
    board.restart()
    assert board.journal.current(ANN)


def test_a_row_gives_its_caller_back():
    for caller in (OWNER, Caller("ann", "net 5", True, ""), Caller("ann", "net 5", False, "garden")):
        assert access.caller_of(access.fields_of(caller)) == caller
