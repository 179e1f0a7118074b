"""The store of a companion that runs, opened beside it: for what no message and no request puts there."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from engram_host.companion.store import CompanionStore, choose_store


@contextmanager
def opened_store(home: Path) -> Iterator[CompanionStore]:
    """The SQLite store of the companion in a folder."""
    with closing(choose_store(f"sqlite:///{home / 'companion.db'}")) as store:
        store.open()
        yield store
