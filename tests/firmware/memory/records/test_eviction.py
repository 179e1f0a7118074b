"""When memory is full, what matters least leaves: never what is pinned. The last of it stays on the flash for a while."""

from board import DAY, NOW, Board, commands_of
from engram.errors import StoreFull
from engram.memory.access import OWNER
from samples import Numbers, distinct_content
from support import raises


def _fill(board, count, first=0, **more):
    return [board.records.store(distinct_content(at), ["t"], **more).id for at in range(first, first + count)]


def _live(board):
    return {record["id"] for record in board.records.newest()}


def _left(board):
    return [record["id"] for record in board.left()]


def test_what_has_expired_leaves_first():
    board = Board(records_most=3)
    old = board.records.store(distinct_content(0), ["t"], importance=1, expires=NOW + 10).id
    _fill(board, 2, 1, importance=0)
    board.now += DAY
    board.records.store(distinct_content(5), ["t"])
    assert _left(board) == [old]


def test_where_all_is_pinned_a_new_one_is_refused_with_the_reason():
    board = Board(records_most=3)
    _fill(board, 3, pinned=True)
    with raises(StoreFull) as caught:
        _fill(board, 1, 5)
    assert "pinned" in str(caught.error)
    assert len(_live(board)) == 3


def test_all_that_left_is_kept_until_a_compaction():
    numbers = Numbers(11)
    board = Board(records_most=12)
    stored = set()
    for at in range(60):
        importance, pinned = numbers.below(101) / 100, not numbers.below(9)
        stored.add(board.records.store(distinct_content(at), ["t"], importance=importance, pinned=pinned).id)
        board.now += numbers.below(20) * DAY
        if not numbers.below(10):
            board.restart()
    assert _live(board) | set(_left(board)) == stored


def test_those_that_stay_are_the_most_important():
    numbers = Numbers(3)
    board = Board(records_most=20)
    given = {}
    newest = ""
    for at in range(50):
        importance = numbers.below(101)
        newest = board.records.store(distinct_content(at), ["t"], importance=importance / 100).id
        given[newest] = importance
    # The newest one came after the last had left.
    least = min(given[ref] for ref in _live(board) if ref != newest)
    assert all(given[ref] <= least for ref in _left(board))


def test_in_the_background_room_is_made_before_it_is_needed():
    board = Board(records_most=100)
    _fill(board, 100)
    while board.eviction.tick():
        pass
    assert board.records.entries.count() == 98
    assert not board.eviction.tick()


def test_near_the_cap_of_bytes_history_leaves_before_memories():
    board = Board(records_bytes=65536)
    refs = _fill(board, 20)
    at = 0
    while board.records.entries.bytes < 62000:
        board.records.update(refs[at % 20], {"content": distinct_content(at + 100) + " " + "padding " * 120})
        at += 1
    while board.eviction.tick():
        pass
    assert _live(board) == set(refs)
    assert board.records.entries.bytes < 40000


def test_at_the_cap_of_bytes_the_least_important_leave():
    board = Board(records_bytes=65536)
    at = 0
    while board.records.entries.bytes < 62000:
        board.remember(distinct_content(at) + " " + "padding " * 230, ["t"], importance=0.9 if at % 2 else 0.1)
        at += 1
    while board.eviction.tick():
        pass
    assert board.records.entries.bytes <= 65536 * 14 // 16
    for _ in range(2):
        assert len(_left(board)) == 2 and all(int(ref[1:]) % 2 for ref in _left(board))
        assert len(_live(board)) < at
        board.restart()


def test_the_last_that_left_outlive_compactions_and_the_others_go():
    board = Board(records_most=10, records_bytes=65536)
    for at in range(60):
        board.records.store(distinct_content(at) + " " + "padding " * 40, ["t"])
    left = _left(board)
    assert len(left) == 50
    for _ in range(2):
        board.compact()
        assert 4 < len(_left(board)) < 12
        assert _left(board) == left[: len(_left(board))]
        assert not board.holds(distinct_content(3))
        board.restart()


def test_what_leaves_during_a_compaction_is_kept():
    board = Board(records_most=3)
    _fill(board, 3)
    work = board.records.compacting()
    next(work)
    _fill(board, 2, 3)
    for _ in work:
        pass
    assert _left(board) == ["m2", "m1"]


def test_what_left_is_exported_to_whom_it_belongs_and_comes_back_by_an_import():
    board = Board(records_most=3)
    board.configure()
    board.records.store(distinct_content(0), ["t"], importance=0.1, pinned=False, scope="user:owner", keywords=["k"])
    board.records.store(distinct_content(1), ["t"], importance=0, scope="user:ann")
    _fill(board, 4, 2)
    board.folder = board.place
    commands = commands_of(board)
    lines = [line for line in commands.run(OWNER, "/export trash") if isinstance(line, str)]
    assert any(distinct_content(0) in line for line in lines) and not any(distinct_content(1) in line for line in lines)
    for ref in list(_live(board))[:2]:
        board.records.forget(ref)
    line = next(line for line in lines if distinct_content(0) in line)
    assert "stored m" in " ".join([told for told in commands.run(OWNER, "/import " + line) if isinstance(told, str)])
    back = [record for record in board.records.newest() if record["content"] == distinct_content(0)]
    assert (back[0]["importance"], back[0]["keywords"]) == (0.1, ["k"])


def test_where_nothing_can_leave_the_log_is_not_rewritten_again_and_again():
    board = Board(records_bytes=65536)
    at = 0
    while board.records.entries.bytes < 62500:
        board.remember(distinct_content(at) + " " + "padding " * 230, ["t"], pinned=True)
        at += 1
    compactions = 0
    for _ in range(20):
        before = board.records.entries.next_seq
        while board.eviction.tick():
            pass
        compactions += board.records.entries.next_seq != before
    assert compactions == 1 and "pinned" in board.eviction.why


def test_what_is_changed_does_not_leave_for_what_is_new_in_the_same_flush():
    board = Board(records_most=3)
    least = board.records.store(distinct_content(0), ["t"], importance=0).id
    _fill(board, 2, 1, importance=0.9)
    changed = board.records.draft_update(least, {"content": distinct_content(5)})
    board.records.keep((changed, board.records.draft(distinct_content(9), ["t"])))
    assert least in _live(board) and least not in _left(board) and board.records.entries.count() == 3
