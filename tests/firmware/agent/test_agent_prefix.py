"""The prompts of turns in a row begin alike, field for field as both APIs send them, so that a provider's cache fits."""

import json

from board import Board, Script
from engram import files
from engram.agent.agent import Sink
from engram.llm.anthropic import Anthropic
from engram.llm.openai import OpenAI
from engram.llm.types import Call, Request
from engram.memory.access import OWNER
from support import rounds

TURNS = rounds(40, 16)
LONGEST = 800
_MARK = "cache_control"
_BLOCK = 512


class Sent:
    """Compares each body of an API with the one before, in files, since two bodies are too large for a small heap."""

    def __init__(self, adapter, prefix):
        self.adapter = adapter
        self.paths = [prefix + type(adapter).__name__ + end for end in (".now", ".before")]
        self.last_message = 0  # where the last message of the body before begins
        self.breaks = 0
        self.bodies = 0

    def take(self, request):
        """Take the first request of a turn."""
        now, before = self.paths
        last = at = 0
        with open(now, "wb") as file:
            for piece in self.adapter.body(request, "m"):
                if piece.startswith(b"{"):
                    value = json.loads(piece if at else piece + b"}")
                    if value.get("role") == "user":
                        last = at
                    piece = _ordered(value).encode()
                file.write(piece)
                at += len(piece)
        if self.bodies and _common(now, before) < self.last_message:
            self.breaks += 1
        self.paths.reverse()
        self.last_message = last
        self.bodies += 1


def _ordered(value):
    """The JSON of a value with its fields in order, without the API's mark of how far its cache goes: that one moves on."""
    if isinstance(value, dict):
        return "{%s}" % ",".join([name + ":" + _ordered(value[name]) for name in sorted(value) if name != _MARK])
    if isinstance(value, list):
        return "[%s]" % ",".join([_ordered(each) for each in value])
    return json.dumps(value)


def _common(path, other):
    """How many bytes two files have in common at their beginning."""
    count = 0
    with open(path, "rb") as one, open(other, "rb") as two:
        while True:
            first, second = one.read(_BLOCK), two.read(_BLOCK)
            if first != second or not first:
                for left, right in zip(first, second):
                    if left != right:
                        break
                    count += 1
                return count
            count += len(first)


async def _breaks(say, turns=TURNS, **settings):
    """How often the beginning of a prompt changed; `say(number)` gives a turn's (message, steps)."""
    board = Board().serve(Script(), **settings)
    sent = [Sent(adapter, board.place + "/") for adapter in (OpenAI(), Anthropic())]

    def look(request):
        for each in sent:
            each.take(request)

    for number in range(turns):
        message, steps = say(number)
        first = steps[0] if isinstance(steps[0], list) else [steps[0]]
        board.model.steps = [[look] + first] + steps[1:]
        board.now += 60
        outcome = await board.agent.turn(OWNER, message, Sink())
        assert not outcome.problem
    assert [each.bodies for each in sent] == [turns] * len(sent)
    # Both APIs alike, or it is not the prompt that changed.
    assert sent[0].breaks == sent[-1].breaks
    return sent[0].breaks


def _store(number):
    return Call("c", "memory_store", f'{{"content":"fact {number} is green","tags":["tag-{number}","all"]}}')


async def test_new_tags_and_memories_change_nothing_of_what_was_sent_before():
    def say(number):
        steps = [_store(number), "stored"] if number % 3 == 0 else [f"我知道 {number}"]
        return f"what is fact {number - 2} 是什么?", steps

    assert await _breaks(say, session_messages=200) == 0


async def test_a_full_window_leaves_a_few_turns_at_a_time():
    breaks = await _breaks(lambda number: (f"message {number}", ["answer"]), session_messages=20)
    # Of the turns that are there when the last message is sent, 20 stand in the window; four leave at a time.
    moves = (2 * TURNS - 1 - 20 + 3) // 4
    assert breaks == moves


async def test_a_window_that_is_full_by_its_tokens_leaves_a_few_turns_at_a_time():
    def say(number):
        return f"message {number} " + "x" * (100 + number * 37 % LONGEST), ["answer " + "y" * (number * 91 % LONGEST)]

    breaks = await _breaks(say, session_messages=40, llm_context_tokens=4200)
    assert TURNS // 8 <= breaks <= TURNS // 2


async def test_within_a_turn_each_request_goes_on_from_the_one_before():
    board = Board().serve(Script())
    place = board.place

    def look(name):
        def write(request):
            with open(place + "/" + name, "wb") as file:
                for piece in OpenAI().body(Request(request.system, request.messages, (), 0, ""), "m"):
                    file.write(piece)

        return write

    board.model.steps = [[look("0"), _store(0)], [look("1"), _store(1)], look("2")]
    await board.agent.turn(OWNER, "hello", Sink())
    for number in range(2):
        earlier = place + f"/{number}"
        # But for the end of the list of messages.
        assert _common(earlier, place + f"/{number + 1}") >= files.size(earlier) - len('],"tools":[]}')
