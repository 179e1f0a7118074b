"""Leases: what only one of several workers on a database does. The time is that of the database, never that of a machine."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from engram_host.companion.errors import LeaseLost
from engram_host.companion.store.database import DatabaseTable, reads, writes
from engram_host.companion.store.queries import Rows
from engram_host.companion.store.sql.statements import placeholders

NOBODY = ""
"""The holder of a lease that was returned."""


@dataclass(frozen=True)
class LeaseRow:
    """A lease: who holds it, its fence, and for how many milliseconds more; 0 if its time is over."""

    name: str
    holder: str
    fence: int
    left: int


class LeaseTable(DatabaseTable):
    """The leases of a database."""

    @writes
    def hold_leases(
        self,
        rows: Rows,
        holder: str,
        names: Collection[str],
        seconds: float,
        has_ended: Callable[[str], bool] = lambda holder: False,
    ) -> dict[str, int]:
        """Renew leases, and take those that nobody holds any more, all for some seconds from now: the fences of those that
        `holder` has, by name. `has_ended(holder)` says that a holder cannot go on: its leases are taken before their time.
        """
        wanted = sorted(set(names))
        if not wanted:
            return {}
        free = [(name, NOBODY, 0, 0) for name in wanted]
        insert = "INSERT INTO leases (name, holder, fence, until) VALUES (?, ?, ?, ?) ON CONFLICT (name) DO NOTHING"
        rows.run_many(insert, free)
        held: dict[str, int] = {}
        for lease in _locked(rows, wanted):
            if lease.holder == holder:
                # Its time may be over: nobody took it meanwhile.
                held[lease.name] = lease.fence
            elif lease.holder == NOBODY or not lease.left or has_ended(lease.holder):
                held[lease.name] = lease.fence + 1
        until = rows.clock_ms() + round(seconds * 1000)
        rows.run_many(
            "UPDATE leases SET holder = ?, fence = ?, until = ? WHERE name = ?",
            [(holder, fence, until, name) for name, fence in sorted(held.items())],
        )
        return held

    @writes
    def return_leases(self, rows: Rows, holder: str, names: Iterable[str] | None = None) -> None:
        """Let others hold some leases of a holder, or all, at once."""
        if names is None:
            names = [name for (name,) in rows.run("SELECT name FROM leases WHERE holder = ?", (holder,))]
        wanted = sorted(set(names))
        sql = "UPDATE leases SET holder = ?, until = 0 WHERE name = ? AND holder = ?"
        rows.run_many(sql, [(NOBODY, name, holder) for name in wanted])

    @writes
    def put_under_lease(self, rows: Rows, lease: str, fence: int, note: str, value: str) -> None:
        """Keep a note as the holder of a lease. LeaseLost if the lease has had another holder since that fence."""
        require_fence(rows, lease, fence)
        sql = "INSERT INTO notes (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
        rows.run(sql, (note, value))

    @reads
    def leases(self, rows: Rows) -> list[LeaseRow]:
        """All leases, by name."""
        return _shown(rows, rows.run("SELECT name, holder, fence, until FROM leases ORDER BY name"))


def require_fence(rows: Rows, lease: str, fence: int) -> None:
    """Let a transaction go on only while nobody else has got a lease since its holder had that fence. LeaseLost."""
    found = rows.run(f"SELECT fence FROM leases WHERE name = ?{rows.for_update}", (lease,))
    if found != [(fence,)]:
        raise LeaseLost(lease)


def _locked(rows: Rows, names: list[str]) -> list[LeaseRow]:
    """Leases, for nobody else to change until the transaction ends; in the order of names, so that two never wait for each
    other.
    """
    sql = f"SELECT name, holder, fence, until FROM leases WHERE name IN ({placeholders(names)}) ORDER BY name"
    return _shown(rows, rows.run(sql + rows.for_update, names))


def _shown(rows: Rows, found: Iterable[tuple[str, str, int, int]]) -> list[LeaseRow]:
    # The clock is read once the rows are locked: whoever waited for them must not count the time before.
    now = rows.clock_ms()
    return [LeaseRow(name, holder, fence, max(0, until - now)) for name, holder, fence, until in found]
