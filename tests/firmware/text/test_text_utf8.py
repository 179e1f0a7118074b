"""Bytes and text: decoding, measuring, cutting, showing."""

from engram.text import cut, cut_bytes, decode, encode, is_valid, printable, tokens
from engram.text.utf8 import is_printable_ascii, strip_end
from samples import Digest, Numbers, surrogate_between
from support import on_micropython

CHARACTERS = ("a", "é", "\u07ff", "\u0800", "中", "\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0010ffff", "🙂")
PIECES = [text.encode() for text in CHARACTERS] + [
    b"\x80", b"\xbf", b"\xc0", b"\xc1", b"\xc3", b"\xe0", b"\xe0\x9f", b"\xe2\x82", b"\xed", b"\xed\xa0", b"\xee\x80",
    b"\xf0", b"\xf0\x8f", b"\xf0\x9f\x98", b"\xf4\x90", b"\xf4\x8f\xbf", b"\xf5", b"\xf8", b"\xff", b"\x00",
]  # fmt: skip
CLUSTERS = (
    "a",
    "e\u0301",
    "中",
    "🙂",
    "👍🏽",
    "👩\u200d🚀",
    "न\u094d",
    "ที่",
)


def bad_or_good(seed: int) -> bytes:
    numbers = Numbers(seed)
    return b"".join([numbers.pick(PIECES) for _ in range(numbers.below(12))])


def test_decoding_agrees_with_cpython():
    if on_micropython():
        return
    for seed in range(5000):
        data = bad_or_good(seed)
        assert decode(data) == data.decode("utf-8", "replace"), data


def test_decoding_is_the_same_on_every_runtime():
    digest = Digest()
    for seed in range(500):
        digest.add(decode(bad_or_good(seed)))
    assert digest.hex() == "e90f1290", digest.hex()


def test_a_lone_surrogate_is_not_valid():
    assert is_valid("a\ud7ff\ue000🙂")
    assert not is_valid(surrogate_between("a", "b"))


def test_encoding_replaces_a_lone_surrogate():
    assert encode(surrogate_between("a", "b")) == b"a" + b"\xef\xbf\xbd" * 3 + b"b"


def test_tokens_are_estimated_by_script():
    for text, count in (
        ("", 0), ("a", 1), ("abcde", 2), ("x" * 400, 100), ("é", 1), ("2026", 3), ('{"a":1}', 4), ("中文", 2), ("한국어", 3),
        ("カナ", 2), ("привет", 3), ("สวัสดี", 3), ("🙂", 2), ("ab中", 2), ("𠀀", 2), ("、", 1),
    ):  # fmt: skip
        assert tokens(text) == count, text


def test_nothing_is_left_of_no_room():
    for room in (0, -1):
        assert cut("abc", room) == ""
        assert cut_bytes("abc", room) == ""


def test_a_cut_never_parts_what_is_one_character_to_a_person():
    for seed in range(60):
        numbers = Numbers(seed)
        parts = [numbers.pick(CLUSTERS) for _ in range(6)]
        text = "".join(parts)
        whole = ["".join(parts[:count]) for count in range(7)]
        for characters in range(len(text) + 1):
            assert cut(text, characters) == [part for part in whole if len(part) <= characters][-1], parts
        for size in range(len(text.encode()) + 1):
            expected = [part for part in whole if len(part.encode()) <= size][-1]
            assert cut_bytes(text, size) == expected, parts


def test_a_pile_of_marks_is_cut_all_the_same():
    assert len(cut("a" + "\u0301" * 200, 100)) == 100


def test_control_characters_are_not_printed():
    for control in ("\x00", "\x07", "\x08", "\r", "\x1b", "\x1f", "\x7f", "\x80", "\x9b", "\x9f", "\x85"):
        assert printable("a" + control + "[2J" + control) == "a\ufffd[2J\ufffd", repr(control)


def test_overrides_of_direction_are_not_printed():
    for control in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069":
        assert printable("é" + control + "x") == "é\ufffdx"
    for neighbour in "\u2029\u202f\u2065\u206a\xa0\xbf":
        assert printable("é" + neighbour + "x") == "é" + neighbour + "x"


def test_what_is_printed_can_be_encoded():
    assert printable(surrogate_between("a", "b")).encode() == b"a" + b"\xef\xbf\xbd" * 3 + b"b"


def test_only_printable_ascii_is_printable_ascii():
    assert is_printable_ascii("Bearer sk-~ !")
    for text in ("a\r", "a\n", "\x00", "\t", "\x7f", "é", "\U0001f600"):
        assert not is_printable_ascii(text), repr(text)


def test_signs_are_taken_off_the_end_as_a_whole():
    signs = (" ", "!", "。", "！")
    for text, bare in (
        ("打开", "打开"),
        ("打开。！ !", "打开"),
        ("！。", ""),
        ("", ""),
        ("（ok", "（ok"),
        ("ok（", "ok（"),
    ):
        assert strip_end(text, signs) == bare, text
