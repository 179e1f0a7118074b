"""Requests that fit a service: one more try without what it refuses by name, which is remembered."""

import json

from engram.errors import ModelRefused
from engram.learning.operations import schema
from engram.llm.anthropic import Anthropic
from engram.llm.model import Model
from engram.llm.openai import OpenAI
from engram.llm.refusal import refused_name
from engram.llm.types import Call, Request, Tool, assistant, result, user
from engram.net.http import Client
from llm_peer import Peer, answer, stream
from support import raises

_TOOL = Tool("memory_list", "Lists all", '{"type":"object","properties":{}}')
_WHOLE = stream(('{"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}', "[DONE]"))
_MESSAGE = ('{"type":"content_block_delta","delta":{"type":"text_delta","text":"hi"}}', '{"type":"message_stop"}')


def _request(with_calls=False, model=""):
    call = Call("call:1", "memory_list", "{}")
    call.kept = (("extra_content", {"s": 1}),)
    reply = assistant("", (call,), (("reasoning_content", "hm"),))
    messages = (user("hello"), reply, result(call, "{}")) if with_calls else (user("hello"),)
    return Request(lambda: iter(("You are Engram.",)), lambda: iter(messages), (_TOOL,), 100, model)


def _refusal(words, status="400 Bad Request"):
    return [answer(json.dumps({"error": {"message": words}}).encode(), status)]


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


def test_a_refusal_names_what_a_request_may_do_without():
    for words, name in (
        ("Unknown field: stream_options", "stream_options"),
        ("stream: Your organization must be verified to stream this model.", "stream"),
        ("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "max_tokens"),
        ("registry.ollama.ai/library/gemma:2b does not support tools", "tools"),
        ("tools param requires --jinja flag", "tools"),
        ('"auto" tool choice requires --enable-auto-tool-choice', "tools"),
        ("Function calling is not enabled for models/gemma-3", "tools"),
        ("System role not supported", "system"),
        # What names nothing of ours, or tells of another fault.
        ("temperature must be below 1", ""),
        ("the retools_x is odd", ""),
        ("", ""),
        ("error parsing tool call: raw='{\"a\":', err=unexpected end of JSON input", ""),
        ("Failed to call a function. See 'failed_generation'; tools unsupported", ""),
        ("the stream: broke off", ""),
    ):
        assert refused_name(words, _request(), OpenAI.optional, ()) == name, words
    for words, name in (
        ("Tool call id was call:1 but must be a-z, A-Z, 0-9, with a length of 9.", "ids"),
        ("content: Input should be a valid string", "content"),
        ("property 'reasoning_content' is unsupported", "reasoning_content"),
        ("Function call is missing a thought_signature in functionCall parts.", ""),
    ):
        assert refused_name(words, _request(True), OpenAI.optional, ()) == name, words


async def test_a_model_that_refuses_tools_is_asked_without_them():
    async with _Way(_refusal("tools param requires --jinja flag", "500 Internal Server Error")) as way:
        assert [("tools" in body) for body in await way.ask(_request())] == [True, False]
        assert [("tools" in body) for body in await way.ask(_request())] == [False]
        assert "requires --jinja" in way.model.no_tools and way.notes == []


async def test_a_model_is_asked_without_tools_after_two_orders_without_a_call_for_twenty_turns():
    async with _Way(*[[_WHOLE]] * 20) as way:
        model, sent = way.model, []
        for is_denied in [True] * 2 + [False] * 20 + [True] + [False] * 2:
            sent += ["tools" in body for body in await way.ask(_request())]
            if is_denied:
                model.note_no_call()
        assert sent == [True] * 2 + [False] * 20 + [True] + [False] * 2
        model.note_call()
        for _ in range(9):
            model.note_no_call()
        assert not model.no_tools


async def test_what_was_refused_is_remembered_for_its_model_alone():
    async with _Way(_refusal("stream_options?"), [_WHOLE], _refusal("max_tokens?")) as way:
        assert len(await way.ask(_request())) == 2
        assert len(await way.ask(_request(model="other"))) == 2
        ours, theirs = await way.ask(_request()), await way.ask(_request(model="other"))
    assert ("stream_options" in ours[0], "max_tokens" in ours[0]) == (False, True)
    assert ("stream_options" in theirs[0], "max_tokens" in theirs[0]) == (True, False)


async def test_what_did_not_help_is_tried_again_the_next_time():
    async with _Way(*[_refusal("tools: not supported")] * 2) as way:
        with raises(ModelRefused) as caught:
            await way.ask(_request())
        assert "tools: not supported" in str(caught.error)
        assert "tools" in (await way.ask(_request()))[0] and way.model.no_tools == ""


async def test_an_answer_with_a_schema_is_asked_for_in_the_form_that_the_service_takes():
    asked = _request()
    asked.schema = schema("add event update forget note gist line")
    wanted = {"name": "answer", "strict": True, "schema": json.loads(asked.schema)}
    forms = ({"type": "json_schema", "json_schema": wanted}, {"type": "json_object"}, None)
    for refusals, took in (
        ((), [(0, 0)]),
        (("response_format: unavailable",), [(0, 0), (0, 1)]),
        (("Failed to parse the grammar", "response_format?"), [(0, 0), (0, 1), (0, 2)]),
        (("'temperature' does not support 0 with this model",), [(0, 0), (None, 0)]),
        (("The service answered with status 400.",) * 3, [(0, 0), (0, 1), (0, 2), (None, 2)]),
    ):
        async with _Way(*[_refusal(words) for words in refusals]) as way:
            for wanted in (took, took[-1:]):  # and remembered
                sent = [(body.get("temperature"), body.get("response_format")) for body in await way.ask(asked)]
                assert sent == [(heat, forms[form]) for heat, form in wanted], refusals
            assert not {"temperature", "response_format"} & set((await way.ask(_request()))[0])
    async with _Way(adapter=Anthropic(), whole=stream(_MESSAGE)) as way:
        assert [body.get("temperature") for body in await way.ask(asked)] == [0]
    for words, status in (("internal error", 500), ("no such model", 404), ("exceeds the context size", 400)):
        assert refused_name(words, asked, OpenAI.optional, (), status) == "", words
    assert refused_name("Failed to parse grammar", asked, OpenAI.optional, (), 500) == "json_schema"


async def test_an_answer_that_does_not_stream_may_take_as_long_as_a_whole_one():
    whole = answer(b'{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}')
    async with _Way(_refusal("'stream' is not supported"), [300, whole]) as way:
        way.model.first_ms = 100
        await way.ask(_request())
        assert way.reply.text == "hi"


async def test_anthropics_marks_for_the_cache_are_left_out_where_they_are_refused():
    refusal = _refusal("system.0.cache_control: Extra inputs are not permitted")
    async with _Way(refusal, adapter=Anthropic(), whole=stream(_MESSAGE)) as way:
        bodies = await way.ask(_request())
    assert [b"cache_control" in json.dumps(body).encode() for body in bodies] == [True, False]
    assert bodies[1]["max_tokens"] == 100
