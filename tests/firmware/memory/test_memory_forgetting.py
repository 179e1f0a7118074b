"""Forgetting means gone: from recall at once, from the flash at the next compaction, and nothing comes back instead."""

from board import ANN, ROOM, Board
from engram.errors import NotFound
from engram.memory.access import OWNER
from engram.memory.journal import schema
from engram.memory.records.records import Draft
from support import change, raises

SECRET = "zanzibar"


def _told(board, content="the password is " + SECRET, caller=OWNER, **more):
    """A turn, and the record that came from it; (record's id, turn's id)."""
    turn = "t" + str(board.journal.add(caller, "user", caller.principal, content))
    return board.records.store(content, ["note"], caller, turns=[turn], **more).id, turn


def _recalled(board, caller=OWNER):
    return [item.id for item in board.find(SECRET, caller)]


def test_its_turns_leave_recall_with_it_if_wanted():
    board = Board()
    ref, turn = _told(board)
    record, gone = board.forgetting.forget(ref, with_turns=True)
    assert gone == [turn] and record["id"] == ref
    for _ in range(2):
        assert _recalled(board) == []
        with raises(NotFound):
            board.journal.get(turn, OWNER)
        board.restart()


def test_the_turns_of_what_it_superseded_go_too():
    board = Board()
    first, first_turn = _told(board, "zanzibar one")
    second, second_turn = _told(board, "zanzibar two", supersedes=first)
    assert board.forgetting.forget(second, with_turns=True)[1] == [second_turn, first_turn]
    assert _recalled(board) == []


def test_undo_brings_record_and_turns_back():
    board = Board()
    ref, turn = _told(board)
    board.forgetting.forget(ref, with_turns=True)
    board.restart()
    board.undo.undo()
    for _ in range(2):
        assert sorted(_recalled(board)) == [ref, turn]
        board.restart()


def test_undo_brings_a_turn_back_whose_session_left_the_list_but_not_one_of_a_deleted_session():
    change(schema, SESSIONS=1)
    for is_deleted in (False, True):
        board = Board()
        ref, turn = _told(board)
        board.forgetting.forget(ref, with_turns=True)
        if is_deleted:
            board.journal.delete(OWNER, board.journal.current(OWNER))
        board.journal.begin(OWNER)
        board.undo.undo()
        assert board.journal.has(turn, OWNER) is not is_deleted


def test_a_turn_of_another_is_not_redacted():
    board = Board()
    turn = "t" + str(board.journal.add(ANN, "user", "ann", SECRET))
    ref = board.records.store(SECRET, ["a"], ROOM, turns=[turn]).id
    assert board.forgetting.forget(ref, OWNER, with_turns=True)[1] == []
    assert _recalled(board, ANN) == [turn]


def test_after_compaction_an_edited_text_stands_in_no_file():
    board = Board()
    board.profile.for_caller(OWNER).append("user.md", "Password: " + SECRET)
    board.notes.for_caller(OWNER).append("MEMORY.md", "Password: " + SECRET)
    board.profile.for_caller(OWNER).replace("user.md", SECRET, "***")
    board.notes.for_caller(OWNER).write("MEMORY.md", "")
    assert board.holds(SECRET)
    board.compact()
    assert not board.holds(SECRET)


def test_after_compaction_a_deleted_session_stands_in_no_file():
    board = Board()
    board.journal.begin(OWNER, "about " + SECRET)
    _, turn = _told(board)
    board.journal.delete(OWNER, board.journal.current(OWNER))
    board.records.forget("m1")
    board.compact()
    assert not board.holds(SECRET)
    with raises(NotFound):
        board.journal.get(turn, OWNER)


def test_a_sessions_thread_can_be_walked_over_turns_that_were_compacted_away():
    board = Board(segment_bytes=1200)
    turns = ["t" + str(board.journal.add(OWNER, "user", "owner", f"word {number}")) for number in range(12)]
    for turn in turns[3:9]:
        board.journal.redact(turn, OWNER)
    board.compact()
    board.restart()
    texts = [turn["text"] for turn in board.journal.get(turns[-1], OWNER, around=11)]
    assert texts == [f"word {number}" for number in (0, 1, 2, 9, 10, 11)]


# --- what left for lack of room


def _crowded(**more):
    """A board whose least important memory, which has the secret, has left; (board, its id, its turn)."""
    board = Board(records_most=3).with_tools()
    ref, turn = _told(board, importance=0, **more)
    for content in ("the lamp hums", "seven blue boats", "a piano in the hall"):
        board.records.store(content, ["t"])
    assert [record["id"] for record in board.left()] == [ref]
    return board, ref, turn


def test_forgetting_what_left_for_want_of_room_takes_it_and_its_turns_off_the_flash():
    board, ref, turn = _crowded()
    assert board.forgetting.forget(ref, OWNER, True)[1] == [turn]
    board.compact()
    assert not board.holds(SECRET)


def test_undo_brings_back_what_left_and_was_forgotten():
    board, ref, turn = _crowded()
    board.forgetting.forget(ref, OWNER, True)
    board.undo.undo()
    assert board.records.live(ref)["content"].endswith(SECRET) and board.journal.get(turn, OWNER)
    assert not board.left()


def test_nobody_forgets_what_another_one_has_in_the_trash():
    board, ref, _ = _crowded()
    for caller in (ANN, ROOM):
        with raises(NotFound):
            board.forgetting.forget(ref, caller)
    assert len(board.left()) == 1


def _brought_back(board, ref):
    """The id that a memory in the trash has after an import."""
    left = board.left()[0]
    origin = "%08x:%s" % (board.records.entries.epoch, ref)
    values = {"content": left["content"], "tags": ["note"], "scope": "user:owner", "origin": origin, "created": 1}
    return board.records.keep((Draft("", values, [], "", 0),))[0]


def test_forgetting_what_was_brought_back_takes_the_copy_out_of_the_trash():
    board, ref, _ = _crowded()
    board.records.forget("m3")
    back = _brought_back(board, ref)
    board.forgetting.forget(back)
    assert board.left() == []
