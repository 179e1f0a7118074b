"""The store's calls and its databases' names."""

from collections import Counter

import pytest

from engram_host.companion.store import CompanionStore, choose_store


def test_no_call_of_the_store_is_written_twice():
    written = Counter(name for kind in CompanionStore.__mro__[:-1] for name in vars(kind) if not name.startswith("__"))
    assert "store_batches" in written and not [name for name, times in written.items() if times > 1]


@pytest.mark.parametrize(
    ("url", "name"), [("sqlite:///companion.db", "SQLite"), ("postgresql://there/db", "PostgreSQL")]
)
def test_a_database_has_the_name_that_people_know(url: str, name: str):
    assert choose_store(url).database.name == name
