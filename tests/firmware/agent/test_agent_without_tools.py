"""Models that never call a tool, or are silent for long: what the board does, and what the person is shown."""

import io
import json

from board import Board, Script, lines_of
from engram.agent.answer import Reply
from engram.channels.console.console import Console
from engram.channels.message import Message
from engram.llm.model import Model
from engram.llm.openai import OpenAI
from engram.llm.types import Call
from engram.memory.access import OWNER
from engram.memory.texts.notes import MEMORY
from engram.net.http import Client
from llm_peer import Peer, answer, stream
from turns import Ear

EVENT = '{"choices":[{"delta":{"content":%s},"finish_reason":"%s"}]}'
NOTED = EVENT % ('"Noted."', "stop")
AS_TEXT = 'A call:\n<tool_call>\n{"name": "memory_store", "arguments": {"content": "x", "tags": ["a"]}}\n</tool_call>'
THOUGHT = '{"choices":[{"delta":{"reasoning_content":"hm"}}]}'
ORDERS = ("remember that my bike is green", "remember that my car is red", "remember that my boat is blue")


def served(peer, **settings):
    return Board().serve(Model(Client(peer.url + "/v1", stall_ms=60_000), OpenAI(), "tiny", retries=0), **settings)


async def talk(*sayings, reply="Noted.", reason="stop", **settings):
    """(board, the notices of each message, the bodies of the requests) with a model that only says `reply`."""
    told = []
    async with Peer(*[[stream([EVENT % (json.dumps(reply), reason), "[DONE]"])]] * len(sayings)) as peer:
        board = served(peer, **settings)
        board.records.store("The bike is green", ["bike"], OWNER)
        for said in sayings:
            ear = Ear()
            await board.agent.turn(OWNER, said, ear)
            told.append(ear.notices + [ear.heard])
    return board, told, [json.loads(body) for _, body in peer.requests]


async def test_a_model_that_answers_two_orders_without_a_call_is_asked_without_tools():
    two = "remember that I see the dentist on Friday. Also, why is Paris so old"
    board, told, sent = await talk(*ORDERS, two, "remind me in 10 minutes to drink", "what colour is my boat?")
    assert told[0] == ["Noted."] and told[1][0] == "Remembered as m2: my car is red" and len(told[1]) == 3
    assert "tiny calls no tools" in told[1][1] and told[2] == ["Remembered as m3: my boat is blue"]
    assert told[3] == ["Remembered as m4: " + two[14:], "Noted."]
    assert told[4:] == [["no timer was set: /timers add TIME TEXT sets one.", "Noted."], ["Noted."]]
    assert ["tools" in body for body in sent] == [True, True, False, False, False]
    system, last = sent[-1]["messages"][0]["content"], sent[-1]["messages"][-1]["content"]
    assert "memory_" not in system and "cannot store" in system and "my boat is blue" in last
    assert any("tiny; calls no tools (it answered orders" in line for line in lines_of(board, "/stats"))


async def test_only_an_order_that_a_model_has_denied_counts_against_it():
    for said, reply, reason, counts in (
        (ORDERS[0], "Which bike?", "stop", False),
        (ORDERS[0], "I will store that now and", "length", False),
        ("how does a tool call look?", AS_TEXT, "stop", False),
        (ORDERS[0], AS_TEXT, "stop", True),
        ("remember this", "Noted.", "stop", False),
    ):
        board, told, _ = await talk(said, said, reply=reply, reason=reason)
        assert bool(board.model.no_tools) == counts and bool(board.records.count(OWNER) > 1) == counts, told


async def test_a_person_is_told_that_nothing_was_kept_or_forgotten():
    unkept = "nothing was kept: the model called no tool for it; /note ... keeps a line."
    board, told, _ = await talk(*ORDERS[:2], mode="lightweight")
    assert told[0] == [unkept, "Noted."] and "nothing else is kept" in told[1][1]
    assert board.notes.for_caller(OWNER).text(MEMORY).split("\n")[:1] == ["- my car is red"]
    assert (await talk(ORDERS[0], extract_on=False))[1] == [[unkept, "Noted."]]
    unforgotten = "nothing was forgotten: /forget and an id, or its words, does that."
    assert (await talk("forget m1", "forget it"))[1] == [[unforgotten, "Noted."], ["Noted."]]
    assert (await talk("forget m1", reply="This one?"))[1] == [["This one?"]]


async def test_a_call_that_worked_earns_trust_and_one_that_kept_carries_the_order_out():
    noted, model = [], Script()
    model.note_call, model.note_no_call = lambda: noted.append("worked"), lambda: noted.append("denied")
    for name, arguments, expected in (
        ("save_memory", {"text": "my bike is green"}, ["denied"]),
        ("memory_store", {"content": "my bike is green"}, ["denied"]),
        ("memory_search", {"query": "bike"}, ["worked", "denied"]),
        ("memory_store", {"content": "my bike is green", "tags": ["bike"]}, ["worked"]),
        ("memory_store", {"content": "The bike is green", "tags": ["bike"]}, ["worked"]),
    ):
        noted.clear()
        model.steps = [[Call("c", name, json.dumps(arguments))], "Saved!"]
        board = Board().serve(model)
        board.records.store("The bike is green", ["bike"], OWNER)
        await board.agent.turn(OWNER, ORDERS[0], Ear())
        assert noted == expected, (name, arguments)


async def test_a_silent_model_is_seen_at_work():
    second_ms, Reply.second_ms = Reply.second_ms, 10
    shown = io.StringIO()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: " + THOUGHT.encode() + b"\n\n"
    try:
        loading = answer(b"", "503 Service Unavailable")
        async with Peer([loading], [400, head, 400, b"data: " + NOTED.encode() + b"\n\ndata: [DONE]\n\n"]) as peer:
            board = served(peer, console_echo=False)
            board.model.first_wait_ms = 400  # pyright: ignore[reportAttributeAccessIssue]  # it is no Script
            console = Console(board.config, board.inbox, io.BytesIO(), shown)
            await board.inbox.handle(Message("", OWNER, "hello", False, "", "", ""), console)
    finally:
        Reply.second_ms = second_ms
    lines = [line for line in shown.getvalue().split("\n") if line.strip(".")]
    assert "not ready yet" in lines.pop(0) and lines.pop(0) == "· waiting for the service ..."
    assert lines == ["· reading the prompt ...", "· thinking ...", "Noted."] and "\n.." in shown.getvalue()
