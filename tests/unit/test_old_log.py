"""The append-only log: what was acknowledged is read again, damage is set aside, a full flash refuses."""

import random

from engram import files
from engram.store.old.log import Log
from support import folder


class Seen:
    """What a log visited."""

    def __init__(self):
        self.lines = []
        self.headers = []
        self.places = []

    def __call__(self, segment, offset, size, line):
        if "seq" in line:
            self.lines.append(line)
            self.places.append((segment, offset, size))
        else:
            self.headers.append(line)


def _open(place, segment_bytes=600, header=None):
    log = Log(place, "log", header, segment_bytes)
    seen = Seen()
    log.open(seen)
    return log, seen


def _filled(place, count, segment_bytes=600):
    log, _ = _open(place, segment_bytes)
    for number in range(count):
        log.append([("text", "line %d" % number)])
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


def test_an_empty_log_has_an_epoch_and_no_lines():
    log, seen = _open(folder())
    assert log.epoch and not seen.lines


def test_what_was_appended_is_read_after_opening_again():
    place = folder()
    _filled(place, 40)
    log, seen = _open(place)
    assert _texts(seen) == _all(40)
    assert len(log.sealed) > 1


def test_seqs_count_up_across_segments_and_restarts():
    place = folder()
    _filled(place, 30)
    log, _ = _open(place)
    log.append([("text", "x")])
    log.close()
    _, seen = _open(place)
    assert [line["seq"] for line in seen.lines] == list(range(1, 32))


def test_the_epoch_survives_a_restart():
    place = folder()
    epoch = _filled(place, 3).epoch
    assert _open(place)[0].epoch == epoch


def test_a_line_is_read_at_the_place_where_it_was_visited():
    place = folder()
    log, seen = _open(place)
    for number in range(30):
        log.append([("text", "line %d" % number)])
    for line, (segment, offset, size) in zip(seen.lines, seen.places):
        assert log.read(segment, offset, size) == line


def test_lines_appended_together_are_visited_in_order():
    log, seen = _open(folder())
    assert log.append([("text", "a")], [("text", "b")]) == 1
    assert _texts(seen) == ["a", "b"]


def test_a_new_segments_header_carries_what_the_owner_gives():
    place = folder()
    log, _ = _open(place, header=lambda: [("extra", [1, 2])])
    log.seal()
    log.close()
    _, seen = _open(place)
    assert seen.headers[-1]["extra"] == [1, 2]


def test_a_torn_last_line_is_set_aside_and_the_rest_read():
    place = folder()
    _filled(place, 5, 16384)
    whole = _content(_path(place))
    with open(_path(place), "wb") as file:
        file.write(whole[:-7])
    log, seen = _open(place, 16384)
    assert _texts(seen) == _all(4)
    assert log.damaged == 1
    assert b"line 4" in _content(_path(place, "log.bad"))


def test_appending_goes_on_after_a_torn_line():
    place = folder()
    _filled(place, 5, 16384)
    whole = _content(_path(place))
    with open(_path(place), "wb") as file:
        file.write(whole[:-7])
    log, _ = _open(place, 16384)
    log.append([("text", "next")])
    log.close()
    log, seen = _open(place, 16384)
    assert _texts(seen) == _all(4) + ["next"]
    assert log.damaged == 0


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


def test_damage_that_was_set_aside_is_reported_once():
    place = folder()
    _filled(place, 5, 16384)
    whole = _content(_path(place))
    with open(_path(place), "wb") as file:
        file.write(whole.replace(b"line 2", b"LINE 2"))
    assert _open(place, 16384)[0].damaged == 1
    assert _open(place, 16384)[0].damaged == 0


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
    assert log.append([("text", "next")]) > max(line["seq"] for line in seen.lines[:-1])


def test_compaction_drops_and_replaces_lines():
    place = folder()
    _filled(place, 30)
    log, seen = _open(place)

    def decide(line):
        if "seq" not in line:
            return True
        if line["seq"] % 3 == 0:
            return False
        if line["seq"] % 3 == 1:
            return True
        return [("seq", line["seq"]), ("text", "gone")]

    assert log.compact(decide) > 0
    log.close()
    _, seen = _open(place)
    assert [line["seq"] for line in seen.lines] == [n for n in range(1, 31) if n % 3]
    assert {line["text"] for line in seen.lines if line["seq"] % 3 == 2} == {"gone"}


def test_seqs_are_not_used_again_after_all_was_compacted_away():
    place = folder()
    _filled(place, 30)
    log, _ = _open(place)
    log.compact(lambda line: "seq" not in line)
    log.close()
    log, _ = _open(place)
    assert log.append([("text", "x")]) == 31


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


def test_a_log_without_sealed_segments_has_none_to_drop():
    log, _ = _open(folder())
    assert not log.drop_oldest()
