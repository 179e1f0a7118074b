"""The tables of a database: made once, or refused."""

import threading
from collections.abc import Callable

import psycopg
import pytest

from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.store import CompanionStore, choose_store, database, postgres, sqlite
from engram_host.companion.store.queries import Rows
from plain_board import PlainBoard
from waiting import wait_until

pytestmark = pytest.mark.no_tables


def test_a_second_start_keeps_what_the_tables_have(open_store: Callable[[], CompanionStore]):
    board = PlainBoard(open_store())
    board.logs["journal"].append(5)
    board.sync()
    assert open_store().boards.device(board.name).have["journal"] == 5


def test_while_another_process_makes_the_tables_the_next_one_waits_for_longer_than_other_calls_do(
    store_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(postgres, "_OPTIONS", postgres._OPTIONS.replace("lock_timeout=10s", "lock_timeout=100ms"))
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.1)
    begun, end = threading.Event(), threading.Event()
    other, store = choose_store(store_url), choose_store(store_url)
    other.database.connect()

    def hold(rows: Rows) -> None:
        rows.lock_schema()
        begun.set()
        assert end.wait(60)

    threads = [threading.Thread(target=other.database.write, args=(hold,)), threading.Thread(target=store.open)]
    threads[0].start()
    assert begun.wait(60)
    threads[1].start()
    wait_until("it waits", lambda: caplog.text.count("waiting for it") > 1)
    end.set()
    for thread in threads:
        thread.join()
    assert store.boards.devices() == []
    store.close()
    other.close()


def test_a_database_of_another_version_is_refused(
    open_store: Callable[[], CompanionStore], monkeypatch: pytest.MonkeyPatch
):
    open_store()
    monkeypatch.setattr(database, "schema_version", lambda: "another")
    with pytest.raises(StoreUnavailable, match="another version of Engram"):
        open_store()


def test_tables_of_which_one_cannot_be_made_are_not_there(
    open_store: Callable[[], CompanionStore], monkeypatch: pytest.MonkeyPatch
):
    with monkeypatch.context() as broken:
        schema = database.schema_sql()
        broken.setattr(database, "schema_sql", lambda: f"{schema}\nINSERT INTO nowhere VALUES (7);\n")
        with pytest.raises((StoreUnavailable, psycopg.Error)):
            open_store()
    assert open_store().boards.devices() == []
