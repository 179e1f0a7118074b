"""Sessions: threads of turns that are begun, switched, listed and deleted, and outlive the oldest segments."""

import os

from board import ANN, DAY, ROOM, Board
from engram.compat import finish
from engram.errors import NotFound
from engram.memory.access import OWNER, Caller
from engram.memory.journal import schema
from support import change, raises


def _say(board, content, caller=OWNER):
    board.now += 1
    return board.journal.add(caller, "user", caller.principal, content)


def _window(board, sid, most=200):
    turns = [board.journal.turn(seq) for seq in board.journal.window(sid, most)]
    return [turn["text"] for turn in turns if turn]


def _board_with(sessions):
    change(schema, SESSIONS=sessions)
    return Board()


def _listed(board, caller=OWNER):
    return [session.id for session in board.journal.sessions(caller)]


def test_a_session_that_somebody_switched_to_goes_on_however_old_it_is():
    board = Board()
    _say(board, "one")
    first = board.journal.current(OWNER)
    board.journal.begin(OWNER)
    _say(board, "two")
    board.now += 2 * DAY
    assert board.journal.switch(OWNER, first).turns == 1
    board.restart()
    _say(board, "three")
    assert _window(board, first) == ["one", "three"]


def test_only_what_a_person_says_keeps_a_session_from_ending_and_begins_the_next():
    board = Board()
    _say(board, "one")
    first = board.journal.current(OWNER)
    for is_timer in (True, False):
        board.now += DAY
        board.journal.add(OWNER, "user", "owner", "a timer", command=is_timer, sensed=not is_timer)
        board.journal.add(OWNER, "assistant", "engram", "take your pills", to="console")
        assert board.journal.current(OWNER) == first
    _say(board, "two")
    assert board.journal.current(OWNER) != first


def test_a_deleted_session_leaves_list_history_and_search():
    board = Board()
    seq = _say(board, "green bike")
    sid = board.journal.current(OWNER)
    assert board.journal.delete(OWNER, sid).turns == 1
    for step in (board.restart, board.compact, board.restart):
        assert _listed(board) == [] and _window(board, sid) == []
        assert board.journal.turn(seq) is None
        assert list(board.search_turns("bike", 5, OWNER)) == []
        step()


def test_another_caller_can_neither_list_nor_enter_nor_delete_a_private_session():
    board = Board()
    _say(board, "mine", ANN)
    sid = board.journal.current(ANN)
    assert _listed(board) == [] and _listed(board, ROOM) == []
    for attempt in (board.journal.switch, board.journal.delete):
        with raises(NotFound):
            attempt(OWNER, sid)


def test_a_room_that_becomes_a_group_does_not_go_on_in_the_private_session():
    board = Board()
    _say(board, "mine", ANN)
    group = Caller("ann", ANN.room, True, "")
    assert board.journal.current(group) == ""
    _say(board, "ours", group)
    assert _window(board, board.journal.current(group)) == ["ours"]


# --- limits


def test_over_the_limit_the_session_used_last_longest_ago_leaves_the_list():
    board = _board_with(3)
    refs = []
    for number in range(3):
        refs.append(board.journal.begin(OWNER))
        _say(board, f"thing {number}")
    board.journal.switch(OWNER, refs[0])
    _say(board, "thing again")
    refs.append(board.journal.begin(OWNER))
    for _ in range(2):
        assert _listed(board) == [refs[3], refs[0], refs[2]]
        board.restart()


def test_over_the_limit_sessions_without_a_title_leave_the_list_first():
    board = _board_with(3)
    named = board.journal.begin(OWNER, "House project")
    for _ in range(4):
        board.now += 1
        board.journal.begin(OWNER)
    assert named in _listed(board)


def test_more_rooms_than_are_kept_lose_the_ones_not_used_for_longest():
    board = _board_with(64)
    rooms = [Caller("ann", f"chat#{number}", False, "") for number in range(70)]
    sid = ""
    for room in rooms:
        _say(board, "hello", room) if not sid else board.journal.switch(room, sid)
        sid = sid or board.journal.current(room)
    _say(board, "again", rooms[-1])
    assert board.journal.current(rooms[-1]) == sid
    assert len([room for room in rooms if board.journal.current(room)]) == 64


# --- the oldest segments leave


def _long_lived():
    """A board whose journal lost its oldest segments; the session's id."""
    board = Board(segment_bytes=1500, journal_bytes=6000)
    first = board.journal.begin(OWNER, "the trip")
    _say(board, "oldest words")
    second = board.journal.begin(ANN, "hers")
    for number in range(60):
        _say(board, f"thing {number}", ANN)
    return board, first, second


def test_a_deleted_session_does_not_come_back_from_an_older_segments_header():
    board, first, second = _long_lived()
    for number in range(20):
        _say(board, f"hers {number}", ANN)
        _say(board, f"mine {number}")
    board.journal.delete(ANN, second)
    for _ in range(3):
        assert _listed(board) == [first] and _listed(board, ANN) == []
        board.compact()
        board.restart()


def test_sessions_are_there_after_a_cut_between_the_two_renames_of_a_seal():
    board = Board(segment_bytes=2000)
    for number in range(30):
        _say(board, "turn %d" % number)
    board.journal.begin(OWNER, "garden")
    _say(board, "green beans")
    listed, current = _listed(board), board.journal.current(OWNER)
    finish(board.journal_store.upkeep.sealing_segment())
    board.close()
    path = board.place + "/journal/journal.jsonl"
    os.rename(path, path + ".next")
    for _ in range(2):
        board.open()
        assert (_listed(board), board.journal.current(OWNER)) == (listed, current)
        assert _window(board, current) == ["green beans"]
        board.close()
