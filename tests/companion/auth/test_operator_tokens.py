"""Named tokens of operators, the grace time of boards' tokens, and the audit log: in both databases, over HTTP, by commands."""

import asyncio
import json
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx
import pytest

from cli_case import audit_log, engram, fine
from device_tokens import make_tokens
from engram_host.cli.exit_status import FAILED
from engram_host.companion.auth import access as audit_module
from engram_host.companion.auth import tokens
from engram_host.companion.auth.access import OPERATOR, STRANGER, ApiCaller, AuditLog, CallerLookup
from engram_host.companion.store import CompanionStore
from engram_host.companion.store import tokens as token_store
from engram_host.companion.types import AuditEntry
from one_case import in_one_case
from peers import Companion
from sending import Sent
from waiting import wait_until

SECRET = "the word that nobody else may read"


def told(*words: str | Path) -> str:
    """What a command prints that succeeds."""
    return fine(*words).out


# --- kept in the database


def _add(store: CompanionStore, name: str, *, read_only: bool = False, seconds: int = 0) -> str:
    token = tokens.new_token()
    assert store.tokens.add_operator_token(tokens.operator_token_entry(name, token, read_only, seconds))
    return token


def _who(store: CompanionStore, *asked: str) -> list[ApiCaller]:
    async def look() -> list[ApiCaller]:
        callers = CallerLookup(store.tokens, tokens.new_token())
        return [await callers.by_token(token) for token in asked]

    return asyncio.run(look())


def test_operators_are_known_by_their_named_tokens(store: CompanionStore):
    full, reader, ended = _add(store, "ann"), _add(store, "bob", read_only=True), _add(store, "cy", seconds=-1)
    assert _who(store, full, reader, ended) == [
        ApiCaller(is_operator=True, name="ann"),
        ApiCaller(is_operator=True, name="bob", is_read_only=True),
        STRANGER,
    ]


@pytest.mark.both_databases
def test_a_name_has_one_operator_token_until_it_is_removed(store: CompanionStore):
    first = _add(store, "ann")
    assert not store.tokens.add_operator_token(tokens.operator_token_entry("ann", tokens.new_token(), False, 0))
    assert store.tokens.remove_operator_token("ann") and not store.tokens.remove_operator_token("ann")
    assert _who(store, first, _add(store, "ann")) == [STRANGER, ApiCaller(is_operator=True, name="ann")]


def test_a_boards_former_token_works_until_its_grace_time_ends(store: CompanionStore):
    first, second, third = (tokens.new_token() for _ in range(3))
    digest = tokens.token_digest(first)
    store.tokens.add_token(tokens.stored_token("kitchen", first))
    assert store.tokens.replace_token(tokens.stored_token("kitchen", second), former_ends=2000)
    assert [store.tokens.device_of(digest, now) for now in (1999, 2000)] == ["kitchen", ""]
    assert store.tokens.former_tokens(1999) == {"kitchen": 2000} and store.tokens.former_tokens(2000) == {}
    assert store.tokens.replace_token(tokens.stored_token("kitchen", third), former_ends=3000)
    held = [store.tokens.device_of(tokens.token_digest(each), 1999) for each in (first, second, third)]
    assert held == ["", "kitchen", "kitchen"]


def test_a_rotation_without_grace_and_a_removal_end_the_former_token_too(store: CompanionStore):
    first = tokens.new_token()
    store.tokens.add_token(tokens.stored_token("kitchen", first))
    store.tokens.replace_token(tokens.stored_token("kitchen", tokens.new_token()), 2000)
    store.tokens.replace_token(tokens.stored_token("kitchen", tokens.new_token()))
    assert store.tokens.former_tokens(1999) == {}
    store.tokens.replace_token(tokens.stored_token("kitchen", tokens.new_token()), 2000)
    store.tokens.remove_token("kitchen")
    assert store.tokens.former_tokens(1999) == {}


