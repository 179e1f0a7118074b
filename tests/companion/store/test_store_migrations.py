"""The schema of a database: made, brought up to date, or refused."""

import contextlib
import threading
from collections.abc import Callable, Iterator

import psycopg
import pytest

from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.store import CompanionStore, choose_store, database, postgres, sqlite
from engram_host.companion.store.database import Migration
from engram_host.companion.store.rows import Rows
from plain_board import PlainBoard
from waiting import wait_until

pytestmark = pytest.mark.no_tables

NEXT = Migration(1000, "more", "CREATE TABLE more (number INTEGER);\nINSERT INTO more VALUES (7);\n")
BROKEN = Migration(1000, "broken", "CREATE TABLE more (number INTEGER);\nINSERT INTO nowhere VALUES (7);\n")
REAL = database.bundled_migrations


def knows(monkeypatch: pytest.MonkeyPatch, *steps: Migration):
    """Let this version know other migrations, too."""
    monkeypatch.setattr(database, "bundled_migrations", lambda: [*REAL(), *steps])


def test_an_empty_database_gets_all_migrations_and_the_next_start_none(store_url: str):
    first, second = choose_store(store_url), choose_store(store_url)
    assert len(first.open()) == len(REAL())
    assert second.open() == []
    first.close()
    second.close()


def test_an_older_database_is_brought_up_to_date_and_keeps_what_it_has(
    store_url: str, store: CompanionStore, monkeypatch: pytest.MonkeyPatch
):
    board = PlainBoard(store)
    board.logs["journal"].append(5)
    board.sync()
    knows(monkeypatch, NEXT)
    later = choose_store(store_url)
    assert later.open() == ["the database has schema 1000 now (more)."]
    assert later.boards.device(board.name).have["journal"] == 5
    later.close()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls that wait for a lock for a tenth of a second only."""
    monkeypatch.setattr(postgres, "_OPTIONS", postgres._OPTIONS.replace("lock_timeout=10s", "lock_timeout=100ms"))
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.1)


@contextlib.contextmanager
def migrating(url: str) -> Iterator[threading.Event]:
    """Another process that is in the midst of a migration, until the event is set."""
    begun, end = threading.Event(), threading.Event()
    other = choose_store(url)
    other.database.connect()

    def hold(rows: Rows) -> None:
        rows.lock_schema()
        begun.set()
        assert end.wait(60)

    thread = threading.Thread(target=other.database.write, args=(hold,))
    thread.start()
    assert begun.wait(60)
    try:
        yield end
    finally:
        end.set()
        thread.join()
        other.close()


def test_while_another_worker_migrates_the_next_one_waits_for_longer_than_other_calls_do(
    store_url: str, impatient: None, caplog: pytest.LogCaptureFixture
):
    store = choose_store(store_url)
    done: list[str] = []
    with migrating(store_url) as end:
        thread = threading.Thread(target=lambda: done.extend(store.open()))
        thread.start()
        wait_until("it waits", lambda: caplog.text.count("waiting for it") > 1)
        assert done == []
        end.set()
        thread.join()
    assert len(done) == len(REAL())
    store.close()


def test_a_newer_database_is_refused(open_store: Callable[[], CompanionStore], monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as newer:
        knows(newer, NEXT)
        open_store()
    with pytest.raises(StoreUnavailable, match=r"newer version of Engram \(its schema is 1000.*update Engram"):
        open_store()


def test_a_database_made_by_other_steps_is_refused(
    open_store: Callable[[], CompanionStore], monkeypatch: pytest.MonkeyPatch
):
    with monkeypatch.context() as other:
        knows(other, NEXT)
        open_store()
    knows(monkeypatch, BROKEN)
    with pytest.raises(StoreUnavailable, match="schema 1000 is not the one of this version"):
        open_store()


def test_a_migration_that_fails_leaves_nothing(
    open_store: Callable[[], CompanionStore], monkeypatch: pytest.MonkeyPatch
):
    with monkeypatch.context() as broken:
        knows(broken, BROKEN)
        with pytest.raises((StoreUnavailable, psycopg.Error)):
            open_store()
    knows(monkeypatch, NEXT)
    assert isinstance(open_store().boards.devices(), list)
