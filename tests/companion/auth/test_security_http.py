"""Who may do what over HTTP: each route of the description with each kind of token, browsers, sizes, slow clients, TLS."""

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from device_tokens import make_tokens
from engram_host.companion.auth import tokens
from engram_host.companion.auth.access import DECLARED, Role
from engram_host.companion.auth.exposure import check_exposure, is_loopback, tokens_required
from engram_host.companion.auth.middleware import MOST_BODY
from engram_host.companion.errors import SettingError, StoreUnavailable
from engram_host.companion.settings import HttpSettings, SecuritySettings
from engram_host.companion.store import open_store
from engram_host.companion.store.tokens import TokenTable
from engram_host.companion.supervisor import Supervisor
from one_case import in_one_case
from peers import Companion
from sending import Sent
from serve_process import failed_start
from served_companion import Served, run
from server_process import PLAIN
from waiting import SECONDS, wait_until

STRANGERS = tokens.new_token()

OWN, OTHER, OPERATOR = "own device", "another device", "operator"
MAY = {
    Role.ANYBODY: {"", "stranger", OWN, OTHER, OPERATOR},
    Role.DEVICE: {OWN, OTHER, OPERATOR},
    Role.GATEWAY: {OWN, OTHER, OPERATOR},
    Role.OWN_DEVICE: {OWN, OPERATOR},
    Role.OPERATOR: {OPERATOR},
}


class Strict:
    """A companion that asks for tokens, and two devices."""

    def __init__(self, companion: Companion, made: dict[str, str]):
        self.companion = companion
        operator = (companion.home / tokens.OPERATOR_FILE).read_text().strip()
        self.tokens = {"stranger": STRANGERS, OWN: made["kitchen"], OTHER: made["garden"], OPERATOR: operator}

    def ask(self, method: str, path: str, who: str, **more: Any) -> httpx.Response:
        """Ask as somebody; "" shows no token."""
        headers = {"Authorization": f"Bearer {self.tokens[who]}"} if who else {}
        return httpx.request(method, self.companion.url + path, headers=headers, timeout=30, verify=PLAIN, **more)


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Strict]:
    home = tmp_path_factory.mktemp("strict") / "home"
    made = make_tokens(home, "kitchen", "garden")
    with Companion(home, ENGRAM_TOKENS="on") as companion:
        for device in made:
            board = Sent(companion.posted, device, board=device)
            board.keep(f"the secret of the {device} is blue")
            board.sync()
        yield Strict(companion, made)


def operations(strict: Strict) -> list[tuple[str, str, dict[str, Any]]]:
    """Method, path and description of all that the API offers."""
    described = strict.companion.client.get("/openapi.json").json()["paths"]
    return [(method.upper(), path, told) for path, all_of in described.items() for method, told in all_of.items()]


@in_one_case("who", ["", "stranger", OWN, OTHER, OPERATOR])
def test_each_route_lets_in_whom_it_declares_or_the_operator_and_nobody_else(strict: Strict, who: str):
    for method, path, told in operations(strict):
        answer = strict.ask(method, path.replace("{device}", "kitchen").replace("{", "").replace("}", ""), who)
        is_in = answer.status_code not in (401, 403)
        assert is_in == (who in MAY[Role(told.get(DECLARED, Role.OPERATOR))]), (method, path, who, answer.text)


@in_one_case("who", ["", "stranger"])
@in_one_case(
    "path",
    [
        "/",
        "/v1",
        "/v2/x",
        "/v1/devices/kitchen/../garden",
        "/v1//devices",
        "/V1/devices",
        "/v1/devices/",
        "/gateway/v1",
    ],
)
def test_a_stranger_does_not_even_learn_what_is_not_there(strict: Strict, path: str, who: str):
    assert strict.ask("GET", path, who).status_code == 401


