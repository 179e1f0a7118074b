"""Lines that PostgreSQL gets by COPY leave the rows that single statements leave, whatever was there before."""

from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram_host.companion.store import CompanionStore, choose_store, postgres
from engram_host.companion.store.postgres import PostgresDatabase, PostgresRows, distinct_lines
from engram_host.companion.store.queries import Rows
from extent import HEALTH_CHECKS
from postgres_server import PostgresServer

CRCS = st.sampled_from(["", "0123abcd"])
"""An empty one is that of a line that was found damaged."""

LINES = st.lists(
    st.tuples(
        st.sampled_from(["attic", "kitchen"]),
        st.sampled_from(["records", "journal"]),
        st.just(1),
        st.integers(1, 4),
        st.integers(1, 1 << 62),
        st.just(7),
        CRCS,
        st.none() | st.binary(max_size=20),
    ),
    min_size=1,
    max_size=20,
)


@pytest.fixture
def copying_store(postgres: PostgresServer):
    """A store on an empty PostgreSQL."""
    postgres.clear()
    store = choose_store(postgres.url)
    store.open()
    yield store
    store.close()


def written(store: CompanionStore, before: list, lines: list, *, copied: bool) -> list:
    """The rows after some lines were written over others of which each is archived, and nothing of it kept."""
    found: list = []

    class UndoneError(Exception):
        pass

    def work(rows: Rows) -> None:
        Rows.upsert_lines(rows, before)
        rows.run("UPDATE lines SET archive = seq, beyond = TRUE")
        with patch.object(postgres, "COPIED_LINES", 1 if copied else 1 << 30):
            rows.upsert_lines(lines)
        found.extend(rows.run("SELECT * FROM lines ORDER BY device, log, epoch, seq"))
        raise UndoneError

    with pytest.raises(UndoneError):
        store.database.write(work)
    return found


def test_copied_lines_leave_the_rows_that_single_statements_leave(copying_store: CompanionStore):
    @settings(max_examples=60, suppress_health_check=HEALTH_CHECKS)
    @given(LINES, LINES)
    def check(before: list, lines: list):
        expected = written(copying_store, before, lines, copied=False)
        assert written(copying_store, before, lines, copied=True) == expected

    check()


@given(LINES)
def test_parts_of_lines_have_no_key_twice_and_keep_the_order(lines: list):
    parts = list(distinct_lines(lines))
    assert [line for part in parts for line in part] == lines
    for part in parts:
        assert len({line[:4] for line in part}) == len(part)


def test_copying_leaves_nothing_for_the_next_transaction(copying_store: CompanionStore):
    lines = [("attic", "journal", 1, seq, seq, 7, "0123abcd", b"line") for seq in range(1, postgres.COPIED_LINES + 1)]
    for _ in range(2):
        copying_store.database.write(lambda rows: rows.upsert_lines(lines))
    left = copying_store.database.write(_left_behind)
    assert left == [(0,)]


def _left_behind(rows: Rows) -> list:
    return rows.run("SELECT count(*) FROM new_lines")


def test_an_old_connection_is_replaced(postgres: PostgresServer):
    database = PostgresDatabase(postgres.url)
    database.connect()

    def backend() -> int:
        return database.read(lambda rows: rows.run("SELECT pg_backend_pid()"))[0][0]

    assert backend() == backend()
    with patch("engram_host.companion.store.postgres.CONNECTION_SECONDS", -1.0):
        old = backend()
    assert backend() != old
    database.close()


def test_few_lines_need_no_temporary_table(copying_store: CompanionStore):
    line = ("attic", "journal", 1, 1, 1, 7, "0123abcd", b"line")
    with patch.object(PostgresRows, "run_many", autospec=True) as run_many:
        copying_store.database.write(lambda rows: rows.upsert_lines([line]))
    assert run_many.call_count == 1
