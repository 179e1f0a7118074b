"""Models that never call a tool, or are silent for long: what the board does, and what the person is shown."""

import io
import json

from board import Board, lines_of
from engram.agent.answer import Reply
from engram.channels.console.console import Console
from engram.channels.message import Message
from engram.llm.model import Model
from engram.llm.openai import OpenAI
from engram.memory.access import OWNER
from engram.memory.texts.notes import MEMORY
from engram.net.http import Client
from llm_peer import Peer, answer, stream
from turns import Ear

NOTED = '{"choices":[{"delta":{"content":"Noted."},"finish_reason":"stop"}]}'
THOUGHT = '{"choices":[{"delta":{"reasoning_content":"hm"}}]}'
ORDERS = ("remember that my bike is green", "remember that my car is red", "remember that my boat is blue")


def served(peer, **settings):
    return Board().serve(Model(Client(peer.url + "/v1", stall_ms=60_000), OpenAI(), "tiny", retries=0), **settings)


async def talk(*sayings, **settings):
    """(board, what was told of each message, the bodies of the requests) with a model that only says "Noted."."""
    told = []
    async with Peer(*[[stream([NOTED, "[DONE]"])]] * len(sayings)) as peer:
        board = served(peer, **settings)
        for said in sayings:
            ear = Ear()
            await board.agent.turn(OWNER, said, ear)
            told.append(ear.notices + [ear.heard])
    return board, told, [json.loads(body) for _, body in peer.requests]


async def test_orders_that_are_answered_without_a_call_are_carried_out_by_the_board():
    board, told, sent = await talk(ORDERS[0], *ORDERS, "what colour is my boat?")
    assert told[0] == ["Remembered as m1: my bike is green", "Noted."] and len(told[1]) == 2
    assert "tiny calls no tools" in told[2][1] and told[3:] == [["Remembered as m3: my boat is blue"], ["Noted."]]
    assert ["tools" in body for body in sent] == [True, True, True, False]
    system, last = sent[3]["messages"][0]["content"], sent[3]["messages"][-1]["content"]
    assert "memory_" not in system and "cannot store" in system and "my boat is blue" in last
    assert any("tiny; calls no tools (it answered orders" in line for line in lines_of(board, "/stats"))


async def test_an_order_is_kept_without_a_call_in_lightweight_mode_too():
    board, told, _ = await talk(*ORDERS[:2], mode="lightweight")
    assert board.notes.for_caller(OWNER).text(MEMORY).split("\n")[:2] == ["- my bike is green", "- my car is red"]
    assert "nothing else is kept" in told[1][1]


async def test_a_silent_model_is_seen_at_work():
    second_ms, Reply.second_ms = Reply.second_ms, 10
    shown = io.StringIO()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: " + THOUGHT.encode() + b"\n\n"
    try:
        loading = answer(b"", "503 Service Unavailable")
        async with Peer([loading], [400, head, 400, b"data: " + NOTED.encode() + b"\n\ndata: [DONE]\n\n"]) as peer:
            board = served(peer, console_echo=False)
            board.model.first_wait_ms = 400
            console = Console(board.config, board.inbox, io.BytesIO(), shown)
            await board.inbox.handle(Message("", OWNER, "hello", False, "", "", ""), console)
    finally:
        Reply.second_ms = second_ms
    lines = [line for line in shown.getvalue().split("\n") if line.strip(".")]
    assert "not ready yet" in lines.pop(0) and lines.pop(0) == "· waiting for the service ..."
    assert lines == ["· reading the prompt ...", "· thinking ...", "Noted."] and "\n.." in shown.getvalue()