@in_one_case("method", ["HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "POST"])
def test_another_method_is_no_way_in(strict: Strict, method: str):
    assert strict.ask(method, "/v1/devices/kitchen/lines", "").status_code == 401


def test_a_device_learns_how_the_companion_is_and_not_of_what_it_is_made(tmp_path: Path):
    home = tmp_path / "home"
    made = make_tokens(home, "kitchen")
    (home / "companion.toml").write_text('[folders]\npaths = ["/nowhere/divorce-papers"]\n')
    with Companion(home) as companion:
        operators = companion.client.get("/v1/health").json()
        assert operators["status"] == "degraded" and "divorce" in str(operators["problems"]) and operators["mqtt"]
        headers = {"Authorization": f"Bearer {made['kitchen']}"}
        devices = companion.client.get("/v1/health", headers=headers).json()
        assert devices == {"status": "degraded", "version": operators["version"]}
        assert httpx.get(f"{companion.url}/v1/health").json() == operators  # no tokens here: all is anybody's


def search(strict: Strict, who: str, **question: Any) -> httpx.Response:
    return strict.ask("POST", "/v1/search", who, json={"query": "secret blue", "meaning": False, **question})


def test_a_device_finds_its_own_memory_only(strict: Strict):
    assert {hit["device"] for hit in search(strict, OPERATOR).json()["hits"]} == {"kitchen", "garden"}
    assert {hit["device"] for hit in search(strict, OWN).json()["hits"]} == {"kitchen"}


@in_one_case("devices", [["garden"], ["kitchen", "garden"], ["nobody"]])
def test_a_device_that_names_others_is_refused(strict: Strict, devices: list[str]):
    assert search(strict, OWN, devices=devices).status_code == 403


@in_one_case(
    "name",
    ["..%2Fgarden", "kitchen%2F..%2Fgarden", "garden%00", "%67arden", "garden/", "kitchen%3F/../garden", "GARDEN"],
)
def test_a_device_does_not_reach_another_one_by_an_odd_name(strict: Strict, name: str):
    answer = strict.ask("POST", f"/v1/devices/{name}/messages", OWN, content=b"x")
    assert answer.status_code in (403, 404), answer.text


def test_a_token_that_was_taken_away_ends_within_seconds(strict: Strict):
    made = make_tokens(strict.companion.home, "shed")
    headers = {"Authorization": f"Bearer {made['shed']}"}
    assert httpx.get(f"{strict.companion.url}/v1/health", headers=headers).status_code == 200
    store = open_store(f"sqlite:///{strict.companion.home}/companion.db")
    store.tokens.remove_token("shed")
    store.close()
    wait_until(
        "the token is nobody's",
        lambda: httpx.get(f"{strict.companion.url}/v1/health", headers=headers, timeout=30).status_code == 401,
        within=30,
    )


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Strict]:
    """Another one, of which no other test fills the log: lines that repeat are counted there."""
    home = tmp_path_factory.mktemp("quiet") / "home"
    made = make_tokens(home, "kitchen", "garden")
    with Companion(home, ENGRAM_TOKENS="on") as companion:
        yield Strict(companion, made)


def test_failed_logins_are_one_line_with_their_address_and_the_boards_name(quiet: Strict):
    for _ in range(10):
        assert quiet.ask("POST", "/v1/devices/kitchen/messages", "stranger").status_code == 401
    line = "a login from 127.0.0.1 as 'kitchen' failed."
    assert quiet.companion.printed().count(line) == 1
    metrics = quiet.ask("GET", "/metrics", OPERATOR).text
    assert "engram_failed_logins_total 10.0" in metrics


def test_an_outage_of_the_database_is_no_failed_login_over_http(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    home = tmp_path / "home"
    token = make_tokens(home, "kitchen")["kitchen"]

    def fail(*_: object) -> str:
        raise StoreUnavailable("the disk of database.example is full")

    async def play(served: Served) -> None:
        headers = {"Authorization": f"Bearer {token}"}
        with monkeypatch.context() as outage:
            outage.setattr(TokenTable, "device_of", fail)
            for _ in range(5):
                answer = await served.client.get("/v1/health", headers=headers)
                assert answer.status_code == 503 and answer.headers["Retry-After"] == "15"
                assert "database.example" not in answer.text
        assert (await served.client.get("/v1/health", headers=headers)).status_code == 200
        operator = {"Authorization": f"Bearer {(home / tokens.OPERATOR_FILE).read_text().strip()}"}
        figures = await served.client.get("/metrics", headers=operator)
        assert "engram_failed_logins_total 0.0" in figures.text

    assert run(home, play, {("security", "tokens"): "on"}) == []


def test_a_stranger_forges_no_line_of_the_log(quiet: Strict):
    quiet.ask("GET", "/v1/forged%0Aline%1B%5B2J", "")
    quiet.ask("GET", "/v1/devices/forged%0Aline", OWN)
    lines = [line for line in quiet.companion.printed().splitlines() if "forged" in line]
    assert len(lines) == 2 and all("refused" in line and "\x1b" not in line for line in lines)


# --- browsers


@in_one_case(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "http://["},
        {"Sec-Fetch-Site": "cross-site"},
        {"Host": "evil.example"},
        {"Host": "evil.example:8765", "Origin": "http://evil.example:8765"},
        {"Host": "localhost.evil.example"},
        {"Host": ""},
    ],
)
def test_a_page_of_another_site_is_refused(companion: Companion, headers: dict[str, str]):
    for path in ("/v1/devices/kitchen/messages", "/v1/search", "/gateway/v1/chat/completions"):
        assert companion.client.post(path, content=b"{}", headers=headers).status_code == 403, path
    assert companion.client.get("/v1/devices", headers=headers).status_code == 403


