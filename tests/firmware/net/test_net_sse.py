"""Server-sent events: every way to cut a stream into pieces gives the same events."""

import random

from engram.errors import BadAnswer
from engram.net.response import Events
from support import raises

_STREAM = (
    ": a comment\r\n\r\n"
    'event: message\r\ndata: {"a":"grüße 你好"}\r\n\r\n'
    "data: one\r\ndata:two\nid: 7\ndatax: no\n\n"
    "retry: 10\n\n"
    "data: last\r\n\r\n\n\n"
    "data: without an end\n"
).encode()
_EVENTS = ['{"a":"grüße 你好"}'.encode(), b"one\ntwo", b"last"]


def _parse(pieces):
    events = Events(4096)
    return [data for piece in pieces for data in events.feed(piece)]


def test_every_split_gives_the_same_events():
    assert _parse([_STREAM]) == _EVENTS
    assert _parse([_STREAM[at : at + 1] for at in range(len(_STREAM))]) == _EVENTS
    random.seed(11)
    for at in range(len(_STREAM)):
        later = at + random.randrange(60)
        pieces = [_STREAM[:at], memoryview(_STREAM)[at:later], b"", _STREAM[later:]]
        assert _parse(pieces) == _EVENTS, at


def test_more_than_the_bound_of_one_event_is_refused():
    for stream in (b"data: " + b"x" * 5000, b'data: {"a":' + b"\ndata: x" * 3000, b'{"whole":"' + b"x" * 5000):
        with raises(BadAnswer):
            _parse([stream[at : at + 100] for at in range(0, len(stream), 100)])


def test_white_space_before_a_body_that_is_no_stream_counts_against_no_bound():
    events = Events(400)
    for piece in [b" \r\n" * 100] * 3 + [b'\n {"a"', b":1}"]:
        assert not list(events.feed(piece))
    assert events.whole == b'{"a":1}'
