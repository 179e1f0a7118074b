"""What is unusual in a log or in a label does no harm: names that share a hash, lines of another form, very long names."""

from board import Board
from engram import log_line
from engram.compat import finish
from engram.memory.access import OWNER, Caller
from engram.store.index.codec import term_hash

ANN = Caller("ann", "chat#1", False, "")
TWIN = Caller("aqfcz", "chat#2", False, "")


def _append(board, path, fields):
    with open(board.place + path, "ab") as file:
        file.write(log_line.encode(fields))


def test_the_two_names_share_a_hash():
    assert term_hash("@user:ann") == term_hash("@user:aqfcz")


def test_nobody_sees_what_belongs_to_a_name_with_the_same_hash():
    board = Board()
    ref = board.records.store("the code of the safe is green", ["safe"], ANN, scope="user:ann").id
    board.journal.add(ANN, "user", "ann", "the safe is behind the picture")
    assert [record["id"] for record in board.records.newest(ANN)] == [ref]
    assert list(board.records.newest(TWIN)) == [] and list(board.search("safe green", 5, TWIN)) == []
    assert list(board.search_turns("safe picture", 5, TWIN)) == []


def test_nobody_learns_the_tags_or_counts_of_a_name_with_the_same_hash():
    board = Board()
    for number in range(60):
        board.records.store("the code %d of the safe" % number, ["secret-tag"], ANN)
    board.records.store("tea is ready", ["tea"], TWIN)
    for _ in range(2):
        assert list(board.records.tags(TWIN)) == [("tea", 1)]
        assert (board.records.count(TWIN), board.records.count(TWIN, ["secret-tag"])) == (1, 0)
        board.compact()


def test_whole_lines_of_another_form_are_passed_over():
    board = Board()
    board.journal.add(OWNER, "user", "owner", "the first")
    seq = board.journal_store.next_seq
    board.close()
    odd = ((("sid", 7),), (("sid", "s1"), ("at", "now")), (("op", ["x"]),), (("op", "session"), ("sid", "s1")), ())
    for at, fields in enumerate(odd):
        _append(board, "/journal/journal.jsonl", (("seq", seq + at),) + fields)
    board.open()
    last = board.journal.add(OWNER, "user", "owner", "the last")
    board.restart()
    assert next(hit.number for hit, _ in board.search_turns("last", 5, OWNER)) == last


def test_compaction_ends_during_a_rebuild_of_the_index():
    board = Board(segment_bytes=3000)
    for number in range(60):
        board.records.store("Ann owns apple %d" % number, ["fruit"])
    board.records.forget("m1")
    board.lose_indexes()
    assert board.records.entries.partial
    finish(board.records.compacting())
    assert board.records.count() == 59 and not board.records.entries.partial


def test_a_damaged_line_that_compaction_meets_costs_no_other_line():
    board = Board(segment_bytes=3000)
    refs = [board.records.store("Ann owns apple %d" % number, ["fruit"]).id for number in range(40)]
    board.records.update(refs[0], {"content": "pear"})
    board.close()
    path = board.place + "/memory/memory_records.0001.jsonl"
    with open(path, "rb") as file:
        content = file.read()
    with open(path, "wb") as file:
        file.write(content.replace(b"apple number 0", b"apple numbxr 0"))
    board.open()
    finish(board.records.compacting())
    board.restart()
    found = {record["id"] for record in board.records.newest()}
    assert found >= set(refs[1:])
