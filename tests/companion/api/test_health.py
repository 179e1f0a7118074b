"""/v1/health and /v1/alive look at the database: they are quick whatever it does, and say so where it cannot serve."""

import asyncio
import shutil
import sqlite3
import threading
import time
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from companion_store import opened_store
from damaging import overwrite_page, tree_pages
from device_tokens import make_tokens
from engram_host.companion.errors import StoreDamaged, StoreUnavailable
from engram_host.companion.store import CompanionStore, choose_store
from engram_host.companion.store import health as store_health
from engram_host.companion.store.health import StoreLook
from one_case import in_one_case
from peers import Companion
from plain_board import PlainBoard, copy_lines
from sending import Sent
from waiting import SECONDS, wait_until

# --- looks


def test_a_look_holds_for_a_second_whoever_asks(monkeypatch: pytest.MonkeyPatch):
    now = 100.0
    monkeypatch.setattr(store_health.time, "monotonic", lambda: now)
    looks: list[int] = []
    store = StoreLook(lambda: looks.append(1) or [])

    async def ask() -> None:
        nonlocal now
        await asyncio.gather(*(store.look() for _ in range(50)))
        now = 100.9
        await store.look()
        assert len(looks) == 1
        now = 101.1
        await store.look()
        assert len(looks) == 2

    asyncio.run(ask())


def test_a_database_that_hangs_cannot_serve_and_is_asked_once(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(store_health, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(store_health, "KEPT_SECONDS", 0.0)
    is_free = threading.Event()
    looks: list[int] = []

    def probe() -> list[str]:
        looks.append(1)
        is_free.wait(30)
        return []

    async def ask() -> None:
        store = StoreLook(probe)
        assert "did not answer" in (await store.look()).down
        began = time.monotonic()
        assert "did not answer" in (await store.look()).down
        assert time.monotonic() - began < 5 and len(looks) == 1
        is_free.set()
        assert store._under_way
        await store._under_way
        monkeypatch.setattr(store_health, "LOOK_SECONDS", SECONDS)
        assert (await store.look()).down == ""

    asyncio.run(ask())


@in_one_case("error", [StoreUnavailable("it is gone."), ValueError("nonsense")])
def test_a_look_that_fails_says_why(error: Exception):
    def probe() -> list[str]:
        raise error

    assert str(error) in asyncio.run(StoreLook(probe).look()).down


# --- what is looked at


def test_a_look_writes_and_reads(store: CompanionStore):
    assert store.health.probe() == []
    assert store.values.get("probe")


def test_a_disk_that_is_nearly_full_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(100, 100, 5 << 20))
    with opened_store(tmp_path) as store:
        (sentence,) = store.health.probe()
    assert "only 5 MB left: make room" in sentence


# --- damage


def _damaged(path: Path) -> None:
    """A database with a board's hundred lines, of which the last page is damaged."""
    with opened_store(path.parent) as store:
        copy_lines(store, 100)
    overwrite_page(path, tree_pages(path)["lines"][-1])


def test_a_damaged_database_acknowledges_nothing_more(tmp_path: Path):
    path = tmp_path / "companion.db"
    _damaged(path)
    store = choose_store(f"sqlite:///{path}")
    store.open()
    other = PlainBoard(store, "garden", "board-2")
    other.logs["journal"].append(1)
    other.sync()  # nobody has seen the damage yet
    with pytest.raises(StoreDamaged):
        store.boards.changes("kitchen", 0)
    other.logs["journal"].append(1)
    with pytest.raises(StoreDamaged, match="nothing acknowledged"):
        other.sync()
    with pytest.raises(StoreDamaged):
        store.health.probe()
    store.close()


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Companion]:
    """A companion that has found its database damaged, and asks for tokens."""
    home = tmp_path_factory.mktemp("damaged") / "home"
    made = make_tokens(home, "kitchen")
    _damaged(home / "companion.db")
    with Companion(home, ENGRAM_TOKENS="on") as companion:
        companion.client.headers["X-Device"] = made["kitchen"]
        assert companion.client.get("/v1/devices/kitchen/lines?log=journal&limit=1000").status_code == 503
        wait_until("a look", lambda: httpx.get(f"{companion.url}/v1/alive").status_code == 503)
        yield companion


def test_health_of_a_damaged_database_is_503_and_tells_the_operator_why(damaged: Companion):
    operator = {"Authorization": damaged.client.headers["Authorization"]}
    answer = httpx.get(f"{damaged.url}/v1/health", headers=operator)
    assert answer.status_code == 503 and answer.json()["status"] == "down"
    assert "is damaged" in answer.json()["problem"] and "engram repair" in answer.json()["problems"][0]


def test_health_of_a_damaged_database_tells_a_board_nothing_of_it(damaged: Companion):
    board = {"Authorization": f"Bearer {damaged.client.headers['X-Device']}"}
    answer = httpx.get(f"{damaged.url}/v1/health", headers=board)
    assert answer.status_code == 503 and set(answer.json()) == {"status", "problem", "version"}
    assert "companion.db" not in answer.text


# --- where all is well


def test_alive_tells_nobody_anything_but_that(companion: Companion):
    answer = httpx.get(f"{companion.url}/v1/alive")
    assert answer.status_code == 204 and answer.content == b""


def test_health_tells_of_damaged_lines_and_serves(companion: Companion):
    board = Sent(companion.posted, "damaged-board")
    board.say("a turn that will be damaged")
    board.sync()
    with sqlite3.connect(companion.home / "companion.db", timeout=SECONDS) as database:
        database.execute("UPDATE lines SET line = x'00' WHERE device = 'damaged-board'")
    assert companion.client.get("/v1/devices/damaged-board/lines?log=journal").json() == []

    def told() -> bool:
        answer = companion.client.get("/v1/health")
        assert answer.status_code == 200
        return "damaged-board: 1 line of its journal" in str(answer.json()["problems"])

    wait_until("health tells of it", told)
    assert companion.client.get("/v1/health").json()["status"] == "degraded"
    assert companion.client.get("/v1/stats").json()["damaged_lines"] >= 1
