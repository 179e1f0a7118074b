"""PostgreSQL's VACUUM: what of it somebody has to know, and what the server itself says."""

from collections.abc import Iterator
from dataclasses import replace

import psycopg
import pytest

from engram_host.cli.doctor.companion_checks import _postgres as doctor_findings
from engram_host.companion.diagnosis.findings import WATCH, WELL, WRONG
from engram_host.companion.store import CompanionStore, choose_store
from engram_host.companion.store.sql.vacuum import DEAD_LEAST, MOST_AGE, TableRows, VacuumState, read_vacuum_state
from one_case import in_one_case
from postgres_server import PostgresServer
from waiting import wait_until

SOUND = VacuumState(True, 1000, 0, 1 << 30, [TableRows("lines", 1_000_000, 100, 1_700_000_000)])


@pytest.fixture
def opened(postgres: PostgresServer) -> Iterator[CompanionStore]:
    postgres.clear()
    store = choose_store(postgres.url)
    store.open()
    yield store
    store.close()


@pytest.fixture
def without_autovacuum(postgres: PostgresServer) -> Iterator[None]:
    with psycopg.connect(postgres.url, autocommit=True) as admin:

        def switch(sql: bytes, shown: str) -> None:
            admin.execute(sql)
            admin.execute("SELECT pg_reload_conf()")
            wait_until("the server has its settings", lambda: admin.execute("SHOW autovacuum").fetchone() == (shown,))

        switch(b"ALTER SYSTEM SET autovacuum = off", "off")
        yield
        switch(b"ALTER SYSTEM RESET autovacuum", "on")


def test_a_database_that_is_vacuumed_has_no_problem():
    assert SOUND.problems == []


def test_a_table_with_many_dead_rows_is_named_with_its_last_vacuum():
    behind = replace(SOUND, tables=[TableRows("lines", 2 * DEAD_LEAST, DEAD_LEAST, 0)])
    (problem,) = behind.problems
    assert "50,000 dead rows" in problem and "table lines" in problem and "never vacuumed" in problem


@in_one_case("live, dead", [(0, DEAD_LEAST - 1), (2 * DEAD_LEAST + 1, DEAD_LEAST)])
def test_few_dead_rows_are_no_problem(live: int, dead: int):
    assert replace(SOUND, tables=[TableRows("lines", live, dead, 0)]).problems == []


def test_transactions_that_are_not_forgotten_are_a_problem_long_before_the_server_stops():
    (problem,) = replace(SOUND, age=MOST_AGE).problems
    assert "stops at 2,000,000,000" in problem


def test_autovacuum_that_is_off_is_a_problem_of_the_store(opened: CompanionStore, without_autovacuum: None):
    (problem,) = opened.database.warnings()
    assert problem.startswith("autovacuum is off")


def test_the_server_says_what_is_dead_and_when_it_was_vacuumed(
    opened: CompanionStore, without_autovacuum: None, postgres: PostgresServer
):
    with psycopg.connect(postgres.url, autocommit=True) as connection:

        def notes() -> TableRows:
            state = read_vacuum_state(lambda sql: connection.execute(sql.encode()).fetchall())
            return next(table for table in state.tables if table.name == "notes")

        connection.execute("INSERT INTO notes SELECT 'note ' || n, '' FROM generate_series(1, 100) AS each (n)")
        connection.execute("DELETE FROM notes WHERE name LIKE 'note 1%'")
        connection.execute("SELECT pg_stat_force_next_flush()")
        before = notes()
        connection.execute("VACUUM notes")
        connection.execute("SELECT pg_stat_force_next_flush()")
        assert before.dead >= 12
        assert notes().dead == 0 and notes().vacuumed >= before.vacuumed and notes().vacuumed > 1_700_000_000


def test_lines_of_all_partitions_are_one_table(opened: CompanionStore):
    state = opened.database.read(lambda rows: read_vacuum_state(rows.run))
    names = [table.name for table in state.tables]
    assert names.count("lines") == 1 and not [name for name in names if name.startswith("lines_")]


# --- engram doctor


def test_the_doctor_shows_rows_and_the_last_vacuum(opened: CompanionStore, postgres: PostgresServer):
    (_, vacuum) = doctor_findings(postgres.url)
    assert vacuum.state == WELL and " dead; " in vacuum.detail


def test_the_doctor_finds_autovacuum_off(opened: CompanionStore, postgres: PostgresServer, without_autovacuum: None):
    (_, vacuum) = doctor_findings(postgres.url)
    assert vacuum.state == WRONG and "autovacuum = on" in vacuum.advice


def test_the_doctor_shows_a_transaction_that_is_open_for_hours(
    monkeypatch: pytest.MonkeyPatch, postgres: PostgresServer
):
    monkeypatch.setattr("engram_host.cli.doctor.companion_checks.LONG_SECONDS", 0)
    (_, vacuum) = doctor_findings(postgres.url)
    assert vacuum.state == WATCH and "pg_stat_activity" in vacuum.advice
