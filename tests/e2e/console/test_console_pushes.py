"""What the board begins to say on the console: to a person who may be typing, and to a program."""

import json
import time
from binascii import crc32

from driving import TERMINAL, Home, talking

SOON = 4
"""Seconds from the start of the board until a timer is due."""

LATER = 8
"""Seconds until the next one is due, where one has to come after something that is done to the board."""


def _line(fields: dict) -> bytes:
    head = json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()[:-1]
    return head + b',"crc":"%08x"}\n' % crc32(head)


def _having(home: Home, *timers: dict) -> Home:
    """A board with timers that are due soon, or as they say."""
    now = int(time.time())
    ends = _line({"format": 1, "next": 9})
    lines = b""
    for number, fields in enumerate(timers):
        head = {"id": f"w{number + 1}", "kind": "say", "what": "drink", "who": "owner", "room": "console"}
        lines += _line({**head, "due": now + SOON, "created": now - 90000, **fields})
    home.write("memory/timers.jsonl", ends + lines + ends)
    return home


def _one_after_another() -> list[dict]:
    """Timers of one kind: on a machine that is busy the first ones may come before the board is ready for the test."""
    now = int(time.time())
    return [{"due": now + SOON + number * LATER} for number in range(4)]


def test_what_somebody_types_meanwhile_stands_behind_the_prompt_again(home: Home):
    with talking(_having(home, *_one_after_another()), on=TERMINAL) as talk:
        talk.heard("\n> ")
        talk.type("I sa")
        talk.heard("I sa")
        talk.heard("· reminder: drink (w")
        talk.heard("\n> I sa")
        talk.type("w a fox\r")
        talk.heard("I am offline")
    assert "I saw a fox" in [turn["text"] for turn in home.turns()]
