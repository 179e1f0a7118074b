"""Services that want something of a request, or answer in their own way: what the person reads, and what is stored."""

import json

from board import Board
from engram.llm.anthropic import Anthropic
from engram.llm.model import Model
from engram.llm.openai import OpenAI
from engram.memory.access import OWNER
from engram.net.http import Client
from llm_peer import CLOSE, Peer, answer, stream
from support import rounds
from turns import Ear

ARGUMENTS = json.dumps({"content": "The bike is green", "tags": ["bike"]})
REMEMBERED = ["remembered m1: The bike is green"]
SIGNED = {"google": {"thought_signature": "c2ln"}}
DETAILS = [{"type": "reasoning.text", "text": "hm", "index": 0, "signature": "s"}]
LONG = "x" * 90_000


class Service(Peer):
    """Answers each request with what a function of its body gives: steps, or a status and a value."""

    def __init__(self, play):
        super().__init__(*[None] * 40)
        self.play = play

    async def _play(self, steps, writer):
        steps = self.play(json.loads(self.requests[-1][1]))
        if isinstance(steps, tuple):
            status, value = steps
            headers = "Content-Type: application/json\r\n"
            steps = [answer(json.dumps(value).encode(), status, headers)]
        return await super()._play(steps, writer)


def delta(reason=None, **fields):
    return json.dumps({"choices": [{"index": 0, "delta": fields, "finish_reason": reason}]})


def says(*pieces):
    return [stream([delta(content=piece) for piece in pieces] + [delta("stop"), "[DONE]"])]


def stores(ref="c1", thought=None, **fields):
    """A stream with a call that stores a memory, with fields of the service's own."""
    call = {"index": 0, "id": ref, "function": {"name": "memory_store", "arguments": ARGUMENTS}}
    call.update(fields)
    return [stream([delta(**(thought or {})), delta(tool_calls=[call]), delta("tool_calls"), "[DONE]"])]


def refuses(words, status="400 Bad Request"):
    return status, {"error": {"message": words}}


def calls_of(body):
    return [call for message in body["messages"] for call in message.get("tool_calls") or ()]


def thinkers(body):
    return [message for message in body["messages"] if message.get("tool_calls")]


def roles(body):
    return [message["role"] for message in body["messages"]]


async def talk(play, adapter=None, turns=1, stall_ms=60_000, **settings):
    """(what was heard, notices, problem, contents of the memories, bodies) of some turns with a service."""
    board, ear, outcome = Board(), Ear(), None
    async with Service(play) as peer:
        model = Model(Client(peer.url + "/v1", stall_ms=stall_ms), adapter or OpenAI(), "m", retries=0)
        model.first_wait_ms, model.longest_wait_ms = 2, 8
        board.serve(model, **settings)
        for _ in range(turns):
            outcome = await board.agent.turn(OWNER, "my bike is green", ear)
    stored = [record["content"] for record in board.records.newest(OWNER, ())]
    return ear.heard, ear.notices, outcome.problem, stored, [json.loads(body) for _, body in peer.requests]


# --- what a service handed out


def wants_signature(body):
    for call in calls_of(body):
        if call.get("extra_content") != SIGNED:
            return "400 Bad Request", [{"error": {"message": "Function call is missing a thought_signature."}}]
    return says("Noted.") if calls_of(body) else stores(extra_content=SIGNED)


def wants_thoughts(body):
    for message in thinkers(body):
        if message.get("reasoning_content") != "hm":
            return refuses("reasoning_content is missing in assistant tool call message")
    return says("Noted.") if calls_of(body) else stores(thought={"reasoning_content": "hm"})


def wants_details(body):
    for message in thinkers(body):
        if message.get("reasoning_details") != DETAILS:
            return refuses("the thoughts were changed")
    return says("Noted.") if calls_of(body) else stores(thought={"reasoning_details": DETAILS})


def wants_its_ids(body):
    if any(call["id"] != "functions.memory_store:0" for call in calls_of(body)):
        return refuses("unknown call")
    return says("Noted.") if calls_of(body) else stores("functions.memory_store:0")


def wants_no_thoughts(body):
    if any("reasoning" in message for message in thinkers(body)):
        return refuses("'messages.2' : property 'reasoning' is unsupported")
    return says("Noted.") if calls_of(body) else stores(thought={"reasoning": "hm"})


async def test_what_a_service_wants_back_of_a_reply_goes_back():
    for play in (wants_signature, wants_thoughts, wants_details, wants_its_ids, wants_no_thoughts):
        heard, notices, problem, stored, _ = await talk(play)
        assert (heard, notices, problem) == ("Noted.", REMEMBERED, ""), play
        assert stored == ["The bike is green"]


async def test_thinking_blocks_of_anthropic_go_back():
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    use = {"type": "tool_use", "id": "t1", "name": "memory_store", "input": {}}
    arguments = {
        "type": "content_block_delta",
        "delta": {"type": "input_json_delta", "partial_json": ARGUMENTS},
    }

    def play(body):
        blocks = [
            block for message in body["messages"] if message["role"] == "assistant" for block in message["content"]
        ]
        if blocks and blocks[0] != thought:
            return refuses("Expected `thinking`, but found `tool_use`.")
        sent = [{"type": "text", "text": "Noted."}] if blocks else [thought, use]
        events = [{"type": "content_block_start", "index": at, "content_block": block} for at, block in enumerate(sent)]
        events += [dict(arguments, index=1)] * (not blocks) + [{"type": "message_stop"}]
        return [stream([json.dumps(event) for event in events])]

    heard, notices, problem, stored, _ = await talk(play, Anthropic())
    assert (heard, notices, problem, stored) == ("Noted.", REMEMBERED, "", ["The bike is green"])


