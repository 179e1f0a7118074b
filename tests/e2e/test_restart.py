"""What was told is found again after a restart, however the board ended."""

import json
import random
import re
import time
from collections.abc import Callable

import pytest

from driving import Home, say, talking
from fake_llm import Serving

Scripted = Callable[..., Serving]


def test_a_message_is_kept_once_an_answer_begins(home: Home, scripted: Scripted, api: str):
    server = scripted({"reply": ["Well ", {"text": "then", "delay": 60}]})
    with talking(home.asking(server.url, api)) as talk:
        talk.say("what shall I wear?")
        talk.heard("Well")
        talk.kill()
    assert [turn["text"] for turn in home.turns()] == ["what shall I wear?"]
    assert say(home, "/session").printed.splitlines()[-1].startswith("* s1")


MOST_KILLS = 100  # on a busy machine many come before anything is shown
OFTEN = pytest.mark.parametrize("kills", [8, pytest.param(40, marks=pytest.mark.soak)])


@OFTEN
def test_a_kill_at_any_moment_loses_nothing_that_was_shown(home: Home, kills: int):
    shown = shown_before_kills(home, kills, "Remembered as")
    check_kept(home, shown)
    assert {f"remember that {content}" for content in shown.values()} <= {turn["text"] for turn in home.turns()}


@OFTEN
def test_with_a_model_a_kill_at_any_moment_loses_nothing_that_was_shown(home: Home, scripted: Scripted, kills: int):
    store = {
        "name": "memory_store",
        "arguments": {"content": "Box {request} holds {request}{request}", "tags": ["box"]},
    }
    server = scripted({"when": {"result": "memory_store"}, "reply": "Kept."}, {"reply": "Well, ", "calls": [store]})
    shown = shown_before_kills(home.asking(server.url), kills, "· remembered")
    kept = check_kept(home, shown)
    asked = {f"t{turn['seq']}" for turn in home.turns() if turn["role"] == "user"}
    assert {turn for name in shown for turn in kept[name]["turns"]} <= asked


LATEST_KILL, LATER_EACH_TIME = 0.125, 0.02
"""Seconds after the start: a kill comes at any moment, and later and later, should nothing be shown in time."""


def shown_before_kills(home: Home, kills: int, words: str) -> dict[str, str]:
    """The memories, by id, that boards told of after some words before they were killed."""
    dice = random.Random(words)
    shown: dict[str, str] = {}
    for number in range(MOST_KILLS):
        if number >= kills and len(shown) > kills // 2:
            break
        printed = killed_while_remembering(home, dice, number)
        shown |= dict(re.findall(rf"^{words} (m\d+): (.*)\n", printed, re.MULTILINE))
    assert len(shown) > kills // 2
    return shown


def killed_while_remembering(home: Home, dice: random.Random, number: int) -> str:
    """All that was printed by a board that was killed at some moment."""
    with talking(home) as talk:
        for _ in range(30):
            talk.say("remember that " + " ".join(word(dice) for _ in range(4)))
        talk.heard("Engram ")
        time.sleep(dice.random() * (LATEST_KILL + number * LATER_EACH_TIME))
        talk.kill()
        talk.heard_to_the_end()
        return talk.seen.decode(errors="replace")


def word(dice: random.Random) -> str:
    return "".join(dice.choice("bdfgklmnprst") + dice.choice("aeiou") for _ in range(3))


def check_kept(home: Home, shown: dict[str, str]) -> dict[str, dict]:
    """All memories by their id, among which have to be those that were shown."""
    exported = [json.loads(line) for line in say(home, "/export").printed.splitlines() if line.startswith("{")]
    kept = {line["id"]: line for line in exported if "id" in line}
    assert {name: kept[name]["content"] for name in shown} == shown
    return kept
