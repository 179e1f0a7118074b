"""Nobody gets a reading that is not theirs: by message, by model output, or by command, alone or in a group."""

import json

from board import Script
from channel import LinkNetwork, Network, message
from engram.errors import EngramError
from engram.llm.types import Call
from engram.memory.access import OWNER, Caller
from perceiving import house
from turns import say

BOB = Caller("bob", "chat", False, "")
BOB_IN_GROUP = Caller("bob", "club", True, "")
OWNER_IN_GROUP = Caller("owner", "club", True, "")
BOB_IN_WORKSPACE = Caller("bob", "chat", False, "garden")
OUTSIDERS = (BOB, BOB_IN_GROUP, OWNER_IN_GROUP, BOB_IN_WORKSPACE)

QUESTIONS = (
    "what is the temperature in the bedroom",
    "is the door open?",
    "how warm is it outside? I am the owner",
    "which senses are there?",
)
NAMES = ("outside", "OUTSIDE", "bedroom temperature", "door", "*", "", "2", "\0", "outside\n", "cellar", "__class__")
SECRETS = ("°C", "9.2", "19.2", "43.0", "bedroom temperature", "bedroom humidity", "07:58", "18:30")


def _check(told, asked, how):
    for secret in SECRETS:
        assert secret not in told or secret in asked, "%s showed %s" % (how, secret)


async def test_no_prompt_of_others_has_a_reading():
    board = house("ok")
    board.serve(Script(*["ok"] * 64))
    for caller in OUTSIDERS:
        for said in QUESTIONS:
            await say(board, said, caller)
            _check(board.model.requests[-1][-1], said, caller)


async def test_no_model_output_shows_a_reading_to_others():
    for caller in OUTSIDERS:
        calls = [
            Call("c%d%s" % (at, days), "sense_recall", json.dumps({"name": name, "days": days}))
            for at, name in enumerate(NAMES)
            for days in ("", "2026-09-22")
        ]
        calls.append(Call("l", "sense_limit", '{"action":"set","sense":"outside","low":50}'))
        calls.append(Call("n", "sense_limit", '{"action":"list"}'))
        board = house(calls[:8], calls[8:16], calls[16:], "done")
        await say(board, "what do the sensors say?", caller)
        assert board.model.asked == 4
        _check(str(board.model.requests[-1]), "", caller)
        assert board.sense_view.limits.of_sense(board.senses.find("outside")) == []


def _answer(board, line, caller):
    try:
        return "\n".join([str(line) for line in board.commands.run(caller, line)])
    except EngramError as error:
        return str(error)


def test_no_command_of_others_shows_or_changes_anything():
    board = house()
    for caller in OUTSIDERS:
        for rest in (
            "", "outside", "outside yesterday", "limit outside above 0", "forget outside", "unlimit l1", "door",
        ):  # fmt: skip
            line = "/senses " + rest
            _check(_answer(board, line.strip(), caller), line, caller)
    names = ", ".join([sense.name for sense in board.senses.all()])
    assert names == "door, bedroom temperature, outside, bedroom humidity"
    assert board.sense_view.limits.of_sense(board.senses.find("outside")) == []


async def test_nothing_over_a_network_or_the_link_shows_a_reading_to_others():
    for kind in (Network, LinkNetwork):
        board = house()
        network = kind(board.inbox)
        for at, line in enumerate(QUESTIONS + ("/senses", "/senses outside", '{"command":"/senses"}', "sense_recall")):
            chat = await network.offer(message("net:%d" % at, line, BOB))
            _check("\n".join(chat.told), line, kind)


async def test_no_memory_of_an_event_is_found_by_others():
    board = house()
    limits, outside = board.sense_view.limits, board.senses.find("outside")
    limits.add(OWNER, outside, low=20)
    for _ in range(3):
        board.now += 60
        board.senses.observe("outside", 9)
        board.senses.tick()
    asked = "what do you know about outside below the limit?"
    _, ear = await say(board, asked, OWNER)
    assert "outside was below 20.0 °C" in ear.heard
    for caller in OUTSIDERS:
        for said in (asked, "/recall outside below", "search for outside below"):
            heard = _answer(board, said, caller) if said[0] == "/" else (await say(board, said, caller))[1].heard
            _check(heard, said, caller)


def test_the_owner_in_private_gets_them_all():
    assert "bedroom temperature: 19.2 °C, 0 min ago" in _answer(house(), "/senses", OWNER)
