"""Records the statements that a store executes on PostgreSQL, and asks the server how it reads the tables for each."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import psycopg

from engram_host.companion.store.postgres import PostgresRows


@dataclass
class RecordedStatements:
    """Statements, each with the values that it was executed with last."""

    statements: dict[str, Sequence[Any]] = field(default_factory=dict)

    def add(self, sql: str, values: Sequence[Any]) -> None:
        """Keep a statement that has a plan."""
        if sql.split(None, 1)[0] in ("SELECT", "INSERT", "UPDATE", "DELETE"):
            self.statements[sql] = values


@contextmanager
def recorded_statements() -> Iterator[RecordedStatements]:
    """Record what all stores on PostgreSQL execute meanwhile."""
    found = RecordedStatements()
    run, run_many, count = PostgresRows.run, PostgresRows.run_many, PostgresRows.count

    def recording_run(self: PostgresRows, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        found.add(sql, values)
        return run(self, sql, values)

    def recording_run_many(self: PostgresRows, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        if rows:
            found.add(sql, rows[0])
        run_many(self, sql, rows)

    def recording_count(self: PostgresRows, sql: str, values: Sequence[Any] = ()) -> int:
        found.add(sql, values)
        return count(self, sql, values)

    with patch.multiple(PostgresRows, run=recording_run, run_many=recording_run_many, count=recording_count):
        yield found


def sequential_scans(connection: "psycopg.Connection[Any]", sql: str, values: Sequence[Any]) -> set[str]:
    """The tables that the server reads from their first row to their last for a statement with some values."""
    marked = sql.replace("?", "%s").encode()
    ((plans,),) = connection.execute(b"EXPLAIN (FORMAT JSON) " + marked, values).fetchall()
    return set(_scanned(plans[0]["Plan"]))


def sequential_scans_of_any(connection: "psycopg.Connection[Any]", sql: str) -> set[str]:
    """The same for the plan that the server keeps for a prepared statement, whatever its values are."""
    parts = sql.split("?")
    numbered = "".join(f"{part}${number}" for number, part in enumerate(parts[:-1], 1)) + parts[-1]
    ((plans,),) = connection.execute(f"EXPLAIN (FORMAT JSON, GENERIC_PLAN) {numbered}".encode()).fetchall()
    return set(_scanned(plans[0]["Plan"]))


def _scanned(plan: dict[str, Any]) -> Iterator[str]:
    if plan["Node Type"] == "Seq Scan":
        yield plan["Relation Name"]
    for part in plan.get("Plans", ()):
        yield from _scanned(part)
