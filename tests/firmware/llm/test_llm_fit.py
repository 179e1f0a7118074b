"""Requests that fit a service: one more try without what it refuses by name, which is remembered."""

import json

from engram.errors import ModelError, ModelRefused
from engram.llm.anthropic import Anthropic
from engram.llm.model import Model
from engram.llm.openai import OpenAI
from engram.llm.types import Call, Request, Tool, assistant, result, user
from engram.net.http import Client
from llm_peer import Peer, answer, stream
from support import raises

_TOOL = Tool("memory_list", "Lists all", '{"type":"object","properties":{}}')
_WHOLE = stream(('{"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}', "[DONE]"))
_MESSAGE = ('{"type":"content_block_delta","delta":{"type":"text_delta","text":"hi"}}', '{"type":"message_stop"}')


def _request(with_calls=False, tools=(_TOOL,), model=""):
    call = Call("call:1", "memory_list", "{}")
    call.kept = (("extra_content", {"s": 1}),)
    reply = assistant("", (call,), (("reasoning_content", "hm"),))
    messages = (user("hello"), reply, result(call, "{}")) if with_calls else (user("hello"),)
    return Request(lambda: iter(("You are Engram.",)), lambda: iter(messages), tools, 100, model)


def _refusal(words, status="400 Bad Request", **fields):
    return [answer(json.dumps({"error": dict(fields, message=words)}).encode(), status)]


class _Way:
    """A model before a service that answers so; `notes` is what the person is told."""

    def __init__(self, *answers, adapter=None, whole=_WHOLE):
        self.peer = Peer(*(list(answers) + [[whole]] * 9))
        self.adapter = adapter or OpenAI()
        self.notes = []

    async def __aenter__(self):
        await self.peer.__aenter__()
        self.model = Model(Client(self.peer.url + "/v1", stall_ms=60_000), self.adapter, "some-model", "", 0)
        return self

    async def __aexit__(self, kind, error, trace):
        await self.peer.__aexit__(kind, error, trace)

    async def ask(self, request):
        """The bodies of the requests that one answer took."""
        first = len(self.peer.requests)
        self.reply = await self.model.stream(request, self._ignore, self._note)
        return [json.loads(body) for _, body in self.peer.requests[first:]]

    async def _ignore(self, piece):
        pass

    async def _note(self, problem, wait_ms):
        self.notes.append((problem, wait_ms))


async def _second(words, with_calls=False, param=None):
    """The request after a refusal with these words."""
    async with _Way(_refusal(words, **({"param": param} if param else {}))) as way:
        found = await way.ask(_request(with_calls))
    assert len(found) == 2, words
    return found[1]


async def test_a_field_that_is_refused_by_name_is_left_out():
    for words, param in (
        ("Unknown field: stream_options", None),
        ("Extra inputs are not permitted", "stream_options"),
        ("body.stream_options.include_usage: unexpected", None),
    ):
        found = await _second(words, param=param)
        assert "stream_options" not in found and found["stream"] is True, words
    found = await _second("Your organization must be verified to stream this model.", param="stream")
    assert "stream" not in found and "stream_options" not in found


async def test_the_bound_of_a_reply_is_sent_under_the_name_that_the_service_knows():
    words = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
    found = await _second(words)
    assert (found.get("max_tokens"), found["max_completion_tokens"]) == (None, 100)
    async with _Way(_refusal(words), _refusal("max_completion_tokens: unknown")) as way:
        found = await way.ask(_request())
    assert [found[2].get(name) for name in ("max_tokens", "max_completion_tokens")] == [None, None]


async def test_details_of_validators_name_a_field():
    detail = [
        {"type": "extra_forbidden", "loc": ["body", "stream_options"], "msg": "Extra inputs", "input": {"tools": 1}}
    ]
    async with _Way([answer(json.dumps({"detail": detail}).encode(), "422 Unprocessable")]) as way:
        found = await way.ask(_request())
    assert "stream_options" not in found[1] and "tools" in found[1]


async def test_a_model_without_tools_is_asked_without_them_and_the_person_is_told_once():
    for words, status in (
        ("registry.ollama.ai/library/gemma:2b does not support tools", "400 Bad Request"),
        ("No endpoints found that support tool use.", "404 Not Found"),
        ("tools param requires --jinja flag", "500 Internal Server Error"),
        ('"auto" tool choice requires --enable-auto-tool-choice', "400 Bad Request"),
        ("Function calling is not enabled for models/gemma-3", "400 Bad Request"),
        ("`tool calling` is not supported with this model", "400 Bad Request"),
    ):
        async with _Way(_refusal(words, status)) as way:
            assert [("tools" in body) for body in await way.ask(_request())] == [True, False], words
            assert [("tools" in body) for body in await way.ask(_request())] == [False]
            ((note, wait_ms),) = way.notes
            assert (wait_ms, "llm.model" in note, words[:30] in note) == (0, True, True), note


async def test_what_was_refused_is_remembered_for_its_model_alone():
    async with _Way(_refusal("stream_options?"), [_WHOLE], _refusal("max_tokens?")) as way:
        assert len(await way.ask(_request())) == 2
        assert len(await way.ask(_request(model="other"))) == 2
        ours, theirs = await way.ask(_request()), await way.ask(_request(model="other"))
    assert ("stream_options" in ours[0], "max_tokens" in ours[0]) == (False, True)
    assert ("stream_options" in theirs[0], "max_tokens" in theirs[0]) == (True, False)


