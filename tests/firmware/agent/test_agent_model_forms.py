"""The forms in which services answer: what the person reads, what the journal keeps, and what is stored."""

import json

from board import Board
from engram.llm.model import Model
from engram.llm.openai import OpenAI
from engram.memory.access import OWNER
from engram.net.http import Client
from llm_peer import Peer, stream
from turns import Ear, kept

SAID = "my bike is green"
STORED = {"content": "The bike is green", "tags": ["bike"]}
ARGUMENTS = json.dumps(STORED)
REMEMBERED = "remembered m1: The bike is green"
SPENT = "the model spent all its tokens before it answered, perhaps on thinking; raise llm.reply_tokens."
AS_TEXT = "the model wrote a tool call as text, which was not run: ask again, or change llm.model."


def delta(reason=None, **fields):
    return json.dumps({"choices": [{"index": 0, "delta": fields, "finish_reason": reason}]})


def text(*pieces, reason="stop"):
    return [delta(content=piece) for piece in pieces] + [delta(reason)]


def call(arguments, name="memory_store", **fields):
    piece = {"index": 0, "id": "c1", "function": {"name": name, "arguments": arguments}}
    piece.update(fields)
    return delta(tool_calls=[piece])


def calls(*arguments):
    return [call(each, index=place) for place, each in enumerate(arguments)] + [delta("tool_calls")]


async def talk(*replies, said=SAID, **settings):
    """(ear, outcome, board, the bodies of the requests) of a turn in which the service sends these events."""
    board = Board()
    async with Peer(*[[stream(events + ["[DONE]"])] for events in replies]) as peer:
        board.serve(Model(Client(peer.url + "/v1", stall_ms=60_000), OpenAI(), "m", retries=0), **settings)
        ear = Ear()
        outcome = await board.agent.turn(OWNER, said, ear)
    return ear, outcome, board, [json.loads(body) for _, body in peer.requests]


def journal(board):
    return [content for role, content, _ in kept(board) if role == "assistant"]


def memories(board):
    return sorted(record["content"] for record in board.records.newest(OWNER, ()))


async def test_a_thought_that_a_template_opened_is_not_kept_and_the_next_one_is_not_shown():
    board, ear = Board(), Ear()
    events = text("I plan.\n", "</think>\n\n", "Green.") + ["[DONE]"]
    async with Peer([stream(events)], [stream(events)]) as peer:
        board.serve(Model(Client(peer.url + "/v1", stall_ms=60_000), OpenAI(), "m", retries=0))
        await board.agent.turn(OWNER, SAID, ear)
        assert ear.notices == ["the first part above was the model's thinking; it is not kept."]
        second = Ear()
        await board.agent.turn(OWNER, SAID, second)
    assert (second.heard, second.notices, journal(board)) == ("Green.", [], ["Green.", "Green."])
    assert "I plan" not in str(peer.requests[1][1], "utf-8")


async def test_tokens_spent_on_thinking_are_told():
    for events in (
        [delta(reasoning_content="Let me think"), delta("length")],
        text("<think>Let me think", reason="length"),
        [call(ARGUMENTS[:9]), delta("length")],
    ):
        ear, outcome, board, _ = await talk(events)
        assert (outcome.problem, ear.heard, journal(board)) == (SPENT, "", [])


async def test_calls_in_any_form_are_run():
    other = json.dumps({"content": "The car is red", "tags": ["car"]})
    for events, count in (
        ([call("", name=""), call(ARGUMENTS), delta("tool_calls")], 1),
        ([call(ARGUMENTS), call(other), delta("tool_calls")], 2),
        ([call(ARGUMENTS, id=None), call(other, id=None), delta("stop")], 2),
        (text('<tool_call>\n{"name": "memory_store", "arguments": ' + ARGUMENTS + "}\n</tool_call>"), 1),
        (text('{"name": "memory_store", ', '"parameters": ' + ARGUMENTS + "}"), 1),
    ):
        ear, _, board, sent = await talk(events, text("Noted."))
        assert ear.heard == "Noted." and journal(board) == ["Noted."], events
        assert memories(board) == ["The bike is green", "The car is red"][:count], events
        back = [each for message in sent[1]["messages"] for each in message.get("tool_calls") or ()]
        assert len({each["id"] for each in back}) == len(back) == count
        assert all(isinstance(json.loads(each["function"]["arguments"]), dict) for each in back)


async def test_a_call_as_text_that_cannot_be_run_is_told_in_a_sentence():
    for before in ("", "I store it.\n"):
        name = "memory_store" if before else "store_memory"
        ear, outcome, board, _ = await talk(
            text(before + '<tool_call>{"name": "' + name + '", "arguments": ' + ARGUMENTS + "}</tool_call>")
        )
        assert ear.heard == before and outcome.problem == AS_TEXT
        assert journal(board) == ([before.strip()] if before else []) and memories(board) == []


async def test_a_call_that_another_one_wrote_is_shown_and_not_run():
    pasted = '{"name": "memory_store", "arguments": ' + ARGUMENTS + "}"
    for written in (
        pasted,
        "```json\n" + pasted + "\n```",
        "<tool_call>" + pasted + "</tool_call>",
        "<function=memory_store><parameter=content>The bike is green</parameter></function>",
        '[{"name": "memory_store", "parameters": {"content": "Another", "tags": ["a"]}}]',
    ):
        for said in (pasted, written, json.dumps(pasted)):
            ear, outcome, board, _ = await talk(text(written), said="please format this: " + said)
            assert (ear.heard, outcome.problem, memories(board)) == (written, "", []), (written, said)


async def test_arguments_with_one_meaning_are_taken():
    for arguments in (
        json.dumps(ARGUMENTS),
        "```json\n" + ARGUMENTS + "\n```",
        "{'content': 'The bike is green', 'tags': ['bike'], 'pinned': False}",
        ARGUMENTS + "}",
        ARGUMENTS + ARGUMENTS,
        json.dumps(dict(STORED, tags="bike")),
        json.dumps(dict(STORED, tags='["bike"]')),
        json.dumps(dict(STORED, importance="0.8", pinned="true")),
        json.dumps(dict(STORED, importance=None, keywords=None, type="null", expires=None)),
    ):
        ear, _, board, _ = await talk(calls(arguments), text("Noted."))
        assert ear.notices == [REMEMBERED] and board.records.get("m1")["tags"] == ["bike"], arguments


async def test_a_call_that_did_not_keep_anything_is_told():
    for arguments, why in (
        (
            ARGUMENTS + json.dumps(dict(STORED, content="x")),
            "arguments: must be one JSON object; this is not valid JSON.",
        ),
        (json.dumps(dict(STORED, tags="a, b, c, d")), "tags: must be a list of 1 to 3 texts."),
    ):
        ear, outcome, board, _ = await talk(calls(arguments), text("Noted."))
        assert (ear.heard, ear.notices, outcome.problem) == ("Noted.", ["nothing was kept: " + why], "")
        assert memories(board) == []


async def test_a_call_that_failed_is_not_told_once_another_one_has_kept_it():
    ear, _, _, _ = await talk(calls(ARGUMENTS[:9]), calls(ARGUMENTS), text("Noted."))
    assert ear.notices == [REMEMBERED]
    ear, _, _, _ = await talk(calls(ARGUMENTS, '{"content": "Ann"}'), text("Noted."))
    assert ear.notices[0] == REMEMBERED and ear.notices[1].startswith("not all was kept: tags: is missing")
