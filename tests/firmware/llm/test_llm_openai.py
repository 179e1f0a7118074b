"""The OpenAI API: requests as the service wants them, replies from what many services send."""

import json

from engram.errors import BadAnswer
from engram.llm.openai import OpenAI
from engram.llm.refusal import Refusal
from engram.llm.types import Call, Request, assistant, result, user
from support import raises

_CALL = Call("call_1", "memory_search", '{"tags": ["café"]}')
_OTHER = Call("call_2", "memory_list", "{}")


def _body(messages, system=("You are", "Engram."), tools=(), max_tokens=100):
    request = Request(lambda: iter(system), lambda: iter(messages), tools, max_tokens, "")
    pieces = [bytes(piece) for piece in OpenAI().body(request, "some-model")]
    return json.loads(b"".join(pieces))


def _feed(*events):
    draft = OpenAI().draft()
    data = [event if isinstance(event, bytes) else json.dumps(event).encode() for event in events]
    return [draft.feed(each) for each in data], draft


def _delta(delta, reason=None):
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


def _call_piece(arguments, **fields):
    function = {"arguments": arguments}
    if "name" in fields:
        function["name"] = fields.pop("name")
    return _delta({"tool_calls": [dict(fields, function=function)]})


def _calls(*events):
    _, draft = _feed(*events, _delta({}, "tool_calls"))
    return draft.reply().calls


def test_neighbours_of_one_role_are_merged():
    messages = [user("a"), user("b"), assistant("c"), assistant("", (_CALL,)), user("")]
    assert _body(messages, system=())["messages"] == [
        {"role": "user", "content": "a\n\nb"},
        {
            "role": "assistant",
            "content": "c",
            "tool_calls": [
                {
                    "id": "call_1",
                    "type": "function",
                    "function": {"name": "memory_search", "arguments": '{"tags": ["café"]}'},
                }
            ],
        },
    ]


def test_each_result_of_a_tool_is_a_message():
    messages = [user("a"), assistant("", (_CALL, _OTHER)), result(_CALL, "1"), result(_OTHER, ""), user("b")]
    found = _body(messages, system=())["messages"]
    assert found[1]["content"] is None
    assert [call["id"] for call in found[1]["tool_calls"]] == ["call_1", "call_2"]
    assert found[2:] == [
        {"role": "tool", "tool_call_id": "call_1", "content": "1"},
        {"role": "tool", "tool_call_id": "call_2", "content": ""},
        {"role": "user", "content": "b"},
    ]


def test_text_comes_out_as_it_comes_in():
    pieces, draft = _feed(
        _delta({"role": "assistant", "content": ""}),
        _delta({"content": "Grüß "}),
        _delta({"content": None, "reasoning": "hm"}),
        _delta({"content": "你😀"}),
        _delta({}, "stop"),
        b"[DONE]",
    )
    assert pieces == ["", "Grüß ", "", "你😀", "", ""]
    assert draft.reply() == ("Grüß 你😀", (), "end", (-1, -1, -1))
    assert draft.done


def test_the_usage_comes_with_no_choices():
    usage = {"prompt_tokens": 10, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 8}}
    _, draft = _feed(_delta({"content": "x"}, "stop"), {"choices": [], "usage": usage})
    assert draft.reply().usage == (10, 3, 8)


def test_a_call_is_put_together_from_its_fragments():
    found = _calls(
        _call_piece("", index=0, id="a", name="one"),
        _call_piece('{"x":', index=0),
        _call_piece("", index=1, id="b", name="two"),
        _call_piece("1}", index=0),
        _call_piece('{"y":"é"}', index=1, id="", name=None),
    )
    assert found == (("a", "one", '{"x":1}'), ("b", "two", '{"y":"é"}'))
    older = ({"name": "one", "arguments": '{"x"'}, {"arguments": ":1}"})
    assert _calls(*(_delta({"function_call": each}) for each in older))[0][1:] == ("one", '{"x":1}')


def test_a_name_or_an_id_in_each_piece_begins_no_call():
    for more in ({"name": "one", "id": "a"}, {"name": "one"}, {"id": "a"}, {"id": "b"}, {"name": "one", "id": ""}):
        for index in ({"index": 0}, {"index": "0"}, {}):
            pieces = [_call_piece(each, **more, **index) for each in (':{"y"', ":1}}", "")]
            found = _calls(_call_piece('{"x"', id="a", name="one", **index), *pieces)
            assert found == (("a", "one", '{"x":{"y":1}}'),), (more, index)


