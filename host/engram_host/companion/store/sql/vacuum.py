"""Problems of PostgreSQL's VACUUM: until it runs, forgotten data stays in the server's files, and tables grow.

Autovacuum runs it, unless it is off or something keeps an old snapshot of the database open.
"""

from collections.abc import Callable, Sequence
from typing import Any

DEAD_SHARE = 0.5

DEAD_LEAST = 50_000

LONG_SECONDS = 86400

_DEAD_ROWS = (
    "SELECT relname, n_live_tup, n_dead_tup FROM pg_stat_user_tables WHERE schemaname = current_schema() ORDER BY 1"
)
_SERVER = (
    "SELECT current_setting('autovacuum') = 'on', coalesce((SELECT max(extract(epoch FROM now() - xact_start)) FROM "
    "pg_stat_activity WHERE backend_xmin IS NOT NULL AND datname = current_database()), 0)::bigint"
)

_AUTOVACUUM_OFF = (
    "autovacuum is off in PostgreSQL: what was forgotten stays in its files, and tables grow: set autovacuum = on."
)


def vacuum_problems(ask: Callable[[str], Sequence[tuple[Any, ...]]]) -> list[str]:
    """Return a sentence for each problem; `ask` executes a statement and returns its rows."""
    ((is_automatic, open_seconds),) = ask(_SERVER)
    found = [] if is_automatic else [_AUTOVACUUM_OFF]
    if open_seconds >= LONG_SECONDS:
        found.append(
            f"a transaction has been open for {open_seconds // 3600} hours in PostgreSQL, and VACUUM removes nothing that went "
            "since then: see pg_stat_activity for the program, and let it end."
        )
    for name, live, dead in ask(_DEAD_ROWS):
        if dead >= DEAD_LEAST and dead >= DEAD_SHARE * live:
            found.append(
                f"{dead:,} dead rows stand beside {live:,} in PostgreSQL's table {name}: "
                "see docs/guides/operating.md on VACUUM."
            )
    return found
