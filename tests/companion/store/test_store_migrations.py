"""The schema of a database: made, brought up to date, or refused."""

from collections.abc import Callable

import psycopg
import pytest

from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.store import CompanionStore, choose_store, database
from engram_host.companion.store.database import Migration
from plain_board import PlainBoard

pytestmark = pytest.mark.no_tables

NEXT = Migration(1000, "more", "CREATE TABLE more (number INTEGER);\nINSERT INTO more VALUES (7);\n")
BROKEN = Migration(1000, "broken", "CREATE TABLE more (number INTEGER);\nINSERT INTO nowhere VALUES (7);\n")
REAL = database.bundled_migrations


def knows(monkeypatch: pytest.MonkeyPatch, *steps: Migration):
    """Let this version know other migrations, too."""
    monkeypatch.setattr(database, "bundled_migrations", lambda dialect: [*REAL(dialect), *steps])


def test_an_empty_database_gets_all_migrations_and_the_next_start_none(store_url: str):
    first, second = choose_store(store_url), choose_store(store_url)
    assert len(first.open()) == len(REAL("sqlite"))
    assert second.open() == []
    first.close()
    second.close()


def test_both_databases_have_the_same_migrations():
    assert [(one.number, one.name) for one in REAL("sqlite")] == [(one.number, one.name) for one in REAL("postgres")]


def test_an_older_database_is_brought_up_to_date_and_keeps_what_it_has(
    store_url: str, store: CompanionStore, monkeypatch: pytest.MonkeyPatch
):
    board = PlainBoard(store)
    board.logs["journal"].append(5)
    board.sync()
    knows(monkeypatch, NEXT)
    later = choose_store(store_url)
    assert later.open() == ["the database has schema 1000 now (more)."]
    assert later.device(board.name).have["journal"] == 5
    later.close()


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
    assert isinstance(open_store().devices(), list)
