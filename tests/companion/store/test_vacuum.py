"""PostgreSQL's VACUUM: what of it somebody has to know."""

from collections.abc import Iterator, Sequence
from typing import Any

import psycopg
import pytest

from engram_host.cli.doctor_checks import _postgres as doctor_findings
from engram_host.companion.diagnosis.findings import WRONG
from engram_host.companion.store import CompanionStore, choose_store
from engram_host.companion.store.sql.vacuum import DEAD_LEAST, LONG_SECONDS, vacuum_problems
from one_case import in_one_case
from postgres_server import PostgresServer
from waiting import wait_until


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


def problems(open_seconds: int = 0, live: int = 1_000_000, dead: int = 100) -> list[str]:
    def ask(sql: str) -> Sequence[tuple[Any, ...]]:
        return [("lines", live, dead)] if "n_dead_tup" in sql else [(True, open_seconds)]

    return vacuum_problems(ask)


def test_many_dead_rows_and_an_old_transaction_are_problems():
    found = problems(LONG_SECONDS, 2 * DEAD_LEAST, DEAD_LEAST)
    assert "open for 24 hours" in found[0] and "50,000 dead rows" in found[1] and "table lines" in found[1]


@in_one_case("live, dead", [(0, DEAD_LEAST - 1), (2 * DEAD_LEAST + 1, DEAD_LEAST)])
def test_few_dead_rows_are_no_problem(live: int, dead: int):
    assert problems(LONG_SECONDS - 1, live, dead) == []


def test_autovacuum_that_is_off_is_a_problem_of_the_store_and_of_the_doctor(
    opened: CompanionStore, postgres: PostgresServer, without_autovacuum: None
):
    (problem,) = opened.database.warnings()
    assert problem.startswith("autovacuum is off")
    (_, vacuum) = doctor_findings(postgres.url)
    assert vacuum.state == WRONG and "autovacuum = on" in vacuum.advice


def test_a_database_that_is_vacuumed_has_no_problem(opened: CompanionStore, postgres: PostgresServer):
    assert len(list(doctor_findings(postgres.url))) == 1
