"""State of PostgreSQL's VACUUM: until it runs, forgotten data stays in the server's files, and tables grow.

Autovacuum runs it, unless it is off or something keeps an old snapshot of the database open.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from engram_host.wording import format_size, format_time

DEAD_SHARE = 0.5

DEAD_LEAST = 50_000

MOST_AGE = 1_000_000_000
"""Transaction age to report: autovacuum begins at 200,000,000, and the server stops at 2,000,000,000."""

LONG_SECONDS = 3600

_TABLES = (
    "SELECT coalesce(parent.relname, stat.relname) AS name, sum(n_live_tup)::bigint, sum(n_dead_tup)::bigint, "
    "coalesce(extract(epoch FROM max(greatest(last_vacuum, last_autovacuum))), 0)::bigint "
    "FROM pg_stat_user_tables AS stat LEFT JOIN pg_inherits ON inhrelid = relid "
    "LEFT JOIN pg_class AS parent ON parent.oid = inhparent WHERE stat.schemaname = current_schema() "
    "GROUP BY 1 ORDER BY 3 DESC, 1"
)
_SERVER = (
    "SELECT current_setting('autovacuum') = 'on', (SELECT age(datfrozenxid) FROM pg_database WHERE datname = "
    "current_database())::bigint, coalesce((SELECT max(extract(epoch FROM now() - xact_start)) FROM pg_stat_activity "
    "WHERE backend_xmin IS NOT NULL AND datname = current_database()), 0)::bigint, "
    "pg_database_size(current_database())"
)

_AUTOVACUUM_OFF = (
    "autovacuum is off in PostgreSQL: what was forgotten stays in its files, and tables grow: set autovacuum = on."
)


@dataclass(frozen=True)
class TableRows:
    """Row counts of a table, and its last vacuum (Unix seconds, 0: never)."""

    name: str
    live: int
    dead: int
    vacuumed: int

    @property
    def is_behind(self) -> bool:
        return self.dead >= DEAD_LEAST and self.dead >= DEAD_SHARE * self.live


@dataclass(frozen=True)
class VacuumState:
    """State of VACUUM: `age` in transactions, `open_seconds` of the oldest one, `size` in bytes."""

    is_automatic: bool
    age: int
    open_seconds: int
    size: int
    tables: Sequence[TableRows]

    @property
    def problems(self) -> list[str]:
        found = [] if self.is_automatic else [_AUTOVACUUM_OFF]
        if self.age >= MOST_AGE:
            found.append(
                f"PostgreSQL remembers {self.age:,} transactions and stops at 2,000,000,000: run VACUUM, and see "
                "its log for what keeps autovacuum from ending."
            )
        found += [_behind(table) for table in self.tables if table.is_behind]
        return found

    @property
    def summary(self) -> str:
        live, dead = sum(table.live for table in self.tables), sum(table.dead for table in self.tables)
        last = max((table.vacuumed for table in self.tables), default=0)
        when = f"last vacuumed {format_time(last)}" if last else "not vacuumed yet"
        return f"{live:,} rows in {format_size(self.size)}, {dead:,} dead; {when}"


def read_vacuum_state(ask: Callable[[str], Sequence[tuple[Any, ...]]]) -> VacuumState:
    """Read the state of VACUUM; `ask` executes a statement and returns its rows."""
    ((is_automatic, age, open_seconds, size),) = ask(_SERVER)
    return VacuumState(is_automatic, age, open_seconds, size, [TableRows(*row) for row in ask(_TABLES)])


def _behind(table: TableRows) -> str:
    when = f"was vacuumed last {format_time(table.vacuumed)}" if table.vacuumed else "was never vacuumed"
    return (
        f"{table.dead:,} dead rows stand beside {table.live:,} in PostgreSQL's table {table.name}, "
        f"which {when}: see docs/guides/operating.md on VACUUM."
    )
