"""What the companion's tests share, and which of them run on both databases."""

from pathlib import Path

import pytest

from companion_fixtures import board, companion, mosquitto, open_store, postgres, store, store_url
from extent import IS_WHOLE, with_more

__all__ = ["board", "companion", "mosquitto", "open_store", "postgres", "store", "store_url"]

HERE = Path(__file__).parent

ON_BOTH_DATABASES = ("store/", "bridges/test_deliveries.py", "bridges/test_people.py")
"""How the paths of the files begin whose subject is SQL: they run on SQLite and on PostgreSQL, as do tests that are marked
`both_databases`. All others run on SQLite, and in `make soak` on PostgreSQL too.
"""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Let tests of SQL run on SQLite and on PostgreSQL, unless one names its databases."""
    named = [mark for mark in metafunc.definition.iter_markers("parametrize") if "store_url" in mark.args[0]]
    if "store_url" not in metafunc.fixturenames or named:
        return
    path = metafunc.definition.path.relative_to(HERE).as_posix()
    if path.startswith(ON_BOTH_DATABASES) or metafunc.definition.get_closest_marker("both_databases"):
        metafunc.parametrize("store_url", ["sqlite", "postgres"], indirect=True)
    elif IS_WHOLE:
        metafunc.parametrize("store_url", with_more(["sqlite"], ["postgres"]), indirect=True)
