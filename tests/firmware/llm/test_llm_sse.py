"""Server-sent events: every way to cut a stream into pieces gives the same events."""

import random

from engram.errors import ModelGarbled
from engram.llm.http.response import Events
from support import raises

_STREAM = (
    ": a comment\r\n\r\n"
    'event: message\r\ndata: {"a":"grüße 你好"}\r\n\r\n'
    "data: one\ndata:two\rdata:  three\n\r"
    "id: 7\nretry: 10\n\n"
    "data\ndata\n\n"
    "data: last\r\n\r\n\n\n"
    "data: without an end\n"
).encode()
_EVENTS = [
    '{"a":"grüße 你好"}'.encode(),
    b"one\ntwo\n three",
    b"\n",
    b"last",
]


def _parse(pieces):
    events = Events()
    return [data for piece in pieces for data in events.feed(piece)]


def _naive(stream):
    """The rules of the standard, word for word, on the whole stream."""
    lines = stream.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")[:-1]
    found = []
    data = b""
    for line in lines:
        if not line:
            if data[:-1]:
                found.append(data[:-1])
            data = b""
        elif line == b"data":
            data += b"\n"
        elif line.startswith(b"data:"):
            line = line[5:]
            data += (line[1:] if line.startswith(b" ") else line) + b"\n"
    return found


def test_events_of_a_whole_stream():
    assert _parse([_STREAM]) == _EVENTS


def test_every_split_into_two_gives_the_same():
    for at in range(len(_STREAM) + 1):
        assert _parse([_STREAM[:at], _STREAM[at:]]) == _EVENTS, at


def test_single_bytes_and_empty_pieces_give_the_same():
    pieces = []
    for at in range(len(_STREAM)):
        pieces.extend((_STREAM[at : at + 1], b""))
    assert _parse(pieces) == _EVENTS


def test_random_streams_give_what_the_standard_says():
    random.seed(11)
    words = b"\r|\n|\r\n|data|data:|data: x|datax: y|: no| |\n\n|event: e".split(b"|")
    for case in range(400):
        stream = b"".join(words[random.randrange(len(words))] for _ in range(24))
        pieces = []
        at = 0
        while at < len(stream):
            step = random.randrange(1, 12)
            pieces.append(memoryview(stream)[at : at + step])
            at += step
        found = _parse(pieces)
        # A CR at the very end may be half a CRLF, but it ends its line all the same.
        assert found == _naive(stream), (case, stream, found)


def test_an_event_of_the_longest_size_passes():
    assert _parse([b"data:" + b"x" * 16379 + b"\n\n"]) == [b"x" * 16379]


def test_a_longer_line_is_garbled():
    for pieces in ([b"data:" + b"x" * 16380 + b"\n\n"], [b"data:", b"x" * 16380], [b"x" * 128] * 128 + [b"x"]):
        with raises(ModelGarbled):
            _parse(pieces)


def test_many_lines_of_one_event_are_garbled_when_they_are_too_long_together():
    with raises(ModelGarbled):
        _parse([b"data: " + b"x" * 3200 + b"\n"] * 6)