async def test_several_refusals_are_answered_one_after_the_other():
    refusals = [_refusal(words) for words in ("no tools", "no stream_options", "max_tokens", "max_completion_tokens")]
    async with _Way(*refusals) as way:
        found = (await way.ask(_request()))[-1]
    assert sorted(found) == ["messages", "model", "stream"]


async def test_what_did_not_help_is_tried_again_the_next_time():
    async with _Way(*[_refusal("tools: not supported")] * 2) as way:
        with raises(ModelRefused) as caught:
            await way.ask(_request())
        assert "tools: not supported" in str(caught.error)
        assert "tools" in (await way.ask(_request()))[0] and way.notes == []


async def test_a_refusal_that_names_nothing_of_ours_is_no_second_request():
    for words in ("temperature must be below 1", "unknown", "the retools_x is odd", "max_tokens_to_sample?", ""):
        async with _Way(_refusal(words)) as way:
            with raises(ModelRefused):
                await way.ask(_request())
        assert len(way.peer.requests) == 1, words


async def test_a_key_that_is_refused_is_no_matter_of_fields():
    async with _Way(_refusal("no tools for this key", "401 Unauthorized")) as way:
        with raises(ModelRefused):
            await way.ask(_request())
    assert len(way.peer.requests) == 1


async def test_a_fault_in_one_answer_turns_nothing_off():
    for words, status in (
        ("error parsing tool call: raw='{\"a\":', err=unexpected end of JSON input", "500 Internal Server Error"),
        ("tool call validation failed: attempted to call tool 'x'", "400 Bad Request"),
        ("Failed to call a function. See 'failed_generation'; tools unsupported", "400 Bad Request"),
        ("the tools do not fit: not supported beyond a context of 4096", "400 Bad Request"),
        ("the stream: broke off", "500 Internal Server Error"),
    ):
        async with _Way(_refusal(words, status)) as way:
            with raises(ModelError):
                await way.ask(_request())
            (body,) = await way.ask(_request())
        assert "tools" in body and body["stream"] is True, words
    async with _Way(_refusal("error parsing tool call", "500 Internal Server Error")) as way:
        way.model = Model(Client(way.peer.url + "/v1", stall_ms=60_000), OpenAI(), "some-model", "", 1)
        way.model.first_wait_ms = 2
        first, second = await way.ask(_request())
    assert first == second


async def test_ids_go_back_as_they_came_and_as_nine_letters_where_only_those_are_taken():
    async with _Way(_refusal("Tool call id was call:1 but must be a-z, A-Z, 0-9, with a length of 9.")) as way:
        bodies = await way.ask(_request(True))
    found = [(body["messages"][2]["tool_calls"][0]["id"], body["messages"][3]["tool_call_id"]) for body in bodies]
    assert found[0] == ("call:1", "call:1")
    assert found[1][0] == found[1][1] and _is_nine(found[1][0])


async def test_a_call_without_an_id_gets_nine_letters_and_digits():
    delta = {"tool_calls": [{"index": 0, "function": {"name": "memory_list", "arguments": "{}"}}]}
    draft = OpenAI().draft()
    draft.feed(json.dumps({"choices": [{"delta": delta, "finish_reason": "tool_calls"}]}).encode())
    (call,) = draft.reply().calls
    assert _is_nine(call.id)


def _is_nine(ref):
    return len(ref) == 9 and all(mark.isdigit() or mark.isalpha() for mark in ref)


async def test_no_text_is_an_empty_one_where_null_is_refused():
    found = await _second("content: Input should be a valid string", True)
    assert found["messages"][2]["content"] == ""


async def test_the_system_text_is_told_by_the_person_where_its_role_is_refused():
    for words in ("Developer instruction is not enabled for models/gemma-3", "System role not supported"):
        found = await _second(words)
        assert found["messages"] == [{"role": "user", "content": "You are Engram.\n\nhello"}], words


async def test_a_field_that_was_handed_out_goes_back_no_more_where_it_is_refused():
    found = (await _second("property 'reasoning_content' is unsupported", True))["messages"][2]
    assert "reasoning_content" not in found and found["tool_calls"][0]["extra_content"] == {"s": 1}
    found = (await _second("messages.2.tool_calls.0.extra_content: Extra inputs", True))["messages"][2]
    assert "extra_content" not in found["tool_calls"][0] and found["reasoning_content"] == "hm"


async def test_tools_that_were_called_are_not_left_out():
    async with _Way(_refusal("Function call is missing a thought_signature in functionCall parts.")) as way:
        with raises(ModelRefused):
            await way.ask(_request(True))
    assert len(way.peer.requests) == 1


async def test_anthropics_marks_for_the_cache_are_left_out_where_they_are_refused():
    refusal = _refusal("system.0.cache_control: Extra inputs are not permitted")
    async with _Way(refusal, adapter=Anthropic(), whole=stream(_MESSAGE)) as way:
        bodies = await way.ask(_request())
    assert [b"cache_control" in json.dumps(body).encode() for body in bodies] == [True, False]
    assert bodies[1]["max_tokens"] == 100


def test_a_history_that_begins_with_the_model_is_given_a_first_message():
    request = Request(lambda: (), lambda: (assistant("a"), user("b")), (), 100, "")
    body = json.loads(b"".join([bytes(piece) for piece in OpenAI().body(request, "m")]))
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]
