"""A transaction whose connection to PostgreSQL breaks is repeated before its COMMIT, and an error after it."""

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.store import CompanionStore, choose_store
from engram_host.companion.store.postgres import _WRITE
from engram_host.companion.types import GatewayUse
from postgres_server import PostgresServer

NONE = {"device": GatewayUse(0, 0), "all": GatewayUse(0, 0)}


class Cut:
    """Breaks the connection of the next `cuts` statements that are a `query`."""

    def __init__(self, url: str):
        self._admin = psycopg.connect(url, autocommit=True)
        self.cuts = 0
        self.query: bytes | str = _WRITE

    def close(self) -> None:
        self._admin.close()

    def execute(self, execute: Callable[..., Any], connection: Any, query: Any, *more: Any, **words: Any) -> Any:
        if query == self.query and self.cuts > 0:
            self.cuts -= 1
            self._admin.execute("SELECT pg_terminate_backend(%s, 5000)", (connection.info.backend_pid,))
        return execute(connection, query, *more, **words)


@pytest.fixture
def cut(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cut]:
    postgres.clear()
    found = Cut(postgres.url)
    execute = psycopg.Connection.execute
    monkeypatch.setattr(psycopg.Connection, "execute", lambda *words, **more: found.execute(execute, *words, **more))
    yield found
    found.close()


@pytest.fixture
def own_store(postgres: PostgresServer, cut: Cut) -> Iterator[CompanionStore]:
    store = choose_store(postgres.url)
    store.open()
    yield store
    store.close()


def test_a_transaction_whose_connection_breaks_before_its_commit_is_repeated(own_store: CompanionStore, cut: Cut):
    cut.cuts = 1
    assert own_store.gateway.begin_call(7, "kitchen", 10, NONE) == ""
    assert own_store.gateway.gateway_used(7) == {"": GatewayUse(1, 10), "kitchen": GatewayUse(1, 10)}


def test_a_commit_that_is_not_confirmed_is_an_error(own_store: CompanionStore, cut: Cut):
    cut.cuts, cut.query = 1, "COMMIT"
    with pytest.raises(StoreUnavailable, match="PostgreSQL cannot be used now"):
        own_store.gateway.begin_call(7, "kitchen", 10, NONE)
    own_store.values.put("note", "kept")
    assert own_store.values.get("note") == "kept"