# --- requests that fit


def nine(body):
    if any(len(call["id"]) != 9 or ":" in call["id"] for call in calls_of(body)):
        return refuses("Tool call id was c:1 but must be a-z, A-Z, 0-9, with a length of 9.")
    return says("Noted.") if calls_of(body) else stores("c:1")


def no_null(body):
    if any(message["content"] is None for message in body["messages"]):
        return refuses("content: Input should be a valid string")
    return says("Noted.") if calls_of(body) else stores()


def strict_roles(body):
    found = roles(body)
    for place in range(1, len(found)):
        if found[place] == "system" or found[place - 1 : place + 1] in (["tool", "user"], ["user", "user"]):
            return refuses("Unexpected role")
    return says("Noted.") if calls_of(body) else stores()


def other_limit(body):
    if "max_tokens" in body:
        return refuses("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
    return says("Noted.") if calls_of(body) else stores()


def no_usage(body):
    if "stream_options" in body:
        return "422 Unprocessable", {"detail": [{"loc": ["body", "stream_options"], "msg": "Extra inputs"}]}
    return says("Noted.") if calls_of(body) else stores()


def no_stream(body):
    if "stream" in body:
        return refuses("streaming is not supported")
    if calls_of(body):
        return "200 OK", {"choices": [{"message": {"content": "Noted."}, "finish_reason": "stop"}]}
    call = {"id": "c1", "type": "function", "function": {"name": "memory_store", "arguments": ARGUMENTS}}
    return "200 OK", {"choices": [{"message": {"content": None, "tool_calls": [call]}, "finish_reason": "tool_calls"}]}


def no_system(body):
    if "system" in roles(body):
        return refuses("System role not supported")
    return says("Noted.") if calls_of(body) else stores()


async def test_a_request_is_made_to_fit_and_the_turn_goes_on():
    for play in (nine, no_null, strict_roles, other_limit, no_usage, no_stream, no_system):
        heard, _, problem, stored, bodies = await talk(play, turns=2)
        assert (heard, problem, stored) == ("Noted.Noted.", "", ["The bike is green"]), play
        # The second turn begins with what was learned in the first one.
        assert len(bodies) <= 5, play


def no_tools(body):
    return refuses("gemma:2b does not support tools") if "tools" in body else says("Hello.")


async def test_a_model_without_tools_answers_and_the_person_reads_it_once():
    for mode in ("full", "lightweight"):
        heard, notices, problem, _, bodies = await talk(no_tools, turns=3, mode=mode)
        assert (heard, problem, len(bodies)) == ("Hello." * 3, "", 4)
        (notice,) = [each for each in notices if "tools" in each]
        assert "llm.model" in notice and "gemma:2b does not support tools" in notice


# --- waits


def loading():
    left = [None] * 6

    def play(body):
        return refuses("Loading model", "503 Service Unavailable") if left and not left.pop() else says("Hello.")

    return play


def queued(body):
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    role = ("data: " + delta(role="assistant", content="") + "\n\n").encode()
    rest = ("data: " + delta("stop", content="Hello.") + "\n\n").encode()
    return [150, head + b": queued\n\n", 150, role, 150, rest, CLOSE]


async def test_a_service_that_loads_or_has_a_queue_is_waited_for():
    for play in (loading(), queued):
        heard, _, problem, _, _ = await talk(play, stall_ms=100)
        assert (heard, problem) == ("Hello.", "")


# --- streams


def chatter(body):
    events = ["ping", "null", delta(reasoning=LONG), delta(content="Hel"), '"ping"', delta(content="lo.", extra=LONG)]
    return [stream(["\n: " + LONG + "\ndata: 1\n"] + events + [delta("stop"), "[DONE]"])]


def whole_thoughts(body):
    message = {"role": "assistant", "content": "Hello.", "reasoning_content": LONG}
    return "200 OK", {"choices": [{"message": message, "finish_reason": "stop"}], "citations": [LONG[:20_000]]}


async def test_what_is_skipped_costs_no_answer():
    for play in (chatter, whole_thoughts):
        heard, notices, problem, _, _ = await talk(play)
        assert (heard, notices, problem) == ("Hello.", [], ""), play


async def test_the_services_own_words_reach_the_person():
    for value in (
        {"error": {"message": "the plan has ended", "code": 400}},
        [{"error": {"message": "the plan has ended", "code": 400}}],
        {"detail": [{"msg": "the plan has ended", "loc": ["body"]}]},
        {"detail": "the plan has ended"},
        {"object": "error", "message": "the plan has ended"},
        {"error": "the plan has ended"},
    ):
        for status in rounds(
            ("400 Bad Request", "403 Forbidden", "429 Too Many", "200 OK"), ("400 Bad Request", "200 OK")
        ):
            heard, _, problem, stored, _ = await _answered(status, value)
            assert (heard, stored) == ("", []) and "the plan has ended" in problem, (status, value)
        events = [stream([delta(content="Hel"), json.dumps(value), "[DONE]"])]
        heard, _, problem, _, _ = await talk(lambda body, events=events: events)
        assert heard == "Hel" and "the plan has ended" in problem, value


async def _answered(status, value):
    return await talk(lambda body: (status, value))