def test_several_calls_may_have_one_index_and_one_id():
    for fields in ({"index": 0, "id": "a"}, {"index": 0}, {"id": "a"}, {}):
        found = _calls(
            _call_piece('{"x":1', name="one", **fields),
            _call_piece("}", **fields),
            _call_piece('{"x":2}', name="one", **fields),
            _call_piece("{}", name="two", **fields),
        )
        assert [call[1:] for call in found] == [("one", '{"x":1}'), ("one", '{"x":2}'), ("two", "{}")], fields
        assert len({call.id for call in found}) == 3


def test_a_refusal_and_a_completion_are_text():
    pieces, _ = _feed(_delta({"content": None, "refusal": "I can"}), _delta({"refusal": "not."}))
    assert pieces == ["I can", "not."]
    assert _feed({"choices": [{"index": 0, "text": "Hi."}]})[0] == ["Hi."]


def test_content_in_parts_is_text_without_its_thoughts():
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    pieces, _ = _feed(_delta({"content": [thought, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}))
    assert pieces == ["ab"]


def test_stop_reasons_are_reported():
    for reason, stop in (("stop", "end"), ("length", "length"), ("content_filter", "filter"), ("odd", "end")):
        _, draft = _feed(_delta({"content": "x"}, reason))
        assert draft.reply().stop == stop
    _, draft = _feed(_call_piece("{}", index=0, id="a", name="one"), _delta({}, "stop"))
    assert draft.reply().stop == "tools"


def test_a_reply_that_was_cut_has_no_calls():
    _, draft = _feed(_call_piece('{"x', index=0, id="a", name="one"), _delta({}, "length"))
    assert draft.reply() == ("", (), "length", (-1, -1, -1))


def test_a_whole_answer_is_taken():
    call = {"id": "a", "type": "function", "function": {"name": "one", "arguments": "{}"}}
    message = {"role": "assistant", "content": "hi", "tool_calls": [call, dict(call, id="b")]}
    usage = {"prompt_tokens": 4, "completion_tokens": 2}
    pieces, draft = _feed({"choices": [{"message": message, "finish_reason": "tool_calls"}], "usage": usage})
    assert pieces == ["hi"]
    assert draft.reply() == ("hi", (("a", "one", "{}"), ("b", "one", "{}")), "tools", (4, 2, -1))


def test_text_beyond_its_bound_is_cut_between_characters():
    pieces, draft = _feed(_delta({"content": "x" * 16382}), _delta({"content": "你好"}))
    assert (len(pieces[0]), pieces[1], draft.done) == (16382, "", True)
    assert draft.reply().stop == "length"


def test_more_calls_than_the_bound_are_garbled():
    with raises(BadAnswer):
        _calls(*(_call_piece("{}", index=index, id=str(index), name="x") for index in range(9)))


def test_arguments_beyond_their_bound_are_garbled():
    with raises(BadAnswer):
        _calls(*(_call_piece("x" * 1000, index=0, id="a", name="x") for _ in range(9)))


def test_an_error_in_the_stream_has_a_status():
    for error, status in (
        ({"message": "m", "type": "server_error"}, 500),
        ({"message": "m", "type": "requests", "code": "rate_limit_exceeded"}, 429),
        ({"message": "m", "code": 502}, 502),
        ({"message": "m", "code": "insufficient_quota"}, 402),
        ({"message": "m"}, 400),
        ("m", 400),
    ):
        with raises(Refusal) as caught:
            _feed({"error": error})
        assert (caught.error.status, caught.error.words) == (status, "m"), error


def test_what_is_no_json_object_is_garbled():
    for data in (b"{", b'{"choices": [', b'{"a":1}}'):
        with raises(BadAnswer):
            _feed(data)


def test_words_that_are_no_object_are_signs_of_life():
    for data in (b"", b"ping", b"[]", b"1", b"null", b"<html>", b'"x"', b"[ERROR]"):
        pieces, draft = _feed(data, _delta({"content": "x"}, "stop"))
        assert (pieces, draft.stop) == (["", "x"], "end")


def test_fields_of_wrong_types_are_ignored():
    for odd in (None, 1, "x", [], {}, [1], ["x"], [[]], [None], {"content": 1}, True, 1.5):
        for event in (
            {"choices": odd, "usage": odd},
            {"choices": [odd]},
            {"choices": [{"delta": odd, "message": odd, "finish_reason": odd}]},
            _delta({"content": odd, "tool_calls": odd}),
            {"choices": [], "usage": {"prompt_tokens": odd, "prompt_tokens_details": odd}},
            _delta({"tool_calls": [{"index": odd, "id": odd, "function": odd}]}),
            _delta({"tool_calls": [{"index": 0, "id": "a", "function": {"name": odd, "arguments": odd}}]}),
        ):
            _, draft = _feed(event)
            draft.reply()
