"""The gateway with OpenAI's own client before it and the scripted model behind it, and a board that uses it."""

import contextlib
import itertools
import json
import select
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from device_tokens import make_tokens
from driving import Home, say
from engram_host.companion.gateway.proxy import MOST_OF_ONE
from engram_host.companion.store import open_store
from fake_llm import Serving, serving
from leaky_service import LeakyService
from official_clients import openai
from one_case import in_one_case
from peers import Companion
from waiting import SECONDS, wait_until

KEY = "sk-the-services-own-key-0123456789"
_NUMBERS = itertools.count()
SILENT = json.dumps({"model": "m", "messages": [{"role": "user", "content": "silent"}]})


class Way:
    """A companion with a gateway, what is behind it, and the tokens of two devices."""

    def __init__(self, companion: Companion, tokens: dict[str, str]):
        self.companion = companion
        self.tokens = tokens
        self.url = f"{companion.url}/gateway/v1"

    def client(self, device: str = "kitchen", timeout: float = SECONDS) -> "openai.OpenAI":
        """OpenAI's client with a device's token as its key."""
        return openai.OpenAI(base_url=self.url, api_key=self.tokens[device], max_retries=0, timeout=timeout)

    def used(self, device: str = "kitchen") -> tuple[int, int]:
        """Calls and tokens of a device today and on the day before, which may have ended just now, as the database has them."""
        store = open_store(f"sqlite:///{self.companion.home}/companion.db")
        today = int(time.time()) // 86400
        used = [use for day in (today - 1, today) if (use := store.gateway.gateway_used(day).get(device))]
        store.close()
        return sum(use.calls for use in used), sum(use.tokens for use in used)


def opened(home: Path, url: str, **variables: str) -> Companion:
    """A companion with that service behind its gateway."""
    return Companion(home, ENGRAM_GATEWAY_URL=url, ENGRAM_GATEWAY_KEY=KEY, **variables)


@pytest.fixture(scope="module")
def service() -> Iterator[Serving]:
    with serving() as running:
        yield running


@pytest.fixture(scope="module")
def way(service: Serving, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Way]:
    home = tmp_path_factory.mktemp("gateway") / "home"
    made = make_tokens(home, "kitchen", "garden", "shed")
    with opened(home, service.url + "/v1") as companion:
        yield Way(companion, made)


@pytest.fixture(scope="module")
def leaky(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Way, LeakyService]]:
    home = tmp_path_factory.mktemp("leaky") / "home"
    made = make_tokens(home, "kitchen", "garden", "shed")
    with LeakyService() as behind, opened(home, behind.url) as companion:
        yield Way(companion, made), behind


def scripted(service: Serving, **answer: Any) -> list[dict[str, str]]:
    """Messages to which the service answers so."""
    said = f"message {next(_NUMBERS)}"
    service.add({"when": {"equals": said}, **answer}, first=True)
    return [{"role": "user", "content": said}]


# --- OpenAI's client


def test_an_answer_comes_whole(way: Way, service: Serving):
    asked: Any = scripted(service, reply="good morning", usage={"input": 7, "output": 3})
    answer = way.client().chat.completions.create(model="m", messages=asked)
    assert answer.choices[0].message.content == "good morning"
    assert answer.usage and answer.usage.total_tokens == 10


def test_a_piece_of_a_stream_comes_before_the_next_one_is_made(way: Way, service: Serving):
    asked: Any = scripted(service, reply=["one ", {"text": "two", "delay": 600}])
    with way.client().chat.completions.create(model="m", messages=asked, stream=True) as events:
        assert any(event.choices and event.choices[0].delta.content == "one " for event in events)


def test_the_models_of_the_service_are_listed(way: Way):
    assert [model.id for model in way.client().models.list()] == ["scripted"]


@in_one_case("fault", ["cut", "error"])
def test_a_stream_that_breaks_is_an_error_of_the_client(way: Way, service: Serving, fault: str):
    asked: Any = scripted(service, reply="a long answer", fault={"kind": fault, "after": 6})
    with pytest.raises(openai.APIError):
        list(way.client().chat.completions.create(model="m", messages=asked, stream=True))


def test_the_service_sees_its_key_and_no_token(way: Way, service: Serving):
    asked: Any = scripted(service, reply="hi")
    way.client().chat.completions.create(model="m", messages=asked)
    seen = service.requests[-1]
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert not [token for token in way.tokens.values() if token.encode() in seen.head + seen.raw]


# --- who may


@in_one_case("token", ["", "wrong", "A" * 43, KEY])
def test_a_stranger_does_not_use_it_even_on_this_computer(way: Way, token: str):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    for answer in (
        httpx.post(
            f"{way.url}/chat/completions", headers=headers, json={"model": "m", "messages": []}, timeout=SECONDS
        ),
        httpx.get(f"{way.url}/models", headers=headers, timeout=SECONDS),
    ):
        assert answer.status_code == 401 and answer.json()["error"]["message"]


