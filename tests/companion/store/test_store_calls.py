"""The store's calls and its databases' names."""

from collections import Counter

import pytest

from engram_host.companion.store import CompanionStore, choose_store
from one_case import in_one_case
from plain_board import PlainBoard


def test_no_call_of_the_store_is_written_twice():
    written = Counter(name for kind in CompanionStore.__mro__[:-1] for name in vars(kind) if not name.startswith("__"))
    assert "store_batches" in written and not [name for name, times in written.items() if times > 1]


@in_one_case("url, name", [("sqlite:///companion.db", "SQLite"), ("postgresql://there/db", "PostgreSQL")])
def test_a_database_has_the_name_that_people_know(url: str, name: str):
    assert choose_store(url).database.name == name


def test_more_boards_are_listed_and_counted_than_a_statement_takes_values(store: CompanionStore):
    names = [f"board-{number:05d}" for number in range(33_000)] + ["folder:x"]
    row = "(?, 'b', 0, 0, 0, 0, 0, 0, '')"
    store.database.write(lambda rows: rows.run_many(f"INSERT INTO devices VALUES {row}", [(name,) for name in names]))
    assert [device.name for device in store.sources()] == names
    assert store.count_devices() == 33_000


def test_boards_are_counted_by_one_statement(store: CompanionStore, monkeypatch: pytest.MonkeyPatch):
    PlainBoard(store).sync()
    kind = type(store.database.read(lambda rows: rows))
    asked: list[str] = []
    run = kind.run
    monkeypatch.setattr(kind, "run", lambda self, sql, values=(): asked.append(sql) or run(self, sql, values))
    assert store.count_devices() == 1 and len(asked) == 1 and "count(*)" in asked[0]
