"""What no person types on purpose: too long, NUL, not UTF-8. It is told or handled, and the conversation goes on."""

from collections.abc import Callable

import pytest

from driving import Home, said, say
from fake_llm import Serving

Scripted = Callable[..., Serving]

KILOBYTES_100 = 100 * 1024


def test_a_message_of_100_kilobytes_is_refused_with_its_size(home: Home):
    ended = say(home, "remember that my bike is green", "x" * KILOBYTES_100, "what do you know about my bike?")
    told = [line for line in ended.printed.splitlines() if "are taken" in line]
    assert len(told) == 1 and str(KILOBYTES_100) in told[0] and "send it in parts" in told[0]
    assert "my bike is green" in ended.printed.splitlines()[-1]
    assert ended.status == 0


def test_a_nul_in_a_line_is_left_out(home: Home):
    say(home, b"one\0two", b"\0\0\0", "hello")
    assert [turn["text"] for turn in home.turns() if turn["role"] == "user"] == ["onetwo", "hello"]


@pytest.mark.parametrize(("data", "kept"), [(b"caf\xe9 now", "caf\ufffd now"), (b"cut \xf0\x9f\x98", "cut \ufffd")])
def test_what_is_not_utf_8_is_marked_and_taken(home: Home, scripted: Scripted, data: bytes, kept: str):
    server = scripted({"reply": "Hm."})
    printed = say(home.asking(server.url), data, "hello").printed
    assert printed.count("Hm.") == 2
    assert home.turns()[0]["text"] == kept
    assert said(server.requests[0])[-1].endswith(kept)


def test_random_bytes_end_nothing(home: Home):
    noise = bytes(range(256)) * 40
    ended = say(home, noise, "remember that my bike is green")
    assert ended.status == 0 and "Remembered as" in ended.printed.splitlines()[-1]
    assert "Traceback" not in ended.printed and "starts again" not in ended.printed