@pytest.mark.both_databases
def test_the_audit_log_is_listed_newest_first_in_pages_and_bounded(
    store: CompanionStore, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(token_store, "ENTRIES_KEPT", 4)
    for at in range(6):
        store.audit.add_audit(AuditEntry(at, "ann", f"step {at}", "allowed", "127.0.0.1"))
    newest = store.audit.audit(3)
    assert [entry.at for entry in newest] == [5, 4, 3]
    assert [entry.at for entry in store.audit.audit(3, newest[-1].number)] == [2]


def test_equal_requests_are_one_entry_a_minute(store: CompanionStore, monkeypatch: pytest.MonkeyPatch):
    now = 1000.0
    monkeypatch.setattr(audit_module.time, "monotonic", lambda: now)

    async def work() -> None:
        nonlocal now
        log = AuditLog(store.audit)
        for seconds in (0, 1, 58, 2):
            now += seconds
            await log.note(OPERATOR, "GET /v1/devices", "allowed", "127.0.0.1")
        await log.note(OPERATOR, "GET /v1/devices", "allowed", "127.0.0.2")

    asyncio.run(work())
    assert [entry.address[-1] for entry in store.audit.audit(10)] == ["2", "1", "1"]


# --- over HTTP


class Guarded:
    """A companion that asks for tokens, with a board that has one and a memory."""

    def __init__(self, companion: Companion):
        self.companion = companion
        self.home = ("--home", companion.home)

    def add(self, name: str, *more: str) -> str:
        """A new named token."""
        return json.loads(told("token", "add", name, *more, *self.home, "--json"))["token"]

    def ask(self, token: str, method: str, path: str, **more: Any) -> httpx.Response:
        """What an HTTP request with a token is answered."""
        headers = {"Authorization": f"Bearer {token}"}
        return httpx.request(method, self.companion.url + path, headers=headers, timeout=30, **more)

    def noted(self) -> list[tuple[str, str, str]]:
        """Who, what and outcome of the audit log, newest first."""
        return [(entry.who, entry.action, entry.outcome) for entry in audit_log(self.companion.home)]


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    home = tmp_path_factory.mktemp("guarded") / "home"
    make_tokens(home, "kitchen")
    with Companion(home, ENGRAM_TOKENS="on") as companion:
        board = Sent(companion.posted, "kitchen")
        board.keep(SECRET)
        board.sync()
        yield Guarded(companion)


def test_a_read_only_token_reads_and_searches(guarded: Guarded):
    token = guarded.add("reader", "--read-only")
    for path in ("/v1/devices", "/v1/devices/kitchen/entries", "/v1/devices/kitchen/export", "/v1/stats", "/v1/audit"):
        assert guarded.ask(token, "GET", path).status_code == 200, path
    found = guarded.ask(token, "POST", "/v1/search", json={"query": "word"})
    assert found.status_code == 200 and SECRET in found.text


@in_one_case(
    "method, path",
    [
        ("POST", "/v1/devices/kitchen/messages"),
        ("POST", "/gateway/v1/chat/completions"),
        ("GET", "/gateway/v1/models"),
        ("DELETE", "/v1/devices/kitchen"),
    ],
)
def test_a_read_only_token_changes_and_costs_nothing(guarded: Guarded, method: str, path: str):
    name = f"{method}{path}".replace("/", "-").lower()[:32]
    token = guarded.add(name, "--read-only")
    answer = guarded.ask(token, method, path, content=b"{}" if method == "POST" else None)
    assert answer.status_code == 403 and "may only read" in answer.text
    assert (name, f"{method} {path}", "refused") in guarded.noted()


def test_both_tokens_of_a_board_work_in_the_grace_time(guarded: Guarded):
    first = json.loads(told("device", "add", "shed", *guarded.home, "--json"))["token"]
    second = json.loads(told("device", "rotate", "shed", "--grace", "24h", *guarded.home, "--json"))["token"]
    assert [guarded.ask(token, "GET", "/v1/health").status_code for token in (first, second)] == [200, 200]
    assert "old token until" in told("device", "list", *guarded.home)
    told("device", "rotate", "shed", *guarded.home, "--json")
    wait_until(
        "both have ended",
        lambda: {guarded.ask(token, "GET", "/v1/health").status_code for token in (first, second)} == {401},
    )


def test_the_audit_log_tells_requests_and_commands_and_no_secret(guarded: Guarded):
    token = guarded.add("sue")
    assert guarded.ask(token, "POST", "/v1/search", json={"query": SECRET}).status_code == 200
    assert guarded.ask(token, "GET", f"/v1/memory?path=x&principal={SECRET.split()[1]}").status_code == 404
    shown = json.dumps([asdict(entry) for entry in audit_log(guarded.companion.home)])
    assert "sue" in shown and "POST /v1/search" in shown and "token add sue" in shown and "127.0.0.1" in shown
    assert token not in shown and SECRET.split()[1] not in shown
    asked = guarded.ask(token, "GET", "/v1/audit?limit=2").json()
    assert len(asked) == 2 and asked[0]["number"] > asked[1]["number"]


# --- commands


def test_a_token_is_shown_once_with_what_it_may_do(tmp_path: Path):
    home = ("--home", tmp_path / "home")
    shown = told("token", "add", "ann", "--read-only", "--expires-in", "90d", *home)
    token = shown.split()[-1]
    listed = json.loads(told("token", "list", *home, "--json"))
    assert tokens.LOOKS_LIKE_TOKEN.fullmatch(token) and "read-only" in shown
    assert listed[0]["read_only"] and listed[0]["ends"] - time.time() == pytest.approx(90 * 86400, abs=60)
    assert engram("token", "add", "ann", *home).status == FAILED
    assert token.encode() not in b"".join(path.read_bytes() for path in (tmp_path / "home").iterdir())
