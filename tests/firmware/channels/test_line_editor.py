"""Lines out of bytes: keys and echo for a person who types, plain line ends for a pipe."""

import random

from engram.channels.console.line_editor import LineEditor
from support import on_micropython

WORDS = ("hello", "привет", "自行车", "🎉", "e\u0301", " ", "\t")


class Screen:
    """What a terminal shows of an echo, columns counted as one for each code of the echo."""

    def __init__(self):
        self.pieces = []

    def write(self, text):
        self.pieces.append(text)

    @property
    def text(self):
        return "".join(self.pieces)


def _typed(data, limit=100):
    """(lines, echo, editor) of bytes that a person typed."""
    screen = Screen()
    editor = LineEditor(limit, screen.write)
    return list(editor.feed(data.encode() if isinstance(data, str) else data)), screen.text, editor


def _piped(chunks, limit=100):
    editor = LineEditor(limit)
    lines = []
    for chunk in chunks:
        lines += list(editor.feed(chunk))
    rest = editor.rest()
    return lines + ([] if rest is None else [rest])


# --- a pipe


def test_any_bytes_give_the_lines_of_a_naive_split():
    random.seed(8)
    for _ in range(60):
        data = bytes([random.choice((10, 13, 65, 228, 189, 160, 0, 8, 27)) for _ in range(random.randrange(120))])
        expected = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        if not expected[-1]:
            expected.pop()
        at, chunks = 0, []
        while at < len(data):
            size = random.randrange(1, 20)
            chunks.append(data[at : at + size])
            at += size
        assert _piped(chunks, 1000) == expected, data


# --- a person


def test_backspace_takes_a_whole_character():
    for key in ("\x08", "\x7f"):
        assert _typed("ab" + key + "c\r")[0] == [b"ac"]
        assert _typed("a自" + key + "c\r")[0] == [b"ac"]
        assert _typed("a🎉" + key + "c\r")[0] == [b"ac"]


def test_backspace_wipes_as_many_columns_as_the_character_took():
    assert _typed("a\x08")[1] == "a\b \b"
    assert _typed("自\x08")[1] == "自\b\b  \b\b"
    assert _typed("ж\x08")[1] == "ж\b \b"


def test_ctrl_u_takes_the_line():
    assert _typed("hello 自行车\x15next\r")[0] == [b"next"]


def test_ctrl_d_ends_the_input_only_on_an_empty_line():
    assert _typed("\x04")[2].ended
    lines, _, editor = _typed("a\x04b\r")
    assert lines == [b"ab"] and not editor.ended


def test_escape_sequences_are_left_out():
    assert _typed("a\x1b[A\x1b[1;5Cb\x1bOPc\r")[0] == [b"abc"]


def test_an_escape_key_swallows_no_line_end():
    assert _typed("one\x1b\rtwo\x1b[\r")[0] == [b"one", b"two"]


def test_a_line_that_is_too_long_can_be_wiped():
    lines = _typed("x" * 150 + "\x15" + "next\r")[0]
    assert lines == [b"next"]


def test_any_keys_never_raise_and_the_echo_is_text():
    random.seed(9)
    keys = (b"\x08", b"\x7f", b"\x15", b"\x1b", b"[", b"O", b"A", b"\r", b"\n", b"\x04", b"\xff", b"\xe8")
    for _ in range(150):
        data = b""
        for _ in range(random.randrange(40)):
            choice = random.random()
            if choice < 0.4:
                data += random.choice(WORDS).encode()
            elif choice < 0.7:
                data += random.choice(keys)
            else:
                data += bytes([random.randrange(256)])
        lines, echo, _ = _typed(data, 60)
        for line in lines:
            assert isinstance(line, int) or len(line) <= 60
        assert isinstance(echo, str)


def test_what_is_no_text_costs_no_time_that_grows_with_its_length():
    count = 3000 if on_micropython() else 12000
    assert _typed(b"\x80" * count + b"\r", 12000)[0] == [b"\x80" * count]
