"""What the board begins to say on the console: to a person who may be typing, and to a program."""

import json
import time
from binascii import crc32

from driving import PIPE, TERMINAL, Home, talking

SOON = 4
"""Seconds from the start of the board until a timer is due."""


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


def test_a_person_at_a_pipe_reads_it_as_a_notice(home: Home):
    with talking(_having(home, {}), on=PIPE) as talk:
        talk.heard("· reminder: drink (w1)\n")
        assert talk.end() == 0
    with talking(home, on=PIPE) as talk:
        talk.say("/timers")
        assert "there are none" in talk.heard("there are none")
        assert talk.end() == 0
    assert "drink" not in talk.seen.decode()
    assert [turn["to"] for turn in home.turns() if "to" in turn] == ["console"]


def test_what_was_missed_while_the_board_was_off_is_said_with_its_age(home: Home):
    with talking(_having(home, {"due": int(time.time()) - 3 * 3600}), on=PIPE) as talk:
        assert "3 h ago (w1)" in talk.heard("(w1)\n")
        assert talk.end() == 0


def test_what_somebody_types_meanwhile_stands_behind_the_prompt_again(home: Home):
    with talking(_having(home, {}), on=TERMINAL) as talk:
        talk.heard("\n> ")
        talk.type("I sa")
        talk.heard("I sa")
        talk.heard("· reminder: drink (w1)")
        talk.heard("\n> I sa")
        talk.type("w a fox\r")
        talk.heard("\n> ")
    assert "I saw a fox" in [turn["text"] for turn in home.turns()]


def test_a_program_gets_it_as_a_line_of_its_own(home: Home):
    kitchen = {"who": "ann", "room": "line kitchen", "group": True}
    with talking(_having(home, {}, kitchen), on=PIPE) as talk:
        talk.say("/json on")
        found = [json.loads(talk.heard("}\n").strip().splitlines()[-1]) for _ in range(3)]
        talk.say('{"id":1,"command":"/timers"}')
        talk.heard('"done":true')
        assert talk.end() == 0
    pushes = sorted(([line["push"], line.get("room"), "id" in line] for line in found if "push" in line), key=str)
    assert pushes == [["reminder: drink (w1)", None, False], ["reminder: drink (w2)", "kitchen", False]]
    assert all(line["turn"].startswith("t") for line in found if "push" in line)


def test_what_is_for_a_programs_room_waits_for_the_program(home: Home):
    kitchen = {"who": "ann", "room": "line kitchen", "due": int(time.time()) - 3600}
    with talking(_having(home, kitchen, {"due": int(time.time()) - 3600}), on=PIPE) as talk:
        talk.heard("(w2)\n")
        assert "(w1)" not in talk.seen.decode()
        talk.say("/json on")
        assert "1 h ago (w1)" in talk.heard('"room":"kitchen"')
        assert talk.end() == 0
