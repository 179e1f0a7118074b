"""Facts by themselves, on the 32-bit build: the reply comes first, what the model finds is kept once, and what it should not
do does not happen.
"""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import chip
from driving import Home, Talk, talking
from fake_llm import Serving
from skips import needs_32_bit
from waiting import wait_until

Scripted = Callable[..., Serving]

EXTRACTION = {"offers": False, "system": "long-term memory of a personal assistant"}
FLUSH = {"contains": "NO_REPLY"}


def fact(turn: str, content: str, **more: Any) -> dict[str, Any]:
    """An operation that adds a fact."""
    return {"op": "add", "from": turn, "content": content, "tags": ["note"], **more}


def change(of: str, turn: str, content: str) -> dict[str, Any]:
    """An operation that lets a fact take the place of another one."""
    return {**fact(turn, content), "op": "supersede", "id": of}


def finds(*operations: dict[str, Any], of: str = "", **rule: Any) -> dict[str, Any]:
    """A rule by which the model finds facts, in requests whose message has `of`."""
    when = {**EXTRACTION, "contains": of} if of else EXTRACTION
    return {"when": when, "reply": json.dumps(operations, ensure_ascii=False), **rule}


REPLY = {"when": {"offers": True}, "reply": "I see."}
NOTHING = {"when": EXTRACTION, "reply": "[]"}


pytestmark = needs_32_bit


@contextmanager
def learning(home: Home, server: Serving, **settings: object) -> Iterator[Talk]:
    """A board on the 32-bit build that reads for facts as soon as it is quiet."""
    named = {"extract__on": True, "flush__on": True, "extract__pause_seconds": 0, "llm__retries": 0, **settings}
    command = (str(chip.MICROPYTHON), "-X", "heapsize=2m", "-m", "main")
    with talking(home.knowing(MICROPYPATH=chip.PATH).asking(server.url).having(**named), command=command) as talk:
        yield talk


def say(talk: Talk, message: str, reply: str = "I see.") -> None:
    """A message and its reply."""
    talk.say(message)
    talk.heard(reply)


def shown(talk: Talk, command: str, wanted: str) -> str:
    """What a command shows, asked again until `wanted` is in it."""
    answers: list[str] = []

    def is_shown() -> bool:
        talk.say(command)
        talk.say("/nothing")
        answers.append(talk.heard("there is no such command"))
        return wanted in answers[-1]

    wait_until(lambda: f"{wanted!r}; the last answer:\n{answers[-1]}", is_shown)
    return answers[-1]


def test_a_fact_corrected_three_times_and_taken_back_once(home: Home, scripted: Scripted):
    cities = ["Bonn", "Ulm", "Kiel", "Jena"]
    kept = [f"The user lives in {city}" for city in cities]
    first = finds(fact("t3", kept[0]), of="in Bonn")
    # A line behind each fact says how far turns were read, one of the journal what a change makes outdated.
    later = [
        finds(change(f"m{2 * n - 1}", f"t{2 + 3 * n}", kept[n]), of=f"in {cities[n]}") for n in range(1, len(cities))
    ]
    server = scripted(*later[::-1], first, REPLY)
    with learning(home, server) as talk:
        for city in cities:
            say(talk, f"guess where I live: in {city}")
            shown(talk, "/memory list", f"lives in {city}")
        assert "Kiel" not in shown(talk, "/memory list", "Jena")
        talk.say("/undo")
        talk.heard("holds again")
        listed = shown(talk, "/memory list", "Kiel")
        assert "Jena" not in listed and "Ulm" not in listed
        ref = next(line["id"] for line in home.lines("memory/memory_records") if "Kiel" in line.get("content", ""))
        history = shown(talk, f"/memory history {ref}", "Kiel")
    assert [city in history for city in cities] == [True, True, True, False]


# --- the flush


def test_turns_that_were_not_read_have_a_last_look_that_nobody_hears(home: Home, scripted: Scripted):
    append = {"name": "file_edit", "arguments": {"file": "MEMORY.md", "text": "- the bike is green"}}
    look = {"when": {**FLUSH, "result": False}, "calls": [append]}
    server = scripted(look, {"when": FLUSH, "reply": "NO_REPLY"}, REPLY)
    with learning(home, server, mode="lightweight", session__messages=4) as talk:
        for number in range(4):
            say(talk, f"message number {number}")
        shown(talk, "/stats", "0 facts from 4 messages")
    assert b"NO_REPLY" not in talk.seen
    assert "the bike is green" in (home.folder / "memory/MEMORY.md").read_text()
    assert {turn["text"] for turn in home.turns() if turn["role"] == "assistant"} == {"I see."}


# --- kills


LATER_EACH_TIME = 0.12
"""Seconds: a kill comes at another moment each time, from before the reading to after it."""


def test_killed_again_and_again_it_reads_each_message_once(home: Home, scripted: Scripted):
    rules = [
        finds(fact(f"t{3 + 4 * n}", f"The user's box {n} holds item {n * 7}"), of=f"] my box {n} ") for n in range(6)
    ]
    server = scripted(*rules, NOTHING, REPLY)
    for number in range(6):
        with learning(home, server) as talk:
            talk.say("/session new")  # a reading has messages of one session
            talk.heard("begins")
            say(talk, f"my box {number} holds item {number * 7}")
            wait_until("the reply is kept", lambda: len(home.turns()) == 2 * number + 2)  # noqa: B023
            time.sleep(number * LATER_EACH_TIME)
            talk.kill()
    with learning(home, server) as talk:
        say(talk, "what a day")
        shown(talk, "/memory list", "box 5")
    assert sorted(home.memories()) == [f"The user's box {n} holds item {n * 7}" for n in range(6)]
