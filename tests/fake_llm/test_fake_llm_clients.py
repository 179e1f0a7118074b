"""The scripted server through the official clients of both APIs, and bare."""

import asyncio
import json
import threading
import urllib.request
from itertools import pairwise

import pytest

from fake_llm import ScriptedServer, serving
from fake_llm.rules import DEFAULT_REPLY
from fake_llm_clients import (
    APIS,
    anthropic_client,
    ask,
    exchange,
    openai_client,
    request_bytes,
    round_of,
    user,
)
from official_clients import anthropic, openai
from one_case import in_one_case

ODD_TEXT = 'Grüße, 你好 "quoted" \\ back\n\n  two  spaces 😀 \t end '
BOTH = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
EACH = pytest.mark.parametrize("api", APIS)


@EACH
@BOTH
def test_a_reply_arrives_unchanged(api, stream):
    with serving([{"reply": ODD_TEXT}]) as server:
        assert ask(server.url, api, "hello", stream=stream).text == ODD_TEXT


@EACH
@BOTH
def test_a_reply_escaped_to_ascii_arrives_unchanged(api, stream):
    with serving([{"reply": ODD_TEXT, "ascii": True}]) as server:
        assert ask(server.url, api, "hello", stream=stream).text == ODD_TEXT


@EACH
def test_escaping_to_ascii_leaves_no_other_byte_on_the_wire(api):
    with serving([{"reply": ODD_TEXT, "ascii": True}]) as server:
        assert exchange(server.url, request_bytes(api, headers="Connection: close\r\n")).isascii()


@EACH
@BOTH
def test_calls_arrive_with_id_name_and_arguments(api, stream):
    arguments = {"content": ODD_TEXT, "tags": ["a", "b"], "importance": 0.5}
    calls = [{"name": "memory_store", "arguments": arguments}, {"name": "memory_list", "id": "mine"}]
    with serving([{"reply": "One moment.", "calls": calls}]) as server:
        got = ask(server.url, api, "hello", stream=stream, tools=("memory_store", "memory_list"))
    assert got.text == "One moment."
    assert got.calls == [("call_1_1", "memory_store", arguments), ("mine", "memory_list", {})]


@EACH
@BOTH
@in_one_case(
    "stop, openai_name, anthropic_name",
    [
        ("end", "stop", "end_turn"),
        ("tools", "tool_calls", "tool_use"),
        ("length", "length", "max_tokens"),
        ("filter", "content_filter", "refusal"),
    ],
)
def test_each_stop_has_the_name_of_its_api(api, stream, stop, openai_name, anthropic_name):
    with serving([{"reply": "so", "stop": stop}]) as server:
        answered = exchange(server.url, request_bytes(api, stream=stream, headers="Connection: close\r\n"))
    expected = f'"finish_reason":"{openai_name}"' if api == "openai" else f'"stop_reason":"{anthropic_name}"'
    assert expected.encode() in answered


@EACH
@BOTH
def test_usage_is_what_the_rule_says(api, stream):
    with serving([{"reply": "so", "usage": {"input": 90, "cached": 64, "output": 7}}]) as server:
        assert ask(server.url, api, "hello", stream=stream).tokens == (90, 64, 7)


def test_openai_streams_usage_only_when_asked():
    with serving() as server, openai_client(server.url) as client:
        chunks = list(
            client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hello"}], stream=True)
        )
    assert all(chunk.usage is None and chunk.choices for chunk in chunks)


@EACH
def test_pieces_are_one_event_each(api):
    pieces = ["a b", "", {"text": " c", "delay": 0.01}]
    with serving([{"reply": pieces}]) as server:
        body = exchange(server.url, request_bytes(api, headers="Connection: close\r\n")).decode()
    datas = [json.loads(line[6:]) for line in body.splitlines() if line.startswith("data: {")]
    if api == "openai":
        texts = [data["choices"][0]["delta"].get("content") for data in datas][1:-1]
    else:
        texts = [data["delta"]["text"] for data in datas if data["type"] == "content_block_delta"]
    assert texts == ["a b", "", " c"]


def test_arguments_of_a_call_come_in_several_events():
    calls = [{"name": "memory_store", "arguments": {"content": "0123456789" * 4}}]
    with serving([{"calls": calls}]) as server, openai_client(server.url) as client:
        chunks = list(
            client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hello"}], stream=True)
        )
    deltas = [chunk.choices[0].delta for chunk in chunks]
    assert sum(bool(delta.tool_calls) for delta in deltas) > 4