def test_the_companions_own_page_and_local_names_are_taken(companion: Companion):
    own = {"Origin": companion.url, "Sec-Fetch-Site": "same-origin"}
    for headers in (own, {"Host": "localhost"}, {"Host": f"[::1]:{companion.http_port}"}):
        assert companion.client.get("/v1/devices", headers=headers).status_code == 200


# --- sizes and slow clients


def raw_answer(companion: Companion, request: bytes) -> bytes:
    """All that comes back to some bytes until the companion closes the connection."""
    with socket.create_connection(("127.0.0.1", companion.http_port), SECONDS) as client:
        client.sendall(request)
        return b"".join(iter(lambda: client.recv(65536), b""))


@in_one_case("order", [1, -1])
def test_a_request_with_two_lengths_is_refused_and_nothing_behind_it_is_answered(companion: Companion, order: int):
    lengths = [b"Content-Length: 4", b"Transfer-Encoding: chunked"][::order]
    head = [b"POST /v1/search HTTP/1.1", b"Host: 127.0.0.1", b"Content-Type: application/json", *lengths]
    smuggled = b"GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    answer = raw_answer(companion, b"\r\n".join(head) + b"\r\n\r\n0\r\n\r\n" + smuggled)
    assert answer.startswith(b"HTTP/1.1 400 ") and b"not both" in answer
    assert answer.count(b"HTTP/1.1") == 1


@in_one_case("path", ["/v1/health/", "/v1/devices/?limit=3", "/docs/"])
def test_a_redirect_names_no_host(companion: Companion, path: str):
    operator = (companion.home / tokens.OPERATOR_FILE).read_text().strip().encode()
    head = f"GET {path} HTTP/1.1\r\nHost: localhost:666\r\nConnection: close\r\n".encode()
    answer = raw_answer(companion, head + b"Authorization: Bearer " + operator + b"\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 307 ") and b"localhost" not in answer
    where, _, query = path.partition("?")
    expected = where.rstrip("/") + ("?" + query if query else "")
    assert f"\r\nlocation: {expected}\r\n".encode() in answer