@in_one_case(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        b'{"messages":{}}',
        b'{"messages":[],"model":7}',
        b'{"messages":[],"x":NaN,"model":"m"}',
        b"[" * 100000,
    ],
)
def test_what_is_no_request_is_refused_and_not_counted(way: Way, body: bytes):
    headers = {"Authorization": f"Bearer {way.tokens['shed']}"}  # of whom no stream may be counted late
    answer = httpx.post(f"{way.url}/chat/completions", headers=headers, content=body, timeout=SECONDS)
    assert answer.status_code == 400 and answer.json()["error"]["code"] and way.used("shed") == (0, 0)


def test_only_the_listed_models_are_to_be_had(service: Serving, tmp_path: Path):
    made = make_tokens(tmp_path / "home", "kitchen")
    with opened(
        tmp_path / "home", service.url + "/v1", ENGRAM_GATEWAY_MODEL="a", ENGRAM_GATEWAY_MODELS="b, c"
    ) as companion:
        way = Way(companion, made)
        assert [model.id for model in way.client().models.list()] == ["a", "b", "c"]
        asked: Any = scripted(service, reply="hi")
        assert way.client().chat.completions.create(model="b", messages=asked).choices
        way.client().chat.completions.create(model="default", messages=asked)
        doubled = json.dumps({"messages": asked})[:-1] + ', "model": "dear", "model": "a"}'
        headers = {"Authorization": f"Bearer {made['kitchen']}"}
        asked_twice = httpx.post(f"{way.url}/chat/completions", headers=headers, content=doubled, timeout=SECONDS)
        assert asked_twice.status_code == 200
        sent = [json.loads(request.raw) for request in service.requests[-2:]]
        assert [each["model"] for each in sent] == ["a", "a"] and b"dear" not in service.requests[-1].raw
        with pytest.raises(openai.NotFoundError, match="a, b, c"):
            way.client().chat.completions.create(model="dear", messages=asked)


# --- counting


def test_what_the_service_says_is_counted(way: Way, service: Serving):
    asked: Any = scripted(service, reply="hi", usage={"input": 700, "output": 33})
    calls, tokens = way.used("garden")
    way.client("garden").chat.completions.create(model="m", messages=asked)
    assert way.used("garden") == (calls + 1, tokens + 733)
    options: Any = {"include_usage": True}
    list(way.client("garden").chat.completions.create(model="m", messages=asked, stream=True, stream_options=options))
    wait_until("the stream is counted", lambda: way.used("garden") == (calls + 2, tokens + 1466))


def test_a_limit_of_the_day_holds_over_a_restart(service: Serving, tmp_path: Path):
    made = make_tokens(tmp_path / "home", "kitchen", "garden")
    asked: Any = scripted(service, reply="hi", usage={"input": 1, "output": 1})
    with opened(
        tmp_path / "home", service.url + "/v1", ENGRAM_GATEWAY_DEVICE_CALLS="2", ENGRAM_GATEWAY_ALL_CALLS="3"
    ) as companion:
        way = Way(companion, made)
        way.client().chat.completions.create(model="m", messages=asked)
        companion.kill()
        companion.start()
        way.client().chat.completions.create(model="m", messages=asked)
        with pytest.raises(openai.RateLimitError, match=r"limit of 2 calls a day of kitchen.*midnight") as refused:
            way.client().chat.completions.create(model="m", messages=asked)
        assert (
            refused.value.code == "insufficient_quota" and refused.value.response.headers["x-should-retry"] == "false"
        )
        way.client("garden").chat.completions.create(model="m", messages=asked)
        with pytest.raises(openai.RateLimitError, match="limit of 3 calls a day of all devices"):
            way.client("garden").chat.completions.create(model="m", messages=asked)


# --- clients that go, services that do not


def test_a_client_that_goes_ends_the_services_stream(leaky: tuple[Way, LeakyService]):
    way, behind = leaky
    calls, tokens = way.used()
    message: Any = [{"role": "user", "content": "endless"}]
    stream = way.client().chat.completions.create(model="m", messages=message, stream=True)
    assert next(iter(stream)).choices and behind.streams == 1
    stream.close()
    wait_until("the service's stream ends", lambda: behind.streams == 0)
    wait_until(
        "it is counted as far as it came", lambda: way.used()[0] == calls + 1 and 0 < way.used()[1] - tokens < 500
    )


def _sent(way: Way, method: str, path: str, device: str, body: str = "") -> socket.socket:
    """A connection on which something was asked for, and no answer was read yet."""
    client = socket.create_connection(("127.0.0.1", way.companion.http_port), SECONDS)
    head = [f"{method} /gateway/v1/{path} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {way.tokens[device]}"]
    head += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    client.sendall("\r\n".join([*head, "", body]).encode())
    return client


