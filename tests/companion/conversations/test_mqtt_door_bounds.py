"""The door for programs at its bounds, and after a start of the companion, on both databases: without a broker or a board."""

import asyncio
import time

import pytest

from door_program import Program
from engram_host.companion.conversations import mqtt_door
from engram_host.companion.conversations.service import DOOR_IDS
from engram_host.companion.store import CompanionStore
from engram_host.companion.store.conversations.table import Reply
from engram_host.companion.types import ConversationLimits, Said, Sender
from waiting import wait_until_async

BOARD = Sender("b1", 3, 9)
LIMITS = ConversationLimits()


def say(store: CompanionStore, mid: str, at: int = 0) -> None:
    store.conversations.add_conversation("kitchen", Said(mid, "ann", "hi", "phone"), LIMITS, at or int(time.time()))


def answer(store: CompanionStore, mid: str, k: int, text: str, at: int = 0, is_end: bool = False) -> None:
    """A part of the board's answer to its oldest open message."""
    now = at or int(time.time())
    if k == 1:
        found = store.conversations.next_message(BOARD, "kitchen", now)
        assert found and found.said.mid == mid
    store.conversations.add_reply(BOARD, "kitchen", mid, Reply(1, k, [("text", text)], is_end), LIMITS, now)


# --- bounds


def test_a_message_beyond_the_bound_is_refused_with_what_to_do(program: Program, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(mqtt_door, "MOST_AT_WORK", 2)
    program.start()

    async def work() -> None:
        for number in range(3):
            program.send(id=str(number), text="hi", principal="ann")
        problem = "the companion passes on 2 answers already: publish this again later."
        await program.hears(id="2", problem=problem)
        for number in range(2):
            await program.hears(id=str(number), state="waiting")
        assert len(await asyncio.to_thread(program.store.conversations.conversations, "kitchen", 10)) == 2

    program.play(work)


def test_refusals_have_a_bound(program: Program, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture):
    monkeypatch.setattr(mqtt_door, "MOST_AT_WORK", 2)
    program.start()

    async def work() -> None:
        for _ in range(3):
            program.send(text="nobody says this")
        await wait_until_async("two are refused", lambda: len(program.heard) == 2)
        assert "too many are refused" in caplog.text

    program.play(work)


def test_a_message_that_is_published_again_while_it_is_answered_has_its_answer_from_the_beginning(program: Program):
    async def work() -> None:
        program.send(id="7", text="hi", principal="ann", room="phone")
        await program.hears(id="7", state="waiting")
        answer(program.store, DOOR_IDS + "7", 1, "one ")
        await program.hears(id="7", n=1, kind="text", text="one ")
        program.heard.clear()
        program.send(id="7", text="hi", principal="ann", room="phone")
        await program.hears(id="7", n=1, kind="text", text="one ")
        answer(program.store, DOOR_IDS + "7", 2, "two", is_end=True)
        await program.hears(id="7", end="done")
        assert [each["n"] for each in program.heard if "n" in each] == [1, 2]

    program.play(work)


# --- after a start


@pytest.mark.both_databases
def test_after_a_start_the_answer_to_what_is_open_is_published_without_being_asked_for(program: Program):
    async def work() -> None:
        program.send(id="7", text="hi", principal="ann", room="phone")
        await program.hears(id="7", state="waiting")
        answer(program.store, DOOR_IDS + "7", 1, "one ")
        await program.hears(id="7", n=1, kind="text", text="one ")
        await program.restart()
        await program.hears(id="7", n=1, kind="text", text="one ")
        answer(program.store, DOOR_IDS + "7", 2, "two", is_end=True)
        await program.hears(id="7", n=2, kind="text", text="two")
        await program.hears(id="7", end="done")

    program.play(work)


def test_after_a_start_an_end_comes_again_only_if_it_may_not_have_gone_out(program: Program):
    long_ago = int(time.time()) - mqtt_door.RESUMED_SECONDS - 60
    for mid, at in ((DOOR_IDS + "old", long_ago), (DOOR_IDS + "new", 0)):
        say(program.store, mid, at)
        answer(program.store, mid, 1, "hello", at, is_end=True)

    async def work() -> None:
        await program.restart()
        await program.hears(id="new", end="done")
        assert {each["id"] for each in program.heard} == {"new"}

    program.play(work)


def test_after_a_start_nothing_is_published_of_what_others_said(program: Program):
    for mid in ("phone-1", "mqtt", DOOR_IDS + "mine"):
        say(program.store, mid)

    async def work() -> None:
        await program.restart()
        await program.hears(id="mine", state="waiting")
        assert {each["id"] for each in program.heard} == {"mine"}

    program.play(work)
