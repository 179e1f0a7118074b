"""A transaction whose connection to PostgreSQL breaks at its COMMIT happens once, whether it was committed or not."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.store import CompanionStore, choose_store
from engram_host.companion.store.sql import postgres_transaction
from engram_host.companion.store.sql.postgres_transaction import is_committed
from engram_host.companion.types import AuditEntry, GatewayUse
from postgres_server import PostgresServer

NONE = {"device": GatewayUse(0, 0), "all": GatewayUse(0, 0)}


class Cut:
    """Breaks the connection of the next `cuts` transactions before or after the server commits them."""

    def __init__(self, url: str):
        self._admin = psycopg.connect(url, autocommit=True)
        self.cuts = 0
        self.is_after = True
        self.commits = 0

    def close(self) -> None:
        self._admin.close()

    def execute(self, execute: Callable[..., Any], connection: Any, query: Any, *more: Any, **words: Any) -> Any:
        if query != "COMMIT":
            return execute(connection, query, *more, **words)
        self.commits += 1
        self.cuts -= 1
        if self.cuts < 0:
            return execute(connection, query, *more, **words)
        if self.is_after:
            execute(connection, query, *more, **words)
        self._admin.execute("SELECT pg_terminate_backend(%s, 5000)", (connection.info.backend_pid,))
        return execute(connection, "SELECT 1")  # raises, since the connection is lost


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
    cut.commits = 0
    yield store
    store.close()


@pytest.mark.parametrize("is_after", [True, False], ids=["after", "before"])
def test_a_call_of_the_gateway_is_counted_once_if_its_commit_is_lost(
    own_store: CompanionStore, cut: Cut, is_after: bool
):
    cut.is_after = is_after
    cut.cuts = 1
    assert own_store.begin_call(7, "kitchen", 10, NONE) == ""
    cut.cuts = 1
    own_store.end_call(7, "kitchen", -4, 3)
    assert own_store.gateway_used(7) == {"": GatewayUse(1, 6, 3), "kitchen": GatewayUse(1, 6, 3)}


def test_a_call_that_reaches_the_limit_is_allowed_though_its_commit_was_lost(own_store: CompanionStore, cut: Cut):
    cut.cuts = 1
    limits = {"device": GatewayUse(1, 0), "all": GatewayUse(0, 0)}
    assert own_store.begin_call(7, "kitchen", 10, limits) == ""
    assert own_store.begin_call(7, "kitchen", 10, limits) == "device calls"


def test_an_entry_of_the_audit_log_is_there_once(own_store: CompanionStore, cut: Cut):
    cut.cuts = 1
    own_store.add_audit(AuditEntry(1, "operator", "search", "200", "127.0.0.1"))
    assert len(own_store.audit(10)) == 1


def test_a_transaction_whose_connection_breaks_twice_fails_and_has_not_happened(own_store: CompanionStore, cut: Cut):
    cut.is_after = False
    cut.cuts = 2
    with pytest.raises(StoreUnavailable, match="PostgreSQL cannot be used now"):
        own_store.begin_call(7, "kitchen", 10, NONE)
    assert cut.commits == 2 and own_store.gateway_used(7) == {}


# --- how a transaction stands on the server


@pytest.fixture
def two(postgres: PostgresServer) -> Iterator[tuple["psycopg.Connection[Any]", "psycopg.Connection[Any]", str]]:
    """A connection with a transaction that is under way, another one that asks for it, and its number."""
    with psycopg.connect(postgres.url) as one, psycopg.connect(postgres.url, autocommit=True) as other:
        ((number,),) = one.execute("SELECT pg_current_xact_id()::text").fetchall()
        yield one, other, number


def test_a_transaction_that_is_under_way_is_waited_for(two: Any):
    one, other, number = two
    found: list[bool] = []
    thread = threading.Thread(target=lambda: found.append(is_committed(other, number)))
    thread.start()
    one.commit()
    thread.join()
    assert found == [True]


def test_a_transaction_that_was_rolled_back_or_is_unknown_was_not_committed(two: Any):
    one, other, number = two
    one.rollback()
    assert not is_committed(other, number)
    assert not is_committed(other, str(int(number) + (1 << 40)))


def test_a_transaction_that_does_not_end_is_an_error(two: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(postgres_transaction, "STATUS_SECONDS", 0)
    _, other, number = two
    with pytest.raises(psycopg.OperationalError, match="has not ended yet"):
        is_committed(other, number)
