"""The store's calls and its databases' names."""

from engram_host.companion.store import CompanionStore, choose_store
from one_case import in_one_case


@in_one_case("url, name", [("sqlite:///companion.db", "SQLite"), ("postgresql://there/db", "PostgreSQL")])
def test_a_database_has_the_name_that_people_know(url: str, name: str):
    assert choose_store(url).database.name == name


def test_more_boards_are_listed_and_counted_than_a_statement_takes_values(store: CompanionStore):
    names = [f"board-{number:05d}" for number in range(33_000)] + ["folder:x"]
    row = "(?, 'b', 0, 0, 0, 0, 0, 0, '')"
    store.database.write(lambda rows: rows.run_many(f"INSERT INTO devices VALUES {row}", [(name,) for name in names]))
    assert [device.name for device in store.boards.sources()] == names
    assert store.health.gauges()["engram_devices"] == 33_000
