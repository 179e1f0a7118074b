"""Server-sent events: every way to cut a stream into pieces gives the same events."""

import random

from engram.errors import BadAnswer
from engram.net.sse import Events
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
    events = Events(4096)
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


def test_lines_that_are_skipped_count_against_no_bound():
    long = b"x" * 100_000
    for line in (b": " + long, b"event: " + long, b"id:" + long, long, b"data" + long):
        for step in (1000, 4096, 200_000):
            stream = b"data: a\n" + line + b"\ndata: b\n\n"
            pieces = [stream[at : at + step] for at in range(0, len(stream), step)]
            assert _parse(pieces) == [b"a\nb"], line[:6]


def test_more_than_the_bound_of_one_event_is_refused():
    for stream in (b"data: " + b"x" * 5000, b'data: {"a":' + b"\ndata: x" * 3000, b'{"whole":"' + b"x" * 5000):
        with raises(BadAnswer):
            _parse([stream[at : at + 100] for at in range(0, len(stream), 100)])


def test_white_space_before_a_body_that_is_no_stream_counts_against_no_bound():
    events = Events(10)
    for piece in [b" \r\n" * 100] * 3 + [b'\n {"a"', b":1}"]:
        assert not list(events.feed(piece))
    assert events.whole == b'{"a":1}'
