"""Each fault of the scripted server as the official clients, or a bare socket, see it."""

import json
import socket
import time
from urllib.parse import urlsplit

import pytest

from engram_host.fake_llm import serving
from fake_llm_clients import APIS, SECONDS, ask, exchange, request_bytes
from official_clients import anthropic, openai

REPLY = "0123456789 abcdef"
CLOSE = "Connection: close\r\n"
SHORT = 0.3
"""Seconds after which a client of a stalled server gives up."""
PACKAGES = {"openai": openai, "anthropic": anthropic}

EACH = pytest.mark.parametrize("api", APIS)
BOTH = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


def connection_errors():
    import httpx2  # what the clients load, and as late as they are

    return openai.APIConnectionError, anthropic.APIConnectionError, httpx2.TransportError


def timeouts():
    import httpx2  # as above

    return openai.APITimeoutError, anthropic.APITimeoutError, httpx2.TimeoutException


def with_fault(fault, **rest):
    return serving([{"reply": REPLY, "fault": fault, **rest}])


@EACH
@BOTH
@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("429", "RateLimitError"),
        ("500", "InternalServerError"),
        (503, "InternalServerError"),
        ("529", "InternalServerError"),
        ("403", "PermissionDeniedError"),
        ("refuse", "AuthenticationError"),
    ],
)
def test_a_status_is_the_error_of_the_client(api, stream, fault, error):
    with with_fault(fault) as server, pytest.raises(getattr(PACKAGES[api], error)):
        ask(server.url, api, "hello", stream=stream)


@EACH
@pytest.mark.parametrize(
    ("retry_after", "expected"), [({}, "1"), ({"retry_after": 7}, "7"), ({"retry_after": "x"}, "x")]
)
def test_a_429_says_when_to_try_again(api, retry_after, expected):
    refused = pytest.raises(PACKAGES[api].RateLimitError)
    with with_fault({"kind": "429", **retry_after}) as server, refused as caught:
        ask(server.url, api, "hello")
    assert caught.value.response.headers["retry-after"] == expected


@EACH
def test_a_refused_connection_can_be_used_again(api):
    sent = request_bytes(api) + request_bytes(api, headers=CLOSE)
    with with_fault("500", times=1) as server:
        answered = exchange(server.url, sent)
    assert answered.startswith(b"HTTP/1.1 500 ") and b"HTTP/1.1 200 OK" in answered


@EACH
@BOTH
def test_a_cut_is_a_broken_connection(api, stream):
    with with_fault({"kind": "cut", "after": 5}) as server, pytest.raises(connection_errors()):
        ask(server.url, api, "hello", stream=stream)


@EACH
@BOTH
def test_a_stall_is_a_timeout(api, stream):
    with with_fault({"kind": "stall", "after": 5}) as server, pytest.raises(timeouts()):
        ask(server.url, api, "hello", stream=stream, timeout=SHORT)


@EACH
@BOTH
def test_silence_is_a_timeout(api, stream):
    with with_fault("silent") as server, pytest.raises(timeouts()):
        ask(server.url, api, "hello", stream=stream, timeout=SHORT)


def test_silence_sends_not_even_a_head():
    with with_fault("silent") as server:
        address = urlsplit(server.url)
        with socket.create_connection((address.hostname, address.port), SHORT) as connection:
            connection.sendall(request_bytes("openai"))
            with pytest.raises(TimeoutError):
                connection.recv(1)


@EACH
@BOTH
def test_malformed_is_no_json(api, stream):
    with with_fault({"kind": "malformed", "after": 5}) as server, pytest.raises(json.JSONDecodeError):
        ask(server.url, api, "hello", stream=stream)


@EACH
@BOTH
def test_an_error_is_the_services_error(api, stream):
    with with_fault({"kind": "error", "after": 5}) as server, pytest.raises(PACKAGES[api].APIError):
        ask(server.url, api, "hello", stream=stream)


@EACH
@pytest.mark.parametrize("kind", ["cut", "malformed", "error"])
@pytest.mark.parametrize("after", [0, 1, 5, len(REPLY), 1000])
def test_a_stream_breaks_after_so_many_characters(api, kind, after):
    with with_fault({"kind": kind, "after": after}) as server:
        answered = exchange(server.url, request_bytes(api, headers=CLOSE))
    assert streamed_text(answered) == REPLY[:after]


