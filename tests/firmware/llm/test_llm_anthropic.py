"""The Anthropic API: requests with their marks for the cache, replies from their events."""

import json

from engram.llm.anthropic import Anthropic
from engram.llm.types import Call, Request, assistant, result, user

_MARK = {"type": "ephemeral"}
_CALL = Call("toolu_1", "memory_search", '{"tags": ["café"]}')
_OTHER = Call("toolu_2", "memory_list", "")


def _body(messages, system=("You are Engram.", "Tags: a b"), tools=(), max_tokens=100):
    request = Request(lambda: iter(system), lambda: iter(messages), tools, max_tokens, "")
    return json.loads(b"".join(bytes(piece) for piece in Anthropic().body(request, "some-model")))


def _text(text, **more):
    return dict(more, type="text", text=text)


def _feed(*events):
    draft = Anthropic().draft()
    return [draft.feed(json.dumps(event).encode()) for event in events], draft


def _start(index, **block):
    return {"type": "content_block_start", "index": index, "content_block": block}


def _delta(index, kind, **fields):
    return {"type": "content_block_delta", "index": index, "delta": dict(fields, type=kind)}


def _stop(reason, output=5):
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": output}}


def test_the_path_fits_a_base_with_and_without_its_version():
    assert Anthropic().path("") == "/v1/messages"
    assert Anthropic().path("/proxy") == "/v1/messages"
    assert Anthropic().path("/proxy/v1") == "/messages"


def test_a_key_is_sent_only_if_there_is_one():
    assert ("x-api-key", "k") in Anthropic().headers("k")
    assert "x-api-key" not in dict(Anthropic().headers(""))
    assert ("anthropic-version", "2023-06-01") in Anthropic().headers("")


def test_the_last_system_block_is_marked():
    found = _body([user("hi")], system=("a", "", "b", " \n"))["system"]
    assert found == [_text("a"), _text("b", cache_control=_MARK)]


def test_the_last_message_but_one_is_marked():
    messages = [user("a"), assistant("b"), user("c"), assistant("d"), user("e")]
    found = _body(messages)["messages"]
    assert [message["role"] for message in found] == ["user", "assistant"] * 2 + ["user"]
    marked = ["cache_control" in message["content"][-1] for message in found]
    assert marked == [False, False, False, True, False]


def test_results_and_the_text_after_them_are_one_message_of_the_user():
    messages = [user("a"), assistant("b", (_CALL, _OTHER))]
    messages.extend((result(_CALL, "1"), result(_OTHER, ""), user("c"), user("d")))
    found = _body(messages)["messages"]
    assert found[1]["content"] == [
        _text("b"),
        {"type": "tool_use", "id": "toolu_1", "name": "memory_search", "input": {"tags": ["café"]}},
        {"type": "tool_use", "id": "toolu_2", "name": "memory_list", "input": {}, "cache_control": _MARK},
    ]
    assert found[2] == {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": "1"},
            {"type": "tool_result", "tool_use_id": "toolu_2", "content": ""},
            _text("c"),
            _text("d"),
        ],
    }


def test_a_stream_of_text_and_calls_is_put_together():
    usage = {"input_tokens": 10, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 5}
    pieces, draft = _feed(
        {"type": "message_start", "message": {"usage": usage}},
        _start(0, type="thinking", thinking=""),
        _delta(0, "thinking_delta", thinking="hm"),
        _delta(0, "signature_delta", signature="x"),
        {"type": "content_block_stop", "index": 0},
        {"type": "ping"},
        _start(1, type="text", text=""),
        _delta(1, "text_delta", text="Grüß "),
        _delta(1, "text_delta", text="你😀"),
        _start(2, type="tool_use", id="a", name="one", input={}),
        _start(3, type="tool_use", id="b", name="two", input={}),
        _delta(2, "input_json_delta", partial_json=""),
        _delta(2, "input_json_delta", partial_json='{"x"'),
        _delta(2, "input_json_delta", partial_json=": 1}"),
        _stop("tool_use"),
        {"type": "message_stop"},
    )
    assert "".join(pieces) == "Grüß 你😀"
    assert draft.done
    assert draft.reply() == ("Grüß 你😀", (("a", "one", '{"x": 1}'), ("b", "two", "{}")), "tools", (115, 5, 100))


def test_stop_reasons_are_reported():
    for reason, stop in (
        ("end_turn", "end"),
        ("stop_sequence", "end"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "filter"),
    ):
        assert _feed(_stop(reason))[1].reply().stop == stop


def test_fields_of_wrong_types_are_ignored():
    for odd in (None, 1, "x", [], {}, [1], ["x"], [None], {"type": 1}, True, 1.5):
        for event in (
            {"type": odd},
            {"type": "message_start", "message": odd},
            {"type": "message_delta", "delta": odd, "usage": odd},
            {"type": "message_start", "message": {"usage": {"input_tokens": odd, "cache_read_input_tokens": odd}}},
            _start(odd, type=odd),
            _start(odd, type="text", text=odd),
            _start(odd, type="tool_use", id=odd, name=odd, input=odd),
            _delta(odd, odd),
            _delta(odd, "text_delta", text=odd),
            _delta(odd, "input_json_delta", partial_json=odd),
            {"type": "content_block_start", "content_block": odd},
        ):
            _, draft = _feed(event)
            draft.reply()
