"""Forms of a service's answers pass the gateway: its words in errors of any form, fields that no API has, signs of life."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest

from device_tokens import make_tokens
from one_case import in_one_case
from peers import Companion
from waiting import SECONDS

KEY = "sk-the-services-own-key-0123456789"
SIGNED = {"google": {"thought_signature": "c2ln"}}


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server = self.server
        assert isinstance(server, _Service)
        server.seen.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        status, kind, body = server.answer
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *_: Any) -> None:
        pass


class _Service(ThreadingHTTPServer):
    """Answers each request with `answer`: a status, a content type, a body."""

    daemon_threads = True
    answer: tuple[int, str, bytes] = (200, "application/json", b"")

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.seen: list[Any] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Way:
    """A companion with a gateway before a service."""

    def __init__(self, url: str, token: str, service: _Service):
        self._url, self._token, self._service = url, token, service

    def ask(self, answer: tuple[int, str, bytes], **fields: Any) -> httpx.Response:
        """What a request gets that the service answers so."""
        self._service.answer = answer
        asked = {"model": "m", "messages": [{"role": "user", "content": "hi"}], **fields}
        headers = {"Authorization": f"Bearer {self._token}"}
        return httpx.post(f"{self._url}/gateway/v1/chat/completions", json=asked, headers=headers, timeout=SECONDS)

    @property
    def sent(self) -> Any:
        """The latest request, as the service got it."""
        return self._service.seen[-1]


@pytest.fixture(scope="module")
def way(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Way]:
    home = tmp_path_factory.mktemp("forms") / "home"
    token = make_tokens(home, "kitchen")["kitchen"]
    service = _Service()
    url = f"http://127.0.0.1:{service.server_address[1]}/v1"
    with Companion(home, ENGRAM_GATEWAY_URL=url, ENGRAM_GATEWAY_KEY=KEY) as companion:
        yield Way(companion.url, token, service)
    service.shutdown()
    service.server_close()


def _json(status: int, value: Any) -> tuple[int, str, bytes]:
    return status, "application/json", json.dumps(value).encode()


def _stream(*events: str) -> tuple[int, str, bytes]:
    return 200, "text/event-stream", "".join(f"{event}\n\n" for event in (*events, "data: [DONE]")).encode()


def _piece(**delta: Any) -> str:
    return "data: " + json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})


@in_one_case("status", [400, 422, 429, 503])
def test_an_error_has_the_services_status_and_code_and_a_sentence_of_our_own(way: Way, status: int):
    error = {"message": "no tools for sk-12...ef", "code": "no_tools", "param": "tools[0]"}
    answer = way.ask(_json(status, {"error": error}))
    told = answer.json()["error"]
    assert (answer.status_code, told["code"], told["param"]) == (status, "no_tools", "tool")
    assert told["message"] == f"the model's service answered with status {status}: unsupported: tool."


def test_a_success_that_is_an_error_has_its_status(way: Way):
    for status, code in ((429, 429), (502, None), (502, "rate_limit")):
        answer = way.ask(_json(200, {"error": {"message": "too much", "code": code}}))
        assert answer.status_code == status and "error" in answer.json()


def test_unknown_fields_pass_both_ways(way: Way):
    call = {"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    delta = {"reasoning_content": "hm", "tool_calls": [{**call, "extra_content": SIGNED}]}
    answer = way.ask(_stream(_piece(**delta)), stream=True)
    assert json.loads(answer.text.split("\n")[0][6:])["choices"][0]["delta"] == delta
    message = {"role": "assistant", "content": None, "reasoning_content": "hm", "tool_calls": delta["tool_calls"]}
    way.ask(_json(200, {"choices": []}), messages=[message])
    assert way.sent["messages"] == [message]


def test_words_that_are_no_json_in_a_stream_are_signs_of_life(way: Way):
    answer = way.ask(
        _stream("data: ping", ": here", _piece(content="a"), "data: ping", _piece(content="b")), stream=True
    )
    contents = [json.loads(line[6:]) for line in answer.text.split("\n") if line.startswith("data: {")]
    assert [event["choices"][0]["delta"]["content"] for event in contents] == ["a", "b"]
    assert "ping" not in answer.text and answer.text.count(":\n") == 2 and "error" not in answer.text


def test_a_long_event_passes(way: Way):
    answer = way.ask(_stream(_piece(reasoning_content="x" * 200_000), _piece(content="a")), stream=True)
    assert "x" * 200_000 in answer.text and '"a"' in answer.text
