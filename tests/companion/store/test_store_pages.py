"""Lists of boards in pages, in both databases."""

from engram_host.companion.store import CompanionStore


def test_pages_of_boards_hold_no_folders(store: CompanionStore):
    for name in ("folder:notes", "attic", "garden", "kitchen"):
        store.database.write(lambda rows, name=name: rows.lock_or_make(name))
    assert [device.name for device in store.boards.devices_after("", 2)] == ["attic", "garden"]
    assert [device.name for device in store.boards.devices_after("garden", 2)] == ["kitchen"]
