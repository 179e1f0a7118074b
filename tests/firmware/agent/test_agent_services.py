"""Services that want something of a request, or answer in their own way: what the person reads, and what is stored."""

import json

from board import Board
from engram.llm.model import Model
from engram.llm.openai import OpenAI
from engram.memory.access import OWNER
from engram.net.http import Client
from llm_peer import Peer, answer, stream
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

    async def _play(self, steps, writer, reader):
        steps = self.play(json.loads(self.requests[-1][1]))
        if isinstance(steps, tuple):
            status, value = steps
            headers = "Content-Type: application/json\r\n"
            steps = [answer(json.dumps(value).encode(), status, headers)]
        return await super()._play(steps, writer, reader)


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


async def talk(play, turns=1):
    """(what was heard, notices, problem, contents of the memories, bodies) of some turns with a service."""
    board, ear, outcome = Board(), Ear(), None
    async with Service(play) as peer:
        model = Model(Client(peer.url + "/v1", stall_ms=60_000), OpenAI(), "m", retries=0)
        board.serve(model)
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


async def _answered(status, value):
    return await talk(lambda body: (status, value))


async def test_the_services_own_words_reach_the_person_also_without_an_error_status():
    for status in ("400 Bad Request", "200 OK"):
        heard, _, problem, stored, _ = await talk(lambda body, status=status: refuses("the plan has ended", status))
        assert (heard, stored) == ("", []) and "the plan has ended" in problem, status
