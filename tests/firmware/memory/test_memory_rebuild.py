"""An index that was lost comes back by itself, and until then nothing wrong is shown and nothing is hidden silently."""

from board import Board
from engram.memory.access import OWNER

COUNT = 60


def _filled():
    """A board of 60 records, of which some changed or were forgotten, whose index was lost."""
    board = Board(segment_bytes=3000)
    for number in range(COUNT):
        board.remember("Ann owns apple %d" % number, ["fruit"])
    live = [record["id"] for record in board.records.newest()]
    for ref in live[::7]:
        board.records.forget(ref)
    for ref in live[1::7]:
        board.records.update(ref, {"content": "pear now " + ref})
    board.lose_indexes()
    return board, set(live[::7]), set(live[1::7]), set(live)


def _found(board, word):
    return {record["id"] for _, record in board.search(word, 100)}


def test_until_it_is_back_a_search_says_that_it_may_lack_something():
    board = _filled()[0]
    assert "not in it yet" in board.recall.partial and "not in it yet" in board.recall.why_empty("zebra", OWNER)
    while board.records.entries.tick():
        pass
    assert board.recall.partial == ""


def test_during_a_rebuild_nothing_is_found_that_was_forgotten_or_replaced():
    board, forgotten, changed, _ = _filled()
    going = True
    while going:
        going = board.records.entries.tick()
        assert not _found(board, "apple") & (forgotten | changed)


def test_during_a_rebuild_a_list_is_complete():
    board, forgotten, _, all_of_them = _filled()
    going = True
    while going:
        assert {record["id"] for record in board.records.newest()} == all_of_them - forgotten
        for _ in range(10):
            going = board.records.entries.tick()


def test_during_a_rebuild_a_session_goes_on_with_its_turns():
    board = Board(segment_bytes=3000)
    seqs = [board.journal.add(OWNER, "user", "owner", "turn %d" % number) for number in range(60)]
    board.lose_indexes()
    assert board.journal.entries.partial
    assert board.journal.window(board.journal.current(OWNER), 200) == seqs


def test_a_list_goes_on_while_what_it_lists_changes():
    board = Board(segment_bytes=2000)
    refs = [board.records.store("Ann owns apple %d" % number, ["fruit"]).id for number in range(40)]
    seen = []
    for record in board.records.newest():
        seen.append(record["id"])
        board.records.store("Ann owns pear %d" % len(seen), ["fruit"])
    assert seen == refs[::-1]


def test_a_long_segment_without_its_index_is_opened_at_once_and_indexed_later():
    board = Board(segment_bytes=65536)
    for number in range(400):
        board.journal.add(OWNER, "user", "owner", "Ann owns apple %d" % number)
    board.lose_indexes()
    assert board.journal.entries.partial and next(board.journal.sessions(OWNER)).turns == 400
    while board.journal.entries.tick():
        pass
    assert not board.journal.entries.partial and board.journal.entries.count() == 400
