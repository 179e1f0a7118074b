"""The append-only log: what was acknowledged is read again, damage is set aside, a full flash refuses."""

import os
import random

from engram import files
from engram.store.log.compaction import compact
from engram.store.log.segments import Log
from engram.store.log.seq_seek import lines_backwards
from support import folder


class Opened:
    """A log with what was read of it."""

    def __init__(self, place, segment_bytes):
        self.log = Log(place, "log", segment_bytes=segment_bytes)
        self.log.open()
        self.places = []
        for number in [segment[0] for segment in self.log.sealed] + [self.log.live]:
            self.places += list(self.log.scan(number, 0))
        self.lines = [place[3] for place in self.places]


def _open(place, segment_bytes=600):
    opened = Opened(place, segment_bytes)
    return opened.log, opened


def _append(log, *lines):
    if not log.has_room:
        log.seal({"extra": [1, 2]})
    return log.append(lines)


def _filled(place, count, segment_bytes=600):
    log, _ = _open(place, segment_bytes)
    for number in range(count):
        _append(log, [("text", "line %d" % number)])
    log.close()
    return log


def _texts(seen):
    return [line["text"] for line in seen.lines]


def _all(count):
    return ["line %d" % number for number in range(count)]


def _path(place, name="log.jsonl"):
    return place + "/" + name


def _content(path):
    with open(path, "rb") as file:
        return file.read()


def test_a_line_is_found_by_its_seq_among_lines_of_uneven_length():
    random.seed(6)
    place = folder()
    log, _ = _open(place, 16384)
    lengths = [random.choice((3, 40, 700)) for _ in range(80)]
    for length in lengths:
        _append(log, [("text", "x" * length)])
    for seq in range(1, 81):
        assert len(log.read(seq)["text"]) == lengths[seq - 1]


def test_a_wrong_hint_does_not_lead_to_another_line():
    place = folder()
    _filled(place, 40, 16384)
    log, opened = _open(place, 16384)
    for offset in (0, 1, 77, opened.places[3][1], 100000):
        assert log.read(9, offset)["seq"] == 9


def test_a_line_that_stands_behind_where_its_segment_should_end_is_read():
    place = folder()
    log = _filled(place, 40)
    assert _texts(_open(place)[1]) == _all(40) and len(log.sealed) > 2
    first, last = log.sealed[1][1], log.sealed[2][1] - 1
    path = log.sealed_path(log.sealed[1][0])
    content = _content(path)
    with open(path, "wb") as file:
        file.write(content[: content.find(b"\n") + 1] * 20 + content)
    log = Log(place, "log", segment_bytes=600)
    log.open()
    assert log.read(last)["seq"] == last and log.read(first)["seq"] == first


def test_long_lines_are_read_backwards_too():
    place = folder()
    log, _ = _open(place, 16384)
    for length in (10, 5000, 3, 9000, 7):
        _append(log, [("text", "x" * length)])
    assert [len(line["text"]) for line in lines_backwards(log)] == [7, 9000, 3, 5000, 10]


def test_a_cut_seal_is_completed():
    place = folder()
    _filled(place, 5, 16384)
    os.rename(_path(place), _path(place, "log.0001.jsonl"))
    log, opened = _open(place, 16384)
    assert _texts(opened) == _all(5)
    assert _append(log, [("text", "next")])[0][3]["seq"] == 6


def test_a_torn_last_line_is_set_aside_and_appending_goes_on():
    place = folder()
    _filled(place, 5, 16384)
    whole = _content(_path(place))
    with open(_path(place), "wb") as file:
        file.write(whole[:-7])
    log, _ = _open(place, 16384)
    assert b"line 4" in _content(_path(place, "log.bad"))
    _append(log, [("text", "next")])
    log.close()
    assert _texts(_open(place, 16384)[1]) == _all(4) + ["next"]


def test_two_lines_whose_line_end_was_lost_are_both_saved():
    place = folder()
    _filled(place, 3, 16384)
    content = _content(_path(place))
    joint = content.find(b'\n{"seq":2')
    with open(_path(place), "wb") as file:
        file.write(content[:joint] + content[joint + 1 :])
    _, seen = _open(place, 16384)
    assert _texts(seen) == _all(3)


def test_any_single_damaged_byte_costs_at_most_two_lines():
    random.seed(2)
    place = folder()
    _filled(place, 12, 400)
    names = ["log.jsonl", "log.0001.jsonl"]
    for _ in range(25):
        name = random.choice(names)
        whole = _content(_path(place, name))
        at = random.randrange(len(whole))
        with open(_path(place, name), "wb") as file:
            file.write(whole[:at] + bytes([whole[at] ^ 1 << random.randrange(8)]) + whole[at + 1 :])
        log, seen = _open(place, 400)
        log.close()
        texts = _texts(seen)
        assert len(texts) >= 10 and set(texts) <= set(_all(12))
        with open(_path(place, name), "wb") as file:
            file.write(whole)


def test_a_foreign_file_in_place_of_a_segment_does_not_end_the_log():
    place = folder()
    _filled(place, 30)
    with open(_path(place, "log.0001.jsonl"), "wb") as file:
        file.write(b"\x00\xffnonsense\n{}\n[1]\n" * 20)
    _, seen = _open(place)
    assert _texts(seen)[-1] == "line 29"


def test_a_missing_live_segment_comes_back():
    place = folder()
    log = _filled(place, 30)
    files.remove(_path(place))
    log, seen = _open(place)
    assert _append(log, [("text", "next")])[0][3]["seq"] > max(line["seq"] for line in seen.lines)


def test_seqs_are_not_used_again_after_all_was_compacted_away():
    place = folder()
    _filled(place, 30)
    log, _ = _open(place)
    log.seal(None)
    for _ in compact(log, lambda line: False):
        pass
    log.close()
    log, _ = _open(place)
    assert _append(log, [("text", "x")])[0][3]["seq"] == 31


def test_the_oldest_segment_leaves_first():
    place = folder()
    _filled(place, 30)
    log, _ = _open(place)
    before = log.bytes
    assert log.drop_oldest()
    assert log.bytes < before
    log.close()
    _, seen = _open(place)
    assert seen.lines[0]["seq"] > 1 and seen.lines[-1]["seq"] == 30
