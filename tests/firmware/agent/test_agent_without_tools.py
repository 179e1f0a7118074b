"""A model that never calls a tool: the board does what people order, and the person is told once."""

import json

from board import Board, lines_of
from engram.agent.answer import Reply
from engram.llm.model import Model
from engram.llm.openai import OpenAI
from engram.memory.access import OWNER
from engram.memory.texts.notes import MEMORY
from engram.net.http import Client
from llm_peer import Peer, stream
from turns import Ear, kept

NOTED = '{"choices":[{"delta":{"content":"Noted."},"finish_reason":"stop"}]}'
ORDERS = ("remember that my bike is green", "remember that my car is red", "remember that my boat is blue")


async def talk(*sayings, **settings):
    """(board, what was told of each message, the bodies of the requests) with a model that only says "Noted."."""
    board, told = Board(), []
    async with Peer(*[[stream([NOTED, "[DONE]"])]] * len(sayings)) as peer:
        board.serve(Model(Client(peer.url + "/v1", stall_ms=60_000), OpenAI(), "tiny", retries=0), **settings)
        for said in sayings:
            ear = Ear()
            await board.agent.turn(OWNER, said, ear)
            told.append(ear.notices + [ear.heard])
    return board, told, [json.loads(body) for _, body in peer.requests]


async def test_orders_that_are_answered_without_a_call_are_carried_out_by_the_board():
    board, told, sent = await talk(*ORDERS, "what colour is my boat?")
    assert told[0] == ["Remembered as m1: my bike is green", "Noted."]
    assert told[1][0] == "Remembered as m2: my car is red" and "tiny calls no tools" in told[1][1]
    assert "learn from what else you say" in told[1][1] and told[2:] == [
        ["Remembered as m3: my boat is blue"],
        ["Noted."],
    ]
    assert ["tools" in body for body in sent] == [True, True, False]
    system, last = sent[2]["messages"][0]["content"], sent[2]["messages"][-1]["content"]
    assert "memory_" not in system and "cannot store" in system and "my boat is blue" in last
    assert any("tiny; calls no tools (it answered orders" in line for line in lines_of(board, "/stats"))


async def test_an_order_that_is_kept_by_the_board_is_kept_in_lightweight_mode_too():
    board, told, _ = await talk(*ORDERS[:2], mode="lightweight")
    assert [line[2:] for line in board.notes.for_caller(OWNER).text(MEMORY).split("\n") if line] == [
        "my bike is green",
        "my car is red",
    ]
    assert "nothing else is kept" in told[1][1]


async def test_a_silent_model_is_seen_at_work():
    class Watching(Ear):
        async def working(self, sign, is_first):
            self.notices.append((sign, is_first))

    thought = '{"choices":[{"delta":{"reasoning_content":"hm"}}]}'
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    events = [b"data: " + event.encode() + b"\n\n" for event in (thought, NOTED)]
    second_ms, Reply.second_ms = Reply.second_ms, 10
    board, ear = Board(), Watching()
    try:
        async with Peer([400, head, events[0], 400, events[1], b"data: [DONE]\n\n"]) as peer:
            board.serve(Model(Client(peer.url + "/v1", stall_ms=60_000), OpenAI(), "slow", retries=0))
            await board.agent.turn(OWNER, "hello", ear)
    finally:
        Reply.second_ms = second_ms
    assert ear.notices[:2] == [("reading the prompt", True), ("reading the prompt", False)]
    assert ("thinking", True) in ear.notices and kept(board)[1][1] == "Noted."
