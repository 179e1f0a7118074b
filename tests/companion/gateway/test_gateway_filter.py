"""The gateway's filter, which takes the API key out of JSON: of each string, of escaped ones, and of what a stream joins."""

import json
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engram_host.companion.gateway import api_key
from engram_host.companion.gateway.api_key import HELD_FROM, KeyFilter, KeyPattern
from engram_host.companion.gateway.errors import ServiceFailed
from engram_host.companion.gateway.streaming import MOST_EVENT, EventParser, ServerEvent
from one_case import in_one_case

KEY = "abcabd"


def _delta(text: str, choice: int = 0) -> dict[str, object]:
    return {"choices": [{"index": choice, "delta": {"content": text}}]}


def _passed(keys: KeyFilter, values: list[object]) -> list[str]:
    """The values as they are passed on, each written at once, as the gateway does."""
    found = [json.dumps(passed) for value in values for passed in keys.feed(value)]
    return found + [json.dumps(passed) for passed in keys.end()]


def _joined(passed: list[str], choice: int = 0) -> str:
    events = [json.loads(each)["choices"][0] for each in passed]
    return "".join(each["delta"]["content"] for each in events if each["index"] == choice)


PIECES = st.lists(
    st.one_of(st.sampled_from(["abcab", "abc", "ab", "d", "abd", "\\\\", "u0061", "\\u0061bcab"]), st.text(max_size=6)),
    max_size=30,
)


@given(PIECES)
@example(["a", "b", "c", "a", "b", "d"])
@example(["abcabc", "abd"])
def test_a_key_in_pieces_over_events_is_in_no_joined_text(pieces: list[str]):
    passed = _passed(KeyFilter(KeyPattern(KEY)), [_delta(piece) for piece in pieces])
    assert len(passed) == len(pieces)
    assert KeyPattern(KEY).spans(_joined(passed)) == []


@given(PIECES)
def test_a_text_without_the_key_is_passed_on_unchanged(pieces: list[str]):
    pattern = KeyPattern(KEY)
    text = "".join(pieces)
    if not pattern.spans(text):
        assert _joined(_passed(KeyFilter(pattern), [_delta(piece) for piece in pieces])) == text


def test_the_texts_of_two_choices_are_joined_each_for_itself():
    values: list[object] = [_delta(letter, choice) for letter in KEY for choice in (0, 1)]
    passed = _passed(KeyFilter(KeyPattern(KEY)), values)
    assert KEY not in _joined(passed, 0) and KEY not in _joined(passed, 1)


@in_one_case(
    "value",
    [
        {KEY: 1},
        [[KEY]],
        {"a": {"b": ["x" + KEY]}},
        {"arguments": json.dumps({"x": KEY}).replace("a", "\\u0061")},
        {"arguments": json.dumps(json.dumps({"x": KEY}).replace("a", "\\u0061"))},
        {"x": "\\a\\b\\cabd"},
    ],
)
def test_a_key_is_found_in_names_in_depth_and_behind_escapes(value: object):
    [passed] = _passed(KeyFilter(KeyPattern(KEY)), [value])
    assert "[key]" in passed and "bcabd" not in passed


def test_an_event_waits_only_while_enough_of_a_key_may_have_begun():
    keys = KeyFilter(KeyPattern(KEY))
    assert len(keys.feed(_delta(KEY[: HELD_FROM - 1]))) == 1
    assert keys.feed(_delta(KEY[HELD_FROM - 1])) == []
    assert len(keys.feed(_delta("no key"))) == 2


def test_what_is_held_back_is_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(api_key, "MOST_HELD", 200)
    keys = KeyFilter(KeyPattern(KEY))
    with pytest.raises(ServiceFailed):
        for _ in range(1000):
            keys.feed(_delta("\\" * 100))


def test_a_long_run_of_backslashes_takes_no_long_time():
    KeyPattern(KEY).spans("\\" * 1_000_000)
    KeyPattern(KEY).open_start("\\" * 1_000_000)


def test_only_the_end_of_a_long_text_is_looked_at_for_a_key_that_begins():
    pattern = KeyPattern("s" + KEY)
    text = "such words us " * 100_000
    assert pattern.open_start(text + "sabca") == len(text)
    began = time.process_time()
    for _ in range(100):
        pattern.open_start(text)
    assert time.process_time() - began < 1


# --- events


@given(st.lists(st.integers(1, 9), min_size=1, max_size=20))
def test_events_are_found_however_a_stream_is_cut(sizes: list[int]):
    data = b"event: one\r\ndata: {}\r\n\r\n: wait\n\nid: 7\ndata: [1,\ndata: 2]\n\ndata: last"
    parser, start, turn = EventParser(), 0, 0
    found: list[ServerEvent] = []
    while start < len(data):
        size = sizes[turn % len(sizes)]
        found += parser.feed(data[start : start + size])
        start, turn = start + size, turn + 1
    found += parser.end()
    assert found == [
        ServerEvent("one", b"{}"),
        ServerEvent("", None),
        ServerEvent("", b"[1,\n2]"),
        ServerEvent("", b"last"),
    ]


@in_one_case("piece", [b"data: " + b"x" * 1000, b"data: " + b"x" * 1000 + b"\n"])
def test_an_event_without_end_is_refused(piece: bytes):
    parser = EventParser()
    with pytest.raises(ServiceFailed, match="too long"):
        for _ in range(MOST_EVENT // 500):
            parser.feed(piece)
