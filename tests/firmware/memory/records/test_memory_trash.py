"""The trash is bounded, survives damage and cuts, and lets go of what is forgotten."""

from engram import files
from engram.memory.records.trash import Trash
from support import folder


def _record(number, content="something", scope="all"):
    return [("id", "m%d" % number), ("content", content), ("scope", scope), ("left", 7)]


def _ids(trash):
    return [record["id"] for record in trash.records()]


def test_what_was_added_is_there_in_order():
    trash = Trash(folder())
    trash.add([_record(1), _record(2)])
    trash.add([_record(3, "字 🎉 \n\x01")])
    assert _ids(trash) == ["m1", "m2", "m3"]
    assert list(trash.records())[2]["content"] == "字 🎉 \n\x01"


def test_it_is_there_after_a_restart():
    place = folder()
    Trash(place).add([_record(1)])
    assert _ids(Trash(place)) == ["m1"]


def test_it_never_has_more_bytes_than_its_limit_and_one_line():
    trash = Trash(folder(), 2000)
    for number in range(100):
        trash.add([_record(number)])
        assert trash.bytes <= 2000
    assert _ids(trash)[-1] == "m99" and trash.gone == 100 - len(_ids(trash))


def test_the_newest_half_stays_when_the_oldest_go():
    trash = Trash(folder(), 2000)
    for number in range(100):
        trash.add([_record(number)])
    assert len(_ids(trash)) >= 10
    assert _ids(trash) == ["m%d" % number for number in range(100 - len(_ids(trash)), 100)]


def test_many_at_once_stay_within_its_limit():
    trash = Trash(folder(), 2000)
    trash.add([_record(number, "x" * 200) for number in range(30)])
    assert trash.bytes <= 2000 and _ids(trash)[-1] == "m29"


def test_a_limit_of_nothing_keeps_nothing():
    trash = Trash(folder(), 0)
    trash.add([_record(1)])
    assert _ids(trash) == [] and trash.bytes == 0


def test_a_record_is_taken_out_of_both_files():
    trash = Trash(folder(), 600)
    for number in (1, 2, 1, 3, 1, 4):
        trash.add([_record(number)])
    there = _ids(trash)
    assert trash.remove(lambda record: record["id"] == "m1") == there.count("m1") >= 2
    assert _ids(trash) == [ref for ref in there if ref != "m1"]


def test_to_take_out_what_is_not_there_writes_nothing():
    trash = Trash(folder())
    assert trash.remove(lambda record: True) == 0
    assert trash.bytes == 0


def test_a_line_that_was_cut_costs_no_other():
    place = folder()
    trash = Trash(place)
    trash.add([_record(1), _record(2)])
    whole = files.read(place + "/trash.jsonl", 10000)
    assert whole
    for length in range(len(whole)):
        files.write(place + "/trash.jsonl", whole[:length])
        trash.add([_record(3)])
        assert _ids(trash) == _whole_ids(whole, length) + ["m3"]


def test_a_byte_that_was_damaged_costs_its_own_line_only():
    place = folder()
    trash = Trash(place)
    trash.add([_record(1), _record(2), _record(3)])
    whole = files.read(place + "/trash.jsonl", 10000)
    assert whole
    for at in range(0, len(whole), 5):
        damaged = bytearray(whole)
        damaged[at] ^= 0x11
        files.write(place + "/trash.jsonl", damaged)
        assert len(_ids(trash)) >= 1


def _whole_ids(data, length):
    """The ids of the lines of which so many bytes have all but at most the newline."""
    first = data.index(b"\n")
    return [ref for ref, end in (("m1", first), ("m2", len(data) - 1)) if end <= length]
