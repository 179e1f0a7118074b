"""The store's calls and its databases' names."""

from engram_host.companion.store import CompanionStore


def test_more_boards_are_listed_and_counted_than_a_statement_takes_values(store: CompanionStore):
    names = [f"board-{number:05d}" for number in range(33_000)] + ["folder:x"]
    row = "(?, 'b', 0, 0, 0, 0, 0, 0, '')"
    store.database.write(lambda rows: rows.run_many(f"INSERT INTO devices VALUES {row}", [(name,) for name in names]))
    assert [device.name for device in store.boards.sources()] == names
    assert store.health.gauges()["engram_devices"] == 33_000
