"""Daily quotas of lines that boards add, in UTC."""

from collections.abc import Iterable

from engram_host.companion.errors import Refused
from engram_host.companion.store.boards.copy_events import EVENTS
from engram_host.companion.store.queries import Rows
from engram_host.companion.store.sql.statements import padded, placeholders
from engram_host.companion.types import LineQuota

DAY_SECONDS = 86400

MOST_EPOCHS = 100
"""Resets and returns to former epochs per board and day: each leaves a copy or writes as much."""

AGAIN_SECONDS = 900


class DayUse:
    """Use of some boards on the day of `now`; lock their rows before, and call save() after."""

    def __init__(self, rows: Rows, names: Iterable[str], now: int):
        self._rows = rows
        self._now = now
        self._day = now // DAY_SECONDS
        wanted = padded(sorted(set(names)))
        where = f"day = ? AND device IN ({placeholders(wanted)})"
        sql = f"SELECT device, lines, bytes, epochs FROM device_use WHERE {where}"
        found = rows.run(sql, (self._day, *wanted)) if wanted else []
        self._used: dict[str, list[int]] = {name: list(counts) for name, *counts in found}
        self._changed: set[str] = set()

    def add(self, device: str, lines: int = 0, size: int = 0, epochs: int = 0) -> None:
        used = self._used.setdefault(device, [0, 0, 0])
        for at, count in enumerate((lines, size, epochs)):
            used[at] += count
        self._changed.add(device)

    def line_refusal(self, device: str, quota: LineQuota) -> Refused | None:
        """Return a refusal if the quota is used up; the last batch may exceed it."""
        lines, size, _ = self._used.get(device, (0, 0, 0))
        if quota.lines and lines >= quota.lines:
            return Refused(EVENTS.say("quota_lines", board=device, sent=lines, quota=quota.lines), self._again)
        if quota.bytes and size >= quota.bytes:
            sent, most = f"{size / (1 << 20):.1f}", quota.bytes >> 20
            return Refused(EVENTS.say("quota_bytes", board=device, sent=sent, quota=most), self._again)
        return None

    def epoch_refusal(self, device: str, new: int) -> Refused | None:
        epochs = self._used.get(device, (0, 0, 0))[2]
        if epochs + new <= MOST_EPOCHS:
            return None
        return Refused(EVENTS.say("quota_resets", board=device, n=epochs, most=MOST_EPOCHS), self._again)

    def save(self) -> None:
        self._rows.run_many(
            "INSERT INTO device_use (day, device, lines, bytes, epochs) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (day, device) DO UPDATE SET "
            "lines = excluded.lines, bytes = excluded.bytes, epochs = excluded.epochs",
            [(self._day, name, *self._used[name]) for name in sorted(self._changed)],
        )

    @property
    def _again(self) -> int:
        return min(AGAIN_SECONDS, DAY_SECONDS - self._now % DAY_SECONDS)
