"""Daily quotas of lines that boards add, in UTC."""

from collections.abc import Iterable

from engram_host.companion.errors import Refused
from engram_host.companion.store.rows import EVENTS, Rows, in_list
from engram_host.companion.types import LineQuota

DAY_SECONDS = 86400

RESET_LINES = 2000
"""Quota cost in lines of a log's reset or return to a former epoch, which leaves a copy."""

AGAIN_SECONDS = 900


class DayUse:
    """Use of some boards on the day of `now`; lock their rows before, and call save() after."""

    def __init__(self, rows: Rows, names: Iterable[str], now: int):
        self._rows = rows
        self._now = now
        self._day = now // DAY_SECONDS
        some, values = in_list(sorted(set(names)))
        sql = f"SELECT device, lines, bytes FROM device_use WHERE day = ? AND device {some}"
        found = rows.run(sql, (self._day, *values)) if values else []
        self._used: dict[str, tuple[int, int]] = {name: (lines, size) for name, lines, size in found}
        self._changed: set[str] = set()

    def add(self, device: str, lines: int = 0, size: int = 0) -> None:
        known_lines, known_size = self._used.get(device, (0, 0))
        self._used[device] = known_lines + lines, known_size + size
        self._changed.add(device)

    def refusal(self, device: str, quota: LineQuota) -> Refused | None:
        """Return a refusal if the quota is used up; the last message may exceed it."""
        lines, size = self._used.get(device, (0, 0))
        again = min(AGAIN_SECONDS, DAY_SECONDS - self._now % DAY_SECONDS)
        if quota.lines and lines >= quota.lines:
            return Refused(EVENTS.say("quota_lines", board=device, sent=lines, quota=quota.lines), again)
        if quota.bytes and size >= quota.bytes:
            sent, most = f"{size / (1 << 20):.1f}", quota.bytes >> 20
            return Refused(EVENTS.say("quota_bytes", board=device, sent=sent, quota=most), again)
        return None

    def save(self) -> None:
        for name in sorted(self._changed):
            lines, size = self._used[name]
            self._rows.upsert(
                "device_use", "day, device", {"day": self._day, "device": name, "lines": lines, "bytes": size}
            )
