"""The gateway passes on both APIs: for Anthropic's own client, parameters and tools that it refuses; and counts."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from device_tokens import make_tokens
from engram.llm.refusal import refusal_in
from engram_host.companion.gateway.dialects import ANTHROPIC, OPENAI, ServiceFailed
from engram_host.companion.gateway.quota import TokenCounter
from fake_llm import Serving, serving
from official_clients import anthropic
from one_case import in_one_case
from peers import ROOT, Companion
from waiting import SECONDS

KEY = "sk-the-services-own-key-0123456789"


class Gate:
    """A companion with a gateway, and the token of a board."""

    def __init__(self, companion: Companion, token: str):
        self.companion = companion
        self.token = token

    def post(self, path: str, **body: Any) -> httpx.Response:
        """What it answers to a request of an API."""
        whole = {"model": "m", "messages": [{"role": "user", "content": "hi"}], **body}
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx.post(f"{self.companion.url}/gateway/v1/{path}", headers=headers, json=whole, timeout=SECONDS)

    def client(self, token: str = "") -> "anthropic.Anthropic":
        """Anthropic's client."""
        return anthropic.Anthropic(
            base_url=f"{self.companion.url}/gateway", api_key=token or self.token, max_retries=0, timeout=SECONDS
        )


@pytest.fixture(scope="module")
def service() -> Iterator[Serving]:
    with serving() as running:
        running.add({"when": {"equals": "hi"}, "reply": "hello", "usage": {"input": 700, "output": 33}}, first=True)
        running.add({"when": {"equals": "fail"}, "fault": "500"}, first=True)
        yield running


def _opened(home: Path, service: Serving, **variables: str) -> Iterator[Gate]:
    made = make_tokens(home, "kitchen")
    url = service.url + "/v1"
    with Companion(home, ENGRAM_GATEWAY_URL=url, ENGRAM_GATEWAY_KEY=KEY, **variables) as companion:
        yield Gate(companion, made["kitchen"])


@pytest.fixture(scope="module")
def gate(service: Serving, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    home = tmp_path_factory.mktemp("openai") / "home"
    yield from _opened(home, service, ENGRAM_GATEWAY_PARAMETERS="store, x")


@pytest.fixture(scope="module")
def claude(service: Serving, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    yield from _opened(tmp_path_factory.mktemp("anthropic") / "home", service, ENGRAM_GATEWAY_API="anthropic")


def _messages(text: str) -> Any:
    return [{"role": "user", "content": text}]


# --- Anthropic's API


def test_anthropics_client_gets_a_whole_answer(claude: Gate, service: Serving):
    answer: Any = claude.client().messages.create(model="m", max_tokens=50, messages=_messages("hi"))
    assert answer.content[0].text == "hello" and answer.usage.output_tokens == 33
    seen = service.requests[-1]
    assert seen.headers["x-api-key"] == KEY and claude.token.encode() not in seen.head + seen.raw


def test_anthropics_client_gets_a_stream(claude: Gate):
    with claude.client().messages.stream(model="m", max_tokens=50, messages=_messages("hi")) as stream:
        assert "".join(stream.text_stream) == "hello"


def test_anthropics_client_knows_the_gateways_errors(claude: Gate):
    with pytest.raises(anthropic.AuthenticationError, match="token"):
        claude.client("A" * 43).messages.create(model="m", max_tokens=50, messages=_messages("hi"))
    with pytest.raises(anthropic.InternalServerError):
        claude.client().messages.create(model="m", max_tokens=50, messages=_messages("fail"))
    with pytest.raises(anthropic.BadRequestError, match="service_tier"):
        claude.client().messages.create(model="m", max_tokens=50, messages=_messages("hi"), service_tier="auto")


def test_an_api_that_the_service_does_not_have_is_refused_in_its_form(gate: Gate, claude: Gate):
    answer = gate.post("messages", max_tokens=5)
    assert answer.status_code == 404 and answer.json()["type"] == "error"
    assert "OpenAI" in answer.json()["error"]["message"]
    answer = claude.post("chat/completions")
    assert answer.status_code == 404 and answer.json()["error"]["code"] == "wrong_api"


# --- parameters


@in_one_case("name", ["models", "service_tier", "web_search_options", "plugins", "provider", "a\x1b[1m"])
def test_a_parameter_that_is_not_listed_is_refused_by_its_name(gate: Gate, service: Serving, name: str):
    before = len(service.requests)
    answer = gate.post("chat/completions", **{name: ["dear"]})
    assert answer.status_code == 400 and answer.json()["error"]["code"] == "unsupported_parameter"
    assert name[0] in answer.json()["error"]["param"] and "\x1b" not in answer.text
    assert len(service.requests) == before


def test_the_settings_allow_more_parameters(gate: Gate, service: Serving):
    assert gate.post("chat/completions", store=False, temperature=0.5).status_code == 200
    assert json.loads(service.requests[-1].raw)["store"] is False


@in_one_case("tool", [{"type": "web_search"}, {"type": "mcp", "server_url": "http://x"}, "web_search", {}])
def test_a_tool_that_the_service_would_run_is_refused(gate: Gate, tool: Any):
    answer = gate.post("chat/completions", tools=[tool])
    assert answer.status_code == 400 and answer.json()["error"]["code"] == "unsupported_tool"


def test_a_tool_of_anthropics_service_is_refused(claude: Gate):
    tool = {"type": "web_search_20250305", "name": "web_search"}
    answer = claude.post("messages", max_tokens=5, tools=[tool])
    assert answer.status_code == 400 and "functions" in answer.json()["error"]["message"]


@in_one_case("api", [OPENAI, ANTHROPIC])
def test_the_docs_list_the_parameters(api: Any):
    page = (ROOT / "docs/guides/gateway.md").read_text()
    [row] = [line for line in page.splitlines() if line.startswith(f"| {api.title.removesuffix(' API')} |")]
    assert row.split("|")[2].strip() == ", ".join(f"`{name}`" for name in sorted(api.parameters))


# --- counting


@in_one_case(
    "usage, expected",
    [
        ({"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}, (7, 3)),
        ({"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 15}, (7, 8)),
        ({"total_tokens": 20}, (5, 15)),
        ({"input_tokens": 2, "cache_read_input_tokens": 40, "output_tokens": 3}, (42, 3)),
        ({"prompt_tokens": -1, "completion_tokens": True}, (5, 0)),
    ],
)
def test_usage_is_split_into_request_and_answer(usage: dict[str, Any], expected: tuple[int, int]):
    count = TokenCounter(5)
    count.read(json.dumps({"usage": usage}).encode())
    assert (count.used_input, count.used_output) == expected


def test_a_stream_of_anthropics_that_breaks_is_estimated_as_far_as_it_came():
    count = TokenCounter(5)
    for event in (
        {"type": "message_start", "message": {"content": [], "usage": {"input_tokens": 9, "output_tokens": 1}}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "word " * 100}},
    ):
        count.read(json.dumps(event).encode())
    assert count.used_input == 9 and 100 <= count.used_output <= 200


def test_an_error_in_a_stream_tells_a_board_its_status_and_the_wait_that_the_service_asks_for():
    for api in (OPENAI, ANTHROPIC):
        for headers, wait in (({"Retry-After": "40"}, 40), ({}, -1)):
            event = api.error_event(ServiceFailed(503, "busy", "busy", headers)).split(b"data: ")[1]
            refusal = refusal_in(json.loads(event))
            assert (refusal.status, refusal.retry_after) == (503, wait)