def test_a_client_that_goes_before_the_answer_ends_the_call(leaky: tuple[Way, LeakyService]):
    way, behind = leaky
    calls, asked = way.used()[0], len(behind.seen)
    with _sent(way, "POST", "chat/completions", "kitchen", SILENT):
        wait_until("the service is asked", lambda: len(behind.seen) > asked and behind.streams == 1)
    wait_until("the service sees it", lambda: behind.streams == 0)
    wait_until("it is counted", lambda: way.used()[0] == calls + 1)


def test_a_service_that_is_silent_is_bridged_by_pings_and_not_waited_for_without_end(tmp_path: Path):
    home, message = tmp_path / "home", json.loads(SILENT)["messages"]
    made = make_tokens(home, "kitchen")
    streamed = json.dumps({**json.loads(SILENT), "stream": True})
    with LeakyService() as behind, opened(home, behind.url, ENGRAM_GATEWAY_TIMEOUT="2") as companion:
        way = Way(companion, made)
        with pytest.raises(openai.InternalServerError, match="did not answer in time"):
            way.client().chat.completions.create(model="m", messages=message)
        with _sent(way, "POST", "chat/completions", "kitchen", streamed) as client, client.makefile("rb") as lines:
            assert lines.readline().split()[1] == b"200"
            pings = 0
            while not (line := lines.readline()).startswith(b"data: "):
                pings += line == b":\n"
        assert pings > 1 and json.loads(line.removeprefix(b"data: "))["error"]["status"] == 504
        with _sent(way, "POST", "chat/completions", "kitchen", streamed) as client:
            assert client.recv(12).endswith(b" 200")
            assert behind.streams == 1
        wait_until("the service sees that the board is gone", lambda: behind.streams == 0)


def test_a_redirect_is_not_followed(leaky: tuple[Way, LeakyService]):
    way, behind = leaky
    message: Any = [{"role": "user", "content": "redirect"}]
    with pytest.raises(openai.InternalServerError, match="307"):
        way.client().chat.completions.create(model="m", messages=message)
    assert not [path for path in behind.seen if "elsewhere" in path]


def test_one_device_has_so_many_calls_under_way_and_no_more(leaky: tuple[Way, LeakyService]):
    way, behind = leaky
    message: Any = [{"role": "user", "content": "endless"}]

    def begin(device: str = "shed") -> Any:
        return way.client(device).chat.completions.create(model="m", messages=message, stream=True)

    streams = [begin() for _ in range(MOST_OF_ONE)]
    with pytest.raises(openai.RateLimitError, match="under way"):
        begin()
    other = begin("garden")
    for stream in (*streams, other):
        stream.close()
    wait_until("all have ended", lambda: behind.streams == 0)

    def begin_again() -> Any:
        # A call is under way until it is counted, which is after the service's stream has ended.
        with contextlib.suppress(openai.RateLimitError):
            return begin()

    wait_until("there is room for another one", begin_again).close()


def test_lists_of_models_take_turns_as_other_calls_do_and_end_with_their_clients(tmp_path: Path):
    made = make_tokens(tmp_path / "home", "kitchen")
    with LeakyService() as behind, opened(tmp_path / "home", behind.url) as companion:
        behind.slow_list.set()
        asking = [_sent(Way(companion, made), "GET", "models", "kitchen") for _ in range(MOST_OF_ONE + 12)]

        def answered() -> list[socket.socket]:
            return select.select(asking, [], [], 0)[0]

        wait_until("as many wait as may", lambda: behind.lists == MOST_OF_ONE)
        wait_until("the others are answered", lambda: len(answered()) == 12)
        statuses = [client.recv(1000).split()[1] for client in answered()]
        for client in asking:
            client.close()
        wait_until("they end with their clients", lambda: behind.lists == 0)
        behind.slow_list.clear()
    assert statuses == [b"429"] * 12


# --- a board


def test_a_board_asks_its_model_over_plain_http_through_the_gateway(way: Way, service: Serving, tmp_path: Path):
    service.add({"when": {"contains": "good evening"}, "reply": "Good evening from the model."}, first=True)
    calls, _ = way.used("garden")
    board = Home(tmp_path / "board").knowing(
        ENGRAM_LLM_URL=way.url, ENGRAM_LLM_MODEL="m", ENGRAM_LLM_API="openai", ENGRAM_LLM_KEY=way.tokens["garden"]
    )
    ended = say(board, "good evening")
    assert "Good evening from the model." in ended.printed
    assert way.used("garden")[0] > calls
    assert service.requests[-1].headers["authorization"] == f"Bearer {KEY}"
