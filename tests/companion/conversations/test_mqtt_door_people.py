"""Who may talk through the door for programs: a relay names senders of its network, to whom the rules of people apply."""

import re
from typing import Any

import pytest

from door_program import Program
from engram_host.companion.conversations.mqtt_door import DoorRefused, parse
from engram_host.companion.conversations.service import DOOR_IDS
from engram_host.companion.types import Said
from one_case import in_one_case
from waiting import wait_until_async

ANN = "signal:4711"


def said(program: Program) -> list[Said]:
    """What boards were given to answer, the first one first."""
    found = program.store.conversations.conversations("kitchen", 100)
    return [each.said for each in reversed(found)]


async def asks(program: Program, own_id: str, **more: Any) -> dict[str, Any]:
    """A message of a relay, and what is published for it first."""
    program.send(**{"id": own_id, "text": "hi", "sender": ANN, **more})
    await wait_until_async(f"{own_id} is heard", lambda: any(each["id"] == own_id for each in program.heard))
    return next(each for each in program.heard if each["id"] == own_id)


def test_a_stranger_is_given_a_code_and_talks_once_it_is_approved(program: Program):
    async def work() -> None:
        answer = await asks(program, "1", name="Ann")
        code = re.search(r"Your code is ([A-Z2-9]{8})", answer["problem"])
        assert code and said(program) == []
        assert await asks(program, "2") == {"id": "2", "end": "ignored"}, "there is one code an hour"
        await program.people.approve(code[1], "ann")
        assert await asks(program, "3") == {"id": "3", "state": "waiting"}
        assert said(program) == [Said(f"{DOOR_IDS}3", "ann", "hi", "signal 4711")]

    program.play(work)


def test_a_sender_who_is_blocked_or_in_a_closed_group_is_ignored(program: Program):
    async def work() -> None:
        await program.people.approve(ANN, "ann")
        await program.people.set_group("signal:house", "mention")
        group = {"room": "house", "group": True}
        assert await asks(program, "1", **{**group, "room": "other"}, mentioned=True) == {"id": "1", "end": "ignored"}
        assert await asks(program, "2", **group) == {"id": "2", "end": "ignored"}, "nobody mentioned the board"
        assert await asks(program, "3", **group, mentioned=True) == {"id": "3", "state": "waiting"}
        assert said(program) == [Said(f"{DOOR_IDS}3", "ann", "hi", "signal house", True)]
        await program.people.block("ann")
        assert await asks(program, "4") == {"id": "4", "end": "ignored"}
        assert await asks(program, "5", **group, mentioned=True) == {"id": "5", "end": "ignored"}

    program.play(work)


def test_a_message_is_the_same_one_when_its_sender_has_another_principal_meanwhile(program: Program):
    async def work() -> None:
        await program.people.approve(ANN)
        assert await asks(program, "1") == {"id": "1", "state": "waiting"}
        await program.people.approve("matrix:@ann:example.org", "ann")
        await program.people.link("ann", ANN)
        program.heard.clear()
        assert await asks(program, "1") == {"id": "1", "state": "waiting"}
        assert [each.principal for each in said(program)] == [ANN]

    program.play(work)


def test_a_principal_that_a_program_vouches_for_needs_no_approval_unless_it_is_blocked(program: Program):
    async def work() -> None:
        for number, principal in enumerate(("ann", "owner", ANN)):
            assert await asks(program, str(number), sender="", principal=principal) == {
                "id": str(number),
                "state": "waiting",
            }
        await program.people.approve(ANN, "ann")
        await program.people.block("ann")
        for number, principal in enumerate(("ann", ANN), 10):
            assert await asks(program, str(number), sender="", principal=principal) == {
                "id": str(number),
                "end": "ignored",
            }

    program.play(work)


@in_one_case("sender", ["4711", "signal:", ":4711", "signal:a b", "signal:" + "x" * 100])
def test_a_sender_is_a_network_and_an_id(sender: str):
    with pytest.raises(DoorRefused, match="a sender is a network and its own id of them"):
        parse(f'{{"text": "x", "sender": {sender!r}}}'.replace("'", '"').encode())


def test_a_relay_says_whose_words_a_message_has_and_what_it_corrects(program: Program):
    async def work() -> None:
        await program.people.approve(ANN)
        words = {"forwarded": "Bob", "quoted": "where?\n  there"}
        assert "problem" not in await asks(program, "1", text="/forget all", **words)
        assert "problem" not in await asks(program, "2", text="/forget it", edits="1")
        first, second = said(program)
        assert (first.text, first.forwarded, first.quoted) == ("/forget all", "Bob", "where? there")
        assert not first.is_command and second.edits == first.mid
        assert (
            "not for a command" in (await asks(program, "3", text="", command="/forget m1", forwarded="Bob"))["problem"]
        )
        assert "do not have that message" in (await asks(program, "4", edits="9"))["problem"]

    program.play(work)