def test_a_body_that_is_too_long_is_refused_on_every_route(strict: Strict):
    for method, path, _ in operations(strict):
        if method == "POST":
            url = path.replace("{device}", "kitchen")
            answer = strict.ask("POST", url, OPERATOR, content=(b" " * 65536 for _ in range(MOST_BODY // 65536 + 2)))
            assert 400 <= answer.status_code < 500, (path, answer.text)


def test_too_many_messages_get_429_with_a_time_to_retry(tmp_path: Path):
    limits = {"ENGRAM_MESSAGES_A_SECOND": "0.01", "ENGRAM_MESSAGES_AT_ONCE": "3"}
    with Companion(tmp_path / "home", **limits) as companion:
        send = {"content": b"x", "headers": {"Content-Type": "application/octet-stream"}}
        told = [companion.client.post("/v1/devices/kitchen/messages", **send) for _ in range(5)]
        assert [answer.status_code for answer in told] == [400, 400, 400, 429, 429]
        assert 100 - SECONDS < int(told[-1].headers["Retry-After"]) <= 100
        assert companion.client.post("/v1/devices/garden/messages", **send).status_code == 400


BETWEEN_BYTES = 0.02
"""The pause of a client that sends a request byte by byte."""


def test_a_head_that_does_not_end_is_not_waited_for(companion: Companion, monkeypatch: pytest.MonkeyPatch):
    import asyncio

    from fastapi import FastAPI

    from engram_host.companion.api import server
    from engram_host.companion.api.server import WebServer
    from engram_host.companion.lockfile import bind_socket

    monkeypatch.setattr(server, "HEAD_SECONDS", 0.3)

    async def send_without_end() -> None:
        web = WebServer(FastAPI(), bind_socket("127.0.0.1", 0), "127.0.0.1", Supervisor(), 16)
        await web.start()
        _, writer = await asyncio.open_connection("127.0.0.1", web.port)
        with pytest.raises(ConnectionError):
            async with asyncio.timeout(SECONDS):
                writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nX: ")
                while True:
                    writer.write(b"y")
                    await writer.drain()
                    await asyncio.sleep(BETWEEN_BYTES)
        writer.close()
        await web.stop()

    asyncio.run(send_without_end())


# --- where it listens


@in_one_case("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_loopback_asks_for_no_tokens(host: str):
    assert is_loopback(host) and not tokens_required(SecuritySettings(), host)


@in_one_case("host", ["0.0.0.0", "::", "192.168.1.2", "companion.local", "", "127.0.0.1.nip.example"])
def test_any_other_address_asks_for_tokens(host: str):
    assert tokens_required(SecuritySettings(), host)


@in_one_case(
    "is_secure, setting, has_devices, is_fine",
    [
        (False, "auto", False, False),
        (True, "auto", False, False),
        (False, "on", False, False),
        (False, "auto", True, False),
        (True, "auto", True, True),
        (False, "on", True, True),
    ],
)
def test_a_wide_listener_needs_a_token_and_tls_or_a_word(
    is_secure: bool, setting: str, has_devices: bool, is_fine: bool
):
    http = HttpSettings(host="0.0.0.0", certificate="c" if is_secure else "")
    if is_fine:
        check_exposure(SecuritySettings(setting), http, has_devices=has_devices)
    else:
        with pytest.raises(SettingError, match=r"http\.host"):
            check_exposure(SecuritySettings(setting), http, has_devices=has_devices)


def test_it_does_not_start_wide_without_tokens_and_says_why(tmp_path: Path):
    status, told = failed_start(tmp_path / "home", "--http-host", "0.0.0.0")
    assert status == 2 and "engram device add" in told and "Traceback" not in told


@in_one_case("content", ['certificate = "none.pem"\nkey = "none.pem"', 'certificate = "none.pem"'])
def test_a_wrong_certificate_ends_it_with_a_sentence(tmp_path: Path, content: str):
    home = tmp_path / "home"
    home.mkdir()
    (home / "companion.toml").write_text(f"[http]\n{content}\n")
    status, told = failed_start(home)
    assert status == 2 and "http.certificate" in told and "Traceback" not in told


def test_a_route_that_declares_nothing_is_the_operators_in_a_router_too():
    from fastapi import APIRouter, FastAPI

    from engram_host.companion.auth.access import RouteRules, requires

    async def answer() -> None: ...

    app, router = FastAPI(), APIRouter(prefix="/v1/devices/{device}")
    router.add_api_route("/undeclared", answer)
    router.add_api_route("/declared", answer, openapi_extra=requires(Role.OWN_DEVICE))
    app.include_router(router)
    rules = RouteRules(app)

    def found(path: str) -> tuple[Role, str]:
        rule = rules.find({"type": "http", "method": "GET", "path": path})
        return rule.role, rule.device

    assert found("/v1/devices/kitchen/undeclared") == (Role.OPERATOR, "kitchen")
    assert found("/v1/devices/kitchen/declared") == (Role.OWN_DEVICE, "kitchen")
    assert found("/v1/nothing") == (Role.DEVICE, "")
