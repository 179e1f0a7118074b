"""A log's raw lines: spans and their bytes are what stands on flash, whatever happens to the log meanwhile."""

from binascii import crc32

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


def test_spans_in_a_row_are_the_log():
    board = Board()
    _talk(board, 150)
    assert board.journal_store.log.sealed
    assert _seqs(_all(board.journal.entries.raw())) == _on_flash(board.journal_store)


def test_a_line_that_is_longer_than_a_message_comes_alone():
    board = Board()
    board.journal.add(OWNER, "user", "owner", "short")
    board.journal.add(OWNER, "user", "owner", "y" * 9000)
    board.journal.add(OWNER, "user", "owner", "short too")
    raw = board.journal.entries.raw()
    assert _seqs(_all(raw)) == [1, 2, 3, 4, 5]
    assert raw.span(3, 5, 4096).count == 1


def test_a_span_ends_where_it_should():
    board = Board()
    _talk(board, 20)
    raw = board.journal.entries.raw()
    span = raw.span(4, 9, 100000)
    assert (span.to, span.count) == (9, 5)
    assert _seqs(lines_behind(_read(raw, span))) == [5, 6, 7, 8, 9]


def test_the_crc_of_a_line_is_the_one_that_it_ends_with():
    board = Board()
    _talk(board, 5)
    raw = board.journal.entries.raw()
    data = _read(raw, raw.span(2, 3, 4096))
    assert raw.crc(3) == "%08x" % crc32(data[: data.rfind(b',"crc"')])
    assert raw.crc(0) == raw.crc(99) == ""


def test_what_compaction_took_out_is_a_gap_that_spans_cover():
    board = Board()
    kept = [board.records.store("the number %d is kept" % number, ["a"]).id for number in range(30)]
    for ref in kept[5:25]:
        board.records.forget(ref)
    before = board.records_store.log.rewrites
    finish(board.records.compacting())
    raw = board.records_store.raw()
    assert raw.store.log.rewrites == before + 1
    assert _seqs(_all(raw)) == _on_flash(board.records_store)
    gap = raw.span(5, 20, 4096)
    assert (gap.to, gap.count, gap.size, gap.crc) == (20, 0, 0, "")


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


def test_a_cut_in_a_compaction_is_known_from_the_count():
    board = Board()
    for number in range(40):
        board.records.store("the number %d is kept for long " % number + "z" * 600, ["a"])
    work = board.records.compacting()
    while not board.records_store.is_compacting:
        next(work)
    for _ in range(2):
        next(work)
    board.close()
    board.open()
    assert board.records_store.raw().store.log.rewrites == 1


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


def test_a_segment_that_leaves_while_it_is_sent_ends_with_an_error():
    board = Board()
    _talk(board, 120)
    raw = board.journal.entries.raw()
    pieces = raw.pieces(raw.span(0, 20, 4096))
    next(pieces)
    assert board.journal_store.drop_oldest()
    with raises(StoreError):
        for _ in pieces:
            pass


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


def test_damage_is_set_aside_and_the_lines_around_it_are_sent():
    board = Board()
    _talk(board, 60)
    board.close()
    path = board.place + "/journal/journal.0001.jsonl"
    with open(path, "rb") as file:
        content = bytearray(file.read())
    at = content.find(b"turn 10 ")
    content[at : at + 4] = b"burn"
    with open(path, "wb") as file:
        file.write(content)
    board.open()
    found = _seqs(_all(board.journal.entries.raw()))
    assert found == [seq for seq in range(1, 63) if seq != 13], found
    assert board.journal.entries.damaged == 1 or board.journal_store.log.read(13) is None


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
