"""Fields that a service hands out and no adapter knows: they go back within the turn as they came, however they were cut."""

import json
import random

from engram.llm.anthropic import Anthropic
from engram.llm.openai import OpenAI
from engram.llm.reply import Kept, plain
from engram.llm.types import Request, assistant, result, user

_SIGNED = {"google": {"thought_signature": "c2ln" * 100}}


def _delta(delta, reason=None):
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


def _piece(**fields):
    return _delta({"tool_calls": [dict({"index": 0, "function": {"name": "", "arguments": ""}}, **fields)]})


def _call(**fields):
    return _piece(id="c1", type="function", function={"name": "memory_list", "arguments": "{}"}, **fields)


def _reply(api, *events):
    draft = api.draft()
    for event in events:
        draft.feed(json.dumps(event).encode())
    return draft.reply()


def _sent_back(api, *events):
    """The message of the model in the request that follows a reply with a call."""
    reply = _reply(api, *events)
    messages = [user("a"), assistant(reply.text, reply.calls, reply.kept)]
    messages.extend([result(call, "{}") for call in reply.calls])
    request = Request(lambda: (), lambda: iter(messages), (), 100, "")
    return json.loads(b"".join([bytes(piece) for piece in api.body(request, "m")]))["messages"][1]


def _openai(*events):
    return _sent_back(OpenAI(), *(list(events) + [_delta({}, "tool_calls")]))


def test_a_signature_that_comes_behind_its_call_goes_back_with_it():
    found = _openai(_call(), _piece(extra_content=_SIGNED), _piece(index=1, id="c2", function={"name": "x"}))
    assert [call.get("extra_content") for call in found["tool_calls"]] == [_SIGNED, None]


def test_thoughts_of_a_message_go_back_with_its_calls():
    for name in ("reasoning", "reasoning_content", "thinking"):
        found = _openai(_delta({name: "Let me ", "content": ""}), _delta({name: "think “你”."}), _call())
        assert found[name] == "Let me think “你”.", name


def test_entries_of_a_list_with_one_index_are_put_together():
    details = [
        {"type": "reasoning.text", "text": "Let ", "format": "f", "index": 0},
        {"type": "reasoning.text", "text": "me", "format": "f", "index": 0, "id": None},
        {"type": "reasoning.text", "signature": "sig", "format": "f", "index": 0},
        {"type": "reasoning.encrypted", "data": "x", "format": "f", "index": 0, "id": "r1"},
        {"type": "reasoning.encrypted", "data": "y", "format": "f", "index": 1, "id": "r2"},
    ]
    found = _openai(*([_delta({"reasoning_details": [each]}) for each in details] + [_call()]))
    assert found["reasoning_details"] == [
        {"type": "reasoning.text", "text": "Let me", "format": "f", "index": 0, "signature": "sig"},
        details[3],
        details[4],
    ]


def test_blocks_without_an_index_end_with_their_signature():
    pieces = [
        {"type": "thinking", "thinking": "a"},
        {"type": "thinking", "thinking": "b", "signature": "s1"},
        {"type": "thinking", "thinking": "c", "signature": "s2"},
    ]
    found = _openai(*([_delta({"thinking_blocks": [each]}) for each in pieces] + [_call()]))
    assert found["thinking_blocks"] == [{"type": "thinking", "thinking": "ab", "signature": "s1"}, pieces[2]]


def test_more_than_the_bound_is_not_sent_back_in_part():
    big = "x" * 1000
    events = [_delta({"reasoning": big}) for _ in range(33)] + [_call(extra_content=_SIGNED)]
    found = _openai(*events)
    assert "reasoning" not in found and "extra_content" not in found["tool_calls"][0]
    found = _openai(*events[1:])
    assert found["reasoning"] == big * 32


def test_thinking_blocks_of_anthropic_go_back_before_their_call():
    events = [
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Let "}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "me"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "sig"}},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "redacted_thinking", "data": "d"}},
        {"type": "content_block_start", "index": 2, "content_block": {"type": "text", "text": "ok"}},
        {
            "type": "content_block_start",
            "index": 3,
            "content_block": {"type": "tool_use", "id": "t1", "name": "one", "input": {}, "caller": {"type": "direct"}},
        },
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
    ]
    content = [
        {"type": "thinking", "thinking": "Let me", "signature": "sig"},
        {"type": "redacted_thinking", "data": "d"},
        {"type": "text", "text": "ok"},
        {"type": "tool_use", "id": "t1", "name": "one", "input": {}, "caller": {"type": "direct"}},
    ]
    found = _sent_back(Anthropic(), *events)["content"]
    assert found[:3] == content[:3]
    assert {name: found[3][name] for name in content[3]} == content[3]


def test_a_value_that_comes_whole_is_sent_back_as_it_came():
    random.seed(42)
    for _ in range(200):
        value = {"a": _any_value(0)}
        holder = {}
        Kept().add(holder, value)
        assert plain(holder) == {name: value[name] for name in value if value[name] is not None}


def _any_value(depth):
    kind = random.randrange(6 if depth < 3 else 4)
    if kind < 2:
        return "".join(
            [random.choice(["a", '"', "\\", "é", "你", "😀", "\n", "\x00"]) for _ in range(random.randrange(9))]
        )
    if kind == 2:
        return random.randrange(-9, 1 << 20)
    if kind == 3:
        return random.choice([True, False, "x"])
    if kind == 4:
        return [_any_value(depth + 1) for _ in range(random.randrange(4))]
    return {name: _any_value(depth + 1) for name in ("b", "text", "type")[: random.randrange(4)]}
