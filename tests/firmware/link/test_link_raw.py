"""A log's raw lines: spans and their bytes are what stands on flash, whatever happens to the log meanwhile."""

from board import Board
from engram import log_line
from engram.compat import finish
from engram.errors import StoreError
from engram.memory.access import OWNER
from engram.store.log.seq_seek import lines_backwards
from fake_companion import digest, lines_behind
from samples import Numbers
from support import raises, rounds


def _talk(board, count, numbers=None):
    numbers = numbers or Numbers(count)
    for number in range(count):
        board.journal.add(OWNER, "user", "owner", "turn %d " % number + "x" * numbers.below(900))


def _read(raw, span):
    return b"".join(bytes(piece) for piece in raw.pieces(span))


def _all(raw, most=4096):
    """The lines of a log as spans in a row give them."""
    found = []
    have = 0
    while have < raw.store.next_seq - 1:
        span = raw.span(have, raw.store.next_seq - 1, most)
        data = _read(raw, span)
        lines = lines_behind(data)
        assert (len(data), len(lines), digest(lines)) == (span.size, span.count, span.check)
        assert not lines or bytes(lines[-1][-11:-3]).decode() == span.crc
        assert span.after == have < span.to and (span.count < 2 or span.size <= most)
        found += lines
        have = span.to
    return found


def _on_flash(store):
    """The seqs of all lines of a log."""
    return [line["seq"] for line in reversed(list(lines_backwards(store.log)))]


def _seqs(lines):
    return [log_line.decode(line)["seq"] for line in lines]


def test_the_count_of_compactions_survives_a_restart_and_is_another_when_the_header_is_lost():
    board = Board()
    board.records.store("the bike is green", ["a"])
    finish(board.records.compacting())
    board.open()
    assert board.records_store.raw().store.log.rewrites == 1
    board.close()
    path = board.place + "/memory/memory_records.jsonl"
    with open(path, "rb") as file:
        content = file.read()
    with open(path, "wb") as file:
        file.write(b"damaged" + content)
    board.open()
    assert board.records_store.raw().store.log.rewrites != 1


def test_a_segment_that_is_sealed_while_it_is_sent_is_sent_to_its_end():
    board = Board()
    _talk(board, 10)
    raw = board.journal.entries.raw()
    span = raw.span(0, 11, 4096)
    expected = _read(raw, span)
    pieces = raw.pieces(span)
    sent = bytes(next(pieces))
    segment = raw.store.log.live
    _talk(board, 60)
    assert raw.store.log.live > segment
    assert sent + b"".join(bytes(piece) for piece in pieces) == expected


def test_lines_that_a_compaction_moves_while_they_are_sent_end_with_an_error():
    board = Board()
    _talk(board, 60)
    raw = board.journal.entries.raw()
    board.journal.redact("t5", OWNER)
    pieces = raw.pieces(raw.span(0, 40, 4096))
    next(pieces)
    finish(board.journal.compacting())
    with raises(StoreError):
        for _ in pieces:
            pass


def test_random_logs_are_read_as_they_are():
    numbers = Numbers(5)
    for _ in range(rounds(4, 2)):
        board = Board()
        for number in range(40 + numbers.below(60)):
            if numbers.below(12) == 0 and board.journal.turn(board.journal.newest):
                board.journal.redact("t%d" % board.journal.newest, OWNER)
            elif numbers.below(30) == 0:
                finish(board.journal.compacting())
            elif numbers.below(30) == 0:
                board.journal_store.drop_oldest()
            else:
                board.journal.add(OWNER, "user", "owner", "turn %d " % number + "é" * numbers.below(700))
        most = numbers.pick((1, 600, 4096))
        assert _seqs(_all(board.journal.entries.raw(), most)) == _on_flash(board.journal_store)
