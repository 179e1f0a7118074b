"""The line of every log: what is written, what counts as whole, how a file of lines is read."""

import io
from binascii import crc32

from engram.errors import ArgumentError
from engram.log_line import MAX_LINE, check, decode, encode, lines
from samples import Numbers
from support import on_micropython, raises

FIELDS = [("id", "m3f"), ("seq", 12), ("text", "é 中 \n\t\x00 🙂"), ("tags", ["a", "b"]), ("importance", 0.5)]
NO_LINES = (
    b"[1", b"", b"x", b'{"a":nul', b'{"a":"\xff"', b'{"a":"\xed\xa0\x80"', b'{"a":"\xc0\x80"', b'{"a":\xc3',
)  # fmt: skip


def sealed(body: bytes) -> bytes:
    """A line with a right crc, whatever stands in it."""
    return body + b',"crc":"' + f"{crc32(body):08x}".encode() + b'"}\n'


def test_a_line_is_compact_json_with_the_crc_last():
    assert encode([("id", "x"), ("seq", 1)]) == sealed(b'{"id":"x","seq":1')
    assert encode([("id", "x"), ("seq", 1)]) == b'{"id":"x","seq":1,"crc":"25840d3a"}\n'


def test_a_line_gives_its_fields_back():
    assert decode(encode(FIELDS)) == dict(FIELDS)


def test_every_changed_bit_is_noticed():
    line = bytearray(encode(FIELDS))
    for index in range(len(line)):
        for bit in range(8):
            line[index] ^= 1 << bit
            assert not check(line), (index, bit)
            line[index] ^= 1 << bit
    assert check(line)


def test_every_part_of_a_line_is_noticed():
    line = encode(FIELDS)
    for size in range(len(line)):
        assert not check(line[:size])
        assert not check(line[size + 1 :])


def test_two_torn_lines_are_no_line():
    line = encode(FIELDS)
    for size in range(1, len(line)):
        assert not check(line[:size] + line)


def test_a_crc_inside_a_value_is_a_value():
    value = {"crc": "x", "text": ',"crc":"00000000"}\n'}
    assert decode(encode([("a", value)])) == {"a": value}


def test_the_longest_line_fits_and_no_longer_one():
    room = MAX_LINE - len(encode([("text", "")]))
    line = encode([("text", "x" * room)])
    assert len(line) == MAX_LINE
    assert check(line)
    with raises(ArgumentError):
        encode([("text", "x" * (room + 1))])


def test_a_right_crc_does_not_make_a_line():
    for body in NO_LINES:
        with raises(ValueError):
            decode(sealed(body))


def test_thousands_of_brackets_in_a_line_are_refused():
    for body in (b'{"a":' + b"[" * 15000, b'{"a":' * 3000):
        with raises(ValueError):
            decode(sealed(body))


def test_escaped_surrogates_of_a_peer_are_repaired():
    assert decode(sealed(b'{"a":"\\ud83d\\ude00 \\ud83d"')) == {"a": "😀 \ufffd"}


def collected(file, size: int, offset: int = 0) -> list:
    """What lines() gives, with copies of its views."""
    found = []
    for at, line, whole in lines(file, offset, size):
        found.append((at, line if whole is None else bytes(line), whole))
    return found


def expected_lines(data: bytes, size: int, offset: int) -> list:
    found = []
    while offset < len(data):
        end = data.find(b"\n", offset) + 1
        line = data[offset : end or len(data)]
        found.append((offset, line, end > 0))
        offset += len(line)
    return found


# MicroPython cannot subclass io.BytesIO.
class Dribble(io.BytesIO if not on_micropython() else object):  # pyright: ignore[reportGeneralTypeIssues]
    """A file that gives fewer bytes than it is asked for."""

    def __init__(self, data: bytes, seed: int):
        if not on_micropython():
            super().__init__()
        self._data = data
        self._at = 0
        self._numbers = Numbers(seed)

    def seek(self, offset, whence=0):
        self._at = offset
        return offset

    def tell(self):
        return self._at

    def readinto(self, buffer):
        count = min(len(buffer), len(self._data) - self._at, 1 + self._numbers.below(9))
        buffer[:count] = self._data[self._at : self._at + count]
        self._at += count
        return count

    def read(self, count=-1):
        self._at += count
        return self._data[self._at - count : self._at]


def test_lines_are_read_as_a_naive_reader_would():
    for seed in range(150):
        numbers = Numbers(seed)
        parts = [b"x" * numbers.below(12) + b"\n" * numbers.below(2) for _ in range(numbers.below(12))]
        data = b"".join(parts)
        size = 1 + numbers.below(30)
        offset = numbers.below(len(data) + 1)
        assert collected(Dribble(data, seed), size, offset) == expected_lines(data, size, offset), (data, size)


def test_of_a_line_beyond_the_bound_only_its_size_is_given():
    data = b"a\n" + b"x" * MAX_LINE + b"\nb\n"
    found = [(0, b"a\n", True), (2, MAX_LINE + 1, None), (MAX_LINE + 3, b"b\n", True)]
    assert collected(io.BytesIO(data), 64) == found