@EACH
@BOTH
def test_a_whole_tool_round_is_played(api, stream):
    rules = [
        {"when": {"result": "memory_store", "result_has": "id"}, "reply": "stored as {result.id}"},
        {
            "when": {"contains": "remember "},
            "calls": [{"name": "memory_store", "arguments": {"content": "{rest}"}}],
        },
    ]
    question = "Please remember I like tea."
    with serving(rules) as server:
        first = ask(server.url, api, question, stream=stream, tools=("memory_store",))
        result = '{"status": "stored", "id": "m12"}'
        second = ask(server.url, api, round_of(api, question, "memory_store", result), stream=stream)
    assert [call[1:] for call in first.calls] == [("memory_store", {"content": "I like tea"})]
    assert second.text == "stored as m12"


@EACH
def test_without_a_fitting_rule_the_reply_says_that_it_is_a_script(api):
    with serving([{"when": {"contains": "tea"}, "reply": "tea"}]) as server:
        assert ask(server.url, api, "coffee").text == DEFAULT_REPLY


def test_openai_lists_a_model():
    with serving() as server, openai_client(server.url) as client:
        assert [model.id for model in client.models.list()] == ["scripted"]


def test_anthropic_lists_a_model():
    with serving() as server, anthropic_client(server.url) as client:
        assert [model.id for model in client.models.list()] == ["scripted"]


@in_one_case(
    "messages",
    [
        [],
        [{"role": "robot", "content": "x"}],
        [user("x"), {"role": "tool", "tool_call_id": "none", "content": "x"}],
        round_of("openai", "x", "memory_list", "{}")[:2],
        [*round_of("openai", "x", "memory_list", "{}")[:2], user("y")],
        [user("x"), {"role": "assistant", "content": None}],
        [user("x"), {"role": "assistant", "content": "y", "tool_calls": []}],
    ],
)
def test_openai_requests_that_the_service_refuses_are_refused(messages):
    with serving() as server, openai_client(server.url) as client, pytest.raises(openai.BadRequestError):
        client.chat.completions.create(model="m", messages=messages)


def test_openai_refuses_an_empty_list_of_tools():
    with serving() as server, openai_client(server.url) as client, pytest.raises(openai.BadRequestError):
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}], tools=[])


@in_one_case(
    "messages",
    [
        [],
        [{"role": "system", "content": "x"}],
        [user("")],
        [user("x"), round_of("anthropic", "x", "memory_list", "{}")[2]],
        round_of("anthropic", "x", "memory_list", "{}")[:2],
        [*round_of("anthropic", "x", "memory_list", "{}")[:2], user("y")],
    ],
)
def test_anthropic_requests_that_the_service_refuses_are_refused(messages):
    with (
        serving() as server,
        anthropic_client(server.url) as client,
        pytest.raises(anthropic.BadRequestError),
    ):
        client.messages.create(model="m", max_tokens=9, messages=messages)


@EACH
def test_requests_are_recorded_in_the_order_of_their_arrival(api):
    with serving() as server:
        for text in ("one", "two"):
            ask(server.url, api, text)
        requests = server.requests
    assert [request.order for request in requests] == [1, 2]
    bodies = [request.body for request in requests if isinstance(request.body, dict)]
    assert [body["messages"][-1]["content"] for body in bodies] == ["one", "two"]


@EACH
def test_a_recorded_request_is_the_bytes_that_came(api):
    sent = request_bytes(api, "Grüße", headers="Connection: close\r\nX-Odd: Value\r\n")
    with serving() as server:
        exchange(server.url, sent)
        (request,) = server.requests
    assert request.head + request.raw == sent
    assert (request.api, request.headers["x-odd"], request.body) == (api, "Value", json.loads(request.raw))


@in_one_case("body", [b"", b"{]}", b"[]", b'{"a": "\xff"}', rb'{"half of a pair": "\ud83d"}', b"[" * 100_000])
def test_a_body_that_is_no_json_object_is_recorded_and_refused(body):
    head = b"POST /v1/messages HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
    with serving() as server:
        assert exchange(server.url, head + body).startswith(b"HTTP/1.1 400 ")
        assert [request.raw for request in server.requests] == [body]