@EACH
@pytest.mark.parametrize("after", [0, 40])
def test_a_whole_answer_is_cut_after_so_many_bytes(api, after):
    with with_fault({"kind": "cut", "after": after}) as server:
        answered = exchange(server.url, request_bytes(api, stream=False))
    assert len(answered.partition(b"\r\n\r\n")[2]) == after


@EACH
def test_a_cut_may_fall_into_the_arguments_of_a_call(api):
    calls = [{"name": "memory_store", "arguments": '{"content":"tea"}'}]
    with serving([{"reply": "ab", "calls": calls, "fault": {"kind": "cut", "after": 7}}]) as server:
        answered = exchange(server.url, request_bytes(api, headers=CLOSE))
    key = b'"arguments":"{\\"con"' if api == "openai" else b'"partial_json":"{\\"con"'
    assert key in answered


@EACH
@BOTH
def test_without_its_last_event_a_stream_ends_all_the_same(api, stream):
    with with_fault("no_done") as server:
        assert ask(server.url, api, "hello", stream=stream).text == REPLY


@EACH
@pytest.mark.parametrize("fault", ["", "no_done"])
def test_only_the_last_event_is_left_out(api, fault):
    with with_fault(fault) as server:
        answered = exchange(server.url, request_bytes(api, headers=CLOSE))
    last = b"data: [DONE]" if api == "openai" else b"event: message_stop"
    finish = b'"finish_reason":"stop"' if api == "openai" else b'"stop_reason":"end_turn"'
    assert finish in answered and (last in answered) == (not fault)


@EACH
@BOTH
def test_huge_is_a_megabyte(api, stream):
    with with_fault("huge") as server:
        assert len(ask(server.url, api, "hello", stream=stream).text) == 1024 * 1024


@EACH
def test_huge_can_be_one_event(api):
    with with_fault({"kind": "huge", "size": 30_000, "piece": 30_000}) as server:
        answered = exchange(server.url, request_bytes(api, headers=CLOSE))
    assert b"x" * 30_000 in answered


@EACH
@BOTH
def test_slow_is_whole_all_the_same(api, stream):
    with with_fault({"kind": "slow", "delay": 0}) as server:
        assert ask(server.url, api, "hello", stream=stream).text == REPLY


def test_slow_sends_each_byte_in_a_chunk_of_its_own():
    with with_fault({"kind": "slow", "delay": 0}) as server:
        answered = exchange(server.url, request_bytes("openai", headers=CLOSE))
    framed = answered.partition(b"\r\n\r\n")[2]
    assert framed.startswith(b"1\r\nd\r\n1\r\na\r\n1\r\nt\r\n1\r\na\r\n1\r\n:\r\n")


def test_a_fault_is_used_as_often_as_it_says():
    with with_fault("500", times=2) as server:
        statuses = [exchange(server.url, request_bytes("openai", headers=CLOSE))[9:12] for _ in range(3)]
    assert statuses == [b"500", b"500", b"200"]


def test_a_client_that_leaves_does_not_disturb_the_next():
    with with_fault("huge", times=1) as server:
        address = urlsplit(server.url)
        with socket.create_connection((address.hostname, address.port), SECONDS) as connection:
            connection.sendall(request_bytes("openai"))
            connection.recv(10)
        assert ask(server.url, "openai", "hello").text


def test_the_server_ends_while_a_client_is_stalled():
    with with_fault("stall") as server:
        address = urlsplit(server.url)
        connection = socket.create_connection((address.hostname, address.port), SECONDS)
        connection.sendall(request_bytes("openai"))
        server.wait_for_requests(1)
        began = time.monotonic()
    assert time.monotonic() - began < SECONDS
    answered = b""
    with connection:
        while piece := connection.recv(65536):
            answered += piece
    assert answered.startswith(b"HTTP/1.1 200 OK") and REPLY.encode() not in answered


def streamed_text(answered: bytes) -> str:
    """The text in those events of a stream that are JSON."""
    texts = []
    for line in answered.decode().splitlines():
        try:
            data = json.loads(line.removeprefix("data: ")) if line.startswith("data: {") else {}
        except ValueError:
            continue
        deltas = [choice["delta"] for choice in data.get("choices", [])] or [data.get("delta", {})]
        texts += [delta.get("content") or delta.get("text") or "" for delta in deltas]
    return "".join(texts)
