"""A model behind the client: replies, retries, and which error leaves for what goes wrong."""

import asyncio
import json

from engram.errors import ModelError, ModelRefused
from engram.llm.model import Model
from engram.llm.openai import OpenAI
from engram.llm.types import Request, user
from engram.net.http import Client
from engram.net.response import error_text
from llm_peer import CLOSE, GONE, Peer, answer, stream
from support import raises, wait_until

_KEY = "sk-0123456789"
_LONG = 60_000
"""Milliseconds: no pause of the process is taken for the silence of a service."""

_HI = '{"choices":[{"delta":{"content":"hi"}}]}'
_THERE = '{"choices":[{"delta":{"content":" there"},"finish_reason":"stop"}]}'
_WHOLE = stream((_HI, _THERE, "[DONE]"))
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
_CUT = _HEAD + b"data: " + _HI.encode() + b"\n\n"
_BUSY = answer(b'{"error":{"message":"slow down"}}', "429 Too Many Requests")
_REQUEST = Request(lambda: iter(("You are Engram.",)), lambda: iter((user("hello"),)), (), 100, "")


class _Person:
    """Keeps what is passed on."""

    def __init__(self):
        self.text = []
        self.waits = []

    async def take(self, piece):
        self.text.append(piece)

    async def wait(self, problem, wait_ms):
        self.waits.append((problem, wait_ms))


def _model(peer, **options):
    client = Client(peer.url + "/v1", stall_ms=options.pop("stall_ms", _LONG))
    model = Model(client, OpenAI(), "some-model", _KEY, options.pop("retries", 3))
    for name, value in dict({"first_wait_ms": 4, "longest_wait_ms": 40}, **options).items():
        setattr(model, name, value)
    return model


async def _ask(*answers, **options):
    """(reply, person, peer) of one request that is answered so."""
    person = _Person()
    async with Peer(*answers) as peer:
        reply = await _model(peer, **options).stream(_REQUEST, person.take, person.wait)
    return reply, person, peer


async def _error(kind, *answers, **options):
    with raises(kind) as caught:
        await _ask(*answers, **options)
    assert _KEY not in str(caught.error)
    return str(caught.error)


def _refusal(status, words):
    return [answer(json.dumps({"error": {"message": words}}).encode(), status)]


async def test_text_is_passed_on_in_pieces_and_comes_whole_in_the_reply():
    reply, person, _ = await _ask([_WHOLE])
    assert person.text == ["hi", " there"]
    assert reply == ("hi there", (), "end", (-1, -1, -1))


async def test_a_request_goes_to_its_model_with_the_key():
    other = Request(_REQUEST.system, _REQUEST.messages, (), 100, "other-model")
    async with Peer([_WHOLE]) as peer:
        await _model(peer).stream(other, _Person().take)
    head, body = peer.requests[0]
    assert head.startswith(b"POST /v1/chat/completions HTTP/1.1\r\n")
    assert ("\r\nAuthorization: Bearer " + _KEY + "\r\n").encode() in head
    assert json.loads(body)["model"] == "other-model"


