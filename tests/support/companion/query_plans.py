"""Records the statements that a store executes, and asks its database how it reads the tables for each."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import psycopg

from engram_host.companion.store.queries import Rows


@dataclass
class RecordedStatements:
    """Statements, each with the values that it was executed with last."""

    statements: dict[str, Sequence[Any]] = field(default_factory=dict)

    def add(self, sql: str, values: Sequence[Any]) -> None:
        """Keep a statement that has a plan."""
        if sql.split(None, 1)[0] in ("SELECT", "INSERT", "UPDATE", "DELETE"):
            self.statements[sql] = values


@contextmanager
def recorded_statements(kind: type[Rows]) -> Iterator[RecordedStatements]:
    """Record what all stores on one kind of database execute meanwhile."""
    found = RecordedStatements()
    run, run_many, count = kind.run, kind.run_many, kind.count

    def recording_run(self: Rows, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        found.add(sql, values)
        return run(self, sql, values)

    def recording_run_many(self: Rows, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        if rows:
            found.add(sql, rows[0])
        run_many(self, sql, rows)

    def recording_count(self: Rows, sql: str, values: Sequence[Any] = ()) -> int:
        found.add(sql, values)
        return count(self, sql, values)

    with patch.multiple(kind, run=recording_run, run_many=recording_run_many, count=recording_count):
        yield found


@dataclass(frozen=True)
class Scan:
    """How a table is read: `condition` is that of an index, "" if all of the table or of the index is read."""

    table: str
    index: str
    condition: str


def scans(connection: "psycopg.Connection[Any]", sql: str, values: Sequence[Any]) -> list[Scan]:
    """How the server reads tables for a statement with some values."""
    marked = sql.replace("?", "%s").encode()
    ((plans,),) = connection.execute(b"EXPLAIN (FORMAT JSON) " + marked, values, prepare=False).fetchall()
    return list(_scans(plans[0]["Plan"]))


def scans_whatever_the_values(connection: "psycopg.Connection[Any]", sql: str) -> list[Scan]:
    """The same for the plan that the server may keep for a prepared statement."""
    parts = sql.split("?")
    numbered = "".join(f"{part}${number}" for number, part in enumerate(parts[:-1], 1)) + parts[-1]
    ((plans,),) = connection.execute(
        f"EXPLAIN (FORMAT JSON, GENERIC_PLAN) {numbered}".encode(), prepare=False
    ).fetchall()
    return list(_scans(plans[0]["Plan"]))


def _scans(plan: dict[str, Any], table: str = "") -> Iterator[Scan]:
    table = plan.get("Relation Name", table)
    kind = plan["Node Type"]
    if kind in ("Seq Scan", "Index Scan", "Index Only Scan", "Bitmap Index Scan"):
        yield Scan(table, plan.get("Index Name", ""), plan.get("Index Cond", ""))
    for part in plan.get("Plans", ()):
        yield from _scans(part, table)


def scanned_by_sqlite(rows: Rows, sql: str, values: Sequence[Any]) -> list[str]:
    """What SQLite reads from end to end for a statement: `SCAN table`, or `SCAN table USING INDEX index`."""
    plan = rows.run(f"EXPLAIN QUERY PLAN {sql}", values)
    return [detail for *_, detail in plan if detail.startswith("SCAN ")]