@EACH
def test_half_of_a_surrogate_pair_in_a_script_arrives_as_an_escape(api):
    with serving([{"reply": ["\ud83d"]}]) as server:
        assert b'"\\ud83d"' in exchange(server.url, request_bytes(api, headers="Connection: close\r\n"))


def test_waiting_ends_when_the_requests_are_there():
    with serving() as server:
        threading.Timer(0.05, ask, (server.url, "openai", "hello")).start()
        assert len(server.wait_for_requests(1)) == 1


def test_waiting_for_requests_that_do_not_come_says_how_many_came():
    with serving() as server, pytest.raises(TimeoutError, match="0 of 2 requests"):
        server.wait_for_requests(2, timeout=0.05)


def test_the_server_runs_in_an_event_loop_too():
    async def scenario() -> tuple[str | None, int]:
        async with ScriptedServer([{"reply": "hi"}]) as server:
            async with openai.AsyncOpenAI(base_url=server.url + "/v1", api_key="k", max_retries=0) as client:
                whole = await client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hello"}])
            return whole.choices[0].message.content, len(await server.wait_for_requests(1))

    assert asyncio.run(scenario()) == ("hi", 1)


def test_many_clients_are_served_at_once():
    async def ask_all(url: str) -> list[str]:
        async with anthropic.AsyncAnthropic(base_url=url, api_key="k", max_retries=0) as client:
            create = client.messages.create
            calls = [
                create(model="m", max_tokens=9, messages=[{"role": "user", "content": f"q{n}"}]) for n in range(20)
            ]
            blocks = [message.content[0] for message in await asyncio.gather(*calls)]
            return [block.text for block in blocks if block.type == "text"]

    async def scenario() -> list[str]:
        async with ScriptedServer([{"reply": [{"text": "{last}", "delay": 0.05}]}]) as server:
            return await ask_all(server.url)

    assert asyncio.run(scenario()) == [f"q{n}" for n in range(20)]


def test_a_connection_serves_one_request_after_the_other():
    sent = request_bytes("openai", "one") + request_bytes(
        "openai", "two", stream=False, headers="Connection: close\r\n"
    )
    with serving([{"reply": "to {last}"}]) as server:
        answered = exchange(server.url, sent)
    assert answered.count(b"HTTP/1.1 200 OK") == 2
    assert answered.endswith(b"}") and b"to two" in answered


def test_a_body_in_chunks_is_read():
    body = b'{"model":"m","messages":[{"role":"user","content":"in chunks"}]}'
    chunks = b"".join(b"%X;x=y\r\n%s\r\n" % (b - a, body[a:b]) for a, b in pairwise([0, 1, 17, len(body)]))
    head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
    head += b"Transfer-Encoding: chunked\r\n\r\n"
    with serving() as server:
        assert exchange(server.url, head + chunks + b"0\r\nX-Trailer: y\r\n\r\n").startswith(b"HTTP/1.1 200 ")
        assert server.requests[0].raw == body


def test_a_client_that_expects_to_go_on_gets_100_continue():
    sent = request_bytes("openai", headers="Expect: 100-continue\r\nConnection: close\r\n")
    with serving() as server:
        assert exchange(server.url, sent).startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")


def test_an_http_1_0_client_gets_a_stream_without_chunks():
    sent = request_bytes("openai").replace(b"HTTP/1.1", b"HTTP/1.0")
    with serving() as server:
        answered = exchange(server.url, sent)
    assert b"transfer-encoding" not in answered and answered.endswith(b"data: [DONE]\n\n")


@in_one_case(
    "sent, status",
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET / HTTP/2.0\r\nHost: h\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", 404),
        (b"GET /v1/messages HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", 405),
        (b"POST / HTTP/1.1\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: h\r\nno colon\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999\r\n\r\n", 413),
        (b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc", 400),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * 70_000, 431),
    ],
)
def test_what_is_not_a_request_is_refused(sent, status):
    with serving() as server:
        assert exchange(server.url, sent).startswith(b"HTTP/1.1 %d " % status)


def test_the_standard_library_reads_an_answer():
    _, _, body = request_bytes("openai", stream=False).partition(b"\r\n\r\n")
    with serving([{"reply": "hi"}]) as server:
        request = urllib.request.Request(server.url + "/v1/chat/completions?beta=true", data=body)
        with urllib.request.urlopen(request, timeout=5) as response:
            assert json.load(response)["choices"][0]["message"]["content"] == "hi"