async def test_a_whole_answer_is_bounded_by_its_time():
    steps = [b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"] + [b" " * 1000, 5] * 100
    assert "llm.answer_seconds" in await _error(ModelError, steps, answer_ms=60)


async def test_an_answer_is_known_by_its_beginning_whatever_type_it_has():
    whole = b'{"choices":[{"message":{"content":"hi there"},"finish_reason":"stop"}]}'
    events = b"\xef\xbb\xbf\r\ndata: " + _HI.encode() + b"\n\ndata: " + _THERE.encode() + b"\n\n"
    for kind in ("", "Content-Type: application/json\r\n", "Content-Type: application/octet-stream\r\n"):
        for body in (whole, events):
            reply, _, _ = await _ask([answer(body, headers=kind)])
            assert reply.text == "hi there", (kind, body)


async def test_a_busy_service_is_tried_again():
    reply, person, peer = await _ask([_BUSY], [answer(b"", "503 Unavailable")], [_WHOLE])
    assert reply.text == "hi there"
    assert len(peer.requests) == 3
    assert [wait > 0 for _, wait in person.waits] == [True, True]
    assert "slow down" in person.waits[0][0]


async def test_a_wait_that_the_service_asks_for_is_honoured():
    busy = answer(b"", "429 Too Many Requests", "Retry-After: 1\r\n")
    _, person, _ = await _ask([busy], [_WHOLE], longest_wait_ms=1500)
    assert person.waits[0][1] >= 1000


async def test_a_wait_that_is_too_long_is_not_waited_for():
    busy = answer(b"", "429 Too Many Requests", "Retry-After: 3600\r\n")
    await _error(ModelError, [busy])


async def test_a_link_that_breaks_before_any_text_is_tried_again():
    reply, person, _ = await _ask([CLOSE], [_HEAD, CLOSE], [_WHOLE])
    assert (reply.text, len(person.waits)) == ("hi there", 2)


async def test_a_service_that_is_silent_until_its_first_word_is_waited_for():
    role = b'data: {"choices":[{"delta":{"role":"assistant","content":""}}]}\n\n'
    body = b"data: " + _HI.encode() + b"\n\ndata: " + _THERE.encode() + b"\n\n"
    for steps in ([300, _WHOLE], [_HEAD, 300, body, CLOSE], [_HEAD + b": here\n\n", 200, role, 200, body, CLOSE]):
        reply, person, _ = await _ask(steps, stall_ms=100)
        assert (reply.text, person.waits) == ("hi there", [])


async def test_a_service_that_stays_silent_is_given_up_once_with_the_setting_that_waits_longer():
    pings = [_HEAD] + [b": here\n\n", 20] * 50
    for steps in ([_LONG], [_HEAD, _LONG], pings):
        assert "llm.answer_seconds" in await _error(ModelError, steps, answer_ms=150)
        assert "llm.first_seconds" in await _error(ModelError, steps, [_WHOLE], first_ms=150)


async def test_a_service_that_loads_its_model_is_waited_for():
    loading = answer(b'{"error":{"message":"Loading model","code":503}}', "503 Service Unavailable")
    reply, person, _ = await _ask(*([[loading]] * 7 + [[_WHOLE]]), retries=0, longest_wait_ms=8)
    assert (reply.text, len(person.waits)) == ("hi there", 7)
    assert "Loading model" in await _error(ModelError, *([[loading]] * 99), retries=0, answer_ms=60)


async def test_after_text_was_passed_on_it_is_cut_and_never_tried_again():
    silent = [_CUT, _LONG]
    for steps in ([_CUT, CLOSE], silent, [stream((_HI,))], [stream((_HI, '{"error":{"code":503}}'))]):
        person = _Person()
        async with Peer(steps, [_WHOLE]) as peer:
            with raises(ModelError):
                await _model(peer, stall_ms=700 if steps is silent else _LONG).stream(_REQUEST, person.take)
        assert (person.text, len(peer.requests)) == (["hi"], 1)
    assert "too slow" in await _error(ModelError, [_CUT] + [b": here\n\n", 20] * 200, stall_ms=200)


async def test_the_services_own_words_are_shown_short_and_printable():
    problem = await _error(ModelRefused, _refusal("400 Bad Request", "a\x1b[2J\r\n\x9bb" + "é" * 250))
    assert "a\ufffd[2J\ufffd \ufffdb" in problem
    assert problem.endswith("é)")
    assert problem.count("é") <= 200
    assert not [code for code in problem.encode() if code < 32]


async def test_what_a_service_refuses_is_told_with_what_to_do():
    for steps, words in (
        (_refusal("401 Unauthorized", "Incorrect key " + _KEY), "llm.key"),
        (_refusal("403 Forbidden", "no"), "llm.key"),
        (_refusal("404 Not Found", "no"), "there is no model some-model at http://127.0.0.1"),
        (_refusal("400 Bad Request", "This model's maximum context length is 8192 tokens"), "too long"),
        (_refusal("400 Bad Request", "key " + _KEY + " is bad"), "key *** is bad"),
        ([answer(b"<html>", "413 Content Too Large")], "too long"),
        ([answer(b'{"error":{"message":"a","code":"insufficient_quota"}}', "429 Too Many Requests")], "credit"),
        ([answer(b"", "307 Temporary Redirect", "Location: http://127.0.0.1:9/\r\n")], "redirects"),
    ):
        assert words in await _error(ModelRefused, steps)
    for body in (b"<html><body>x", b"\xff\xfe", b"[]", b"{}", b'{"error":{"message":7}}', b'{"error":['):
        await _error(ModelRefused, [answer(body, "400 Bad Request")])


async def test_what_is_no_answer_of_a_model_says_so():
    page = answer(b"\n<html>", headers="Content-Type: text/event-stream\r\n")
    for steps in (page, b"SSH-2.0-x\r\n", stream(("{",))):
        assert "llm.url" in await _error(ModelError, [steps])


def test_words_are_found_in_objects_lists_and_details():
    for body, words in (
        (b'"a bare string"', "a bare string"),
        (b'[{"error":{"code":400,"message":"no signature","status":"INVALID_ARGUMENT"}}]', "no signature"),
        (b'{"detail":[{"loc":["body","tools",0],"msg":"Extra inputs"},{"msg":"b"}]}', "tools.0: Extra inputs; b"),
        (b'{"error":{"message":"bad value","param":"top_k"}}', "top_k: bad value"),
        (b'{"error":{"message":"top_k is odd","param":"top_k"}}', "top_k is odd"),
        (b'{"errors":[{"message":"first"},"second"]}', "first; second"),
        (b'{"base_resp":{"status_code":1004,"status_msg":"login fail"}}', "login fail"),
        (b'{"error":{"message":"Provider","metadata":{"raw":"{\\"error\\":\\"no tools\\"}"}}}', "Provider (no tools)"),
        (b'{"code":1210}', '{"code":1210}'),
    ):
        assert error_text(body) == words


async def test_a_refusal_in_the_stream_is_judged_like_a_status():
    await _error(ModelRefused, [stream(('{"error":{"message":"' + _KEY + '"}}',))])
    reply, _, _ = await _ask([stream(('{"error":{"message":"x","type":"server_error"}}',))], [_WHOLE])
    assert reply.text == "hi there"


async def test_a_cancelled_request_is_closed_at_once_and_not_sent_again_and_the_model_stays_usable():
    for steps in ([GONE], [_HEAD, GONE], [_CUT, GONE], [_BUSY]):
        async with Peer(steps, [_WHOLE]) as peer:
            model, person = _model(peer, first_wait_ms=_LONG, longest_wait_ms=_LONG), _Person()
            task = asyncio.create_task(model.stream(_REQUEST, person.take, person.wait))
            signs = person.text if steps[0] == _CUT else person.waits if steps[0] == _BUSY else peer.requests
            await wait_until("the request", lambda: signs)  # noqa: B023
            task.cancel()
            with raises(asyncio.CancelledError):
                await task
            await wait_until("the end of the link", lambda: peer.ended or steps[0] is _BUSY)  # noqa: B023
            assert model.work == "thinking" and len(peer.requests) == 1
            assert (await model.stream(_REQUEST, _Person().take)).text == "hi there"
