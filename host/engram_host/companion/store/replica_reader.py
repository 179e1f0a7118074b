"""The copies of the boards' logs, to read."""

from collections.abc import Iterator, Sequence

from engram_host.companion.errors import UnknownDevice
from engram_host.companion.store.database import Table, reads, reads_once
from engram_host.companion.store.queries import PRESENT, Rows
from engram_host.companion.store.row_types import DeviceRow, LogRow
from engram_host.companion.types import FOLDER, LOGS, Change, Device, LogName, LogState, SetAsideLine, Span

MOST_NUMBER = (1 << 63) - 1
"""The highest number of what was set aside."""

_LINES_AT_ONCE = 500
"""Read at a time by lines(): bounds what is in RAM, and no transaction stays open between them."""


class ReplicaReader(Table):
    """Devices, and the lines that they sent. A Markdown folder is kept as a device, its passages as records."""

    @reads
    def sources(self, rows: Rows) -> list[Device]:
        """All boards and folders, by name."""
        return _devices(rows)

    def devices(self) -> list[Device]:
        """All boards, by name; no Markdown folders."""
        return [device for device in self.sources() if not device.name.startswith(FOLDER)]

    @reads
    def device(self, rows: Rows, name: str) -> Device:
        """One board; UnknownDevice."""
        found = _devices(rows, name) if name else []
        if not found:
            raise UnknownDevice(name)
        return found[0]

    @reads_once
    def changes(self, rows: Rows, device: str, after: int, limit: int = 2000) -> list[Change]:
        """What has changed in the copies of the present epochs since a version, oldest first, at most `limit`.

        A line of which there are several versions comes once, as it is now.
        """
        # What was promised and not archived is nobody's to find any more when the board has let it go.
        line = "CASE WHEN lines.beyond AND lines.archive < 0 THEN NULL ELSE lines.line END"
        sql = f"SELECT lines.version, lines.log, lines.seq, {line} FROM lines {PRESENT.format('lines')}"
        found = rows.run(f"{sql} ORDER BY lines.version LIMIT ?", (device, after, limit))
        return [Change(version, log, seq, None if line is None else bytes(line)) for version, log, seq, line in found]

    def lines(self, span: Span, archived: bool = False) -> Iterator[tuple[int, bytes]]:
        """The lines of a span, in order, as the board has them; with `archived` also those that only the archive has."""
        after = span.after
        while part := self._lines(span, after, archived):
            yield from part
            if len(part) < _LINES_AT_ONCE:
                return
            after = part[-1][0]

    @reads
    def _lines(self, rows: Rows, span: Span, after: int, archived: bool) -> list[tuple[int, bytes]]:
        copy = LogRow(span.device, span.log, span.epoch)
        return rows.held(copy, after, span.to, _LINES_AT_ONCE, archived=archived)

    @reads_once
    def lines_at(
        self, rows: Rows, device: str, log: LogName, epoch: int, seqs: Sequence[int], archived: bool = False
    ) -> dict[int, bytes]:
        """Those of some lines that there are, by seq; `archived` as in lines()."""
        copy = LogRow(device, log, epoch)
        found: dict[int, bytes] = {}
        for start in range(0, len(seqs), _LINES_AT_ONCE):
            found.update(rows.chosen(copy, seqs[start : start + _LINES_AT_ONCE], archived))
        return found

    @reads
    def archived(self, rows: Rows, device: str, after: int = 0, limit: int = 100) -> list[tuple[int, bytes]]:
        """(seq, line) of the latest versions of archived records with a seq after `after`, in order."""
        copy = rows.present([device]).get((device, "records"))
        return rows.archived(copy, after, limit) if copy else []

    @reads
    def count_archived(self, rows: Rows) -> int:
        """How many records of all boards are archived."""
        # What is with the copy of a former epoch is in no archive, or in the present one as well.
        told = "is_present AND archive > 0 AND archive <> 0 AND line IS NOT NULL"
        found = f"SELECT DISTINCT device, archive FROM lines JOIN logs USING (device, log, epoch) WHERE {told}"
        return rows.run(f"SELECT count(*) FROM ({found}) AS found")[0][0]

    @reads
    def events(self, rows: Rows, device: str, limit: int = 100) -> list[tuple[int, str]]:
        """What has happened to a board's copies, newest first: [(Unix seconds, sentence), ...]."""
        return rows.events(device, limit)

    @reads
    def aside(self, rows: Rows, device: str, limit: int = 100, before: int = MOST_NUMBER) -> list[SetAsideLine]:
        """The lines that were set aside of a board's copies, newest first: those with numbers below `before`."""
        sql = "SELECT log, epoch, seq, at, why, line, number FROM aside WHERE device = ? AND number < ?"
        found = rows.run(f"{sql} ORDER BY number DESC LIMIT ?", (device, before, limit))
        return [
            SetAsideLine(log, epoch, seq, at, why, bytes(line), number)
            for log, epoch, seq, at, why, line, number in found
        ]


def _devices(rows: Rows, name: str = "") -> list[Device]:
    devices = rows.devices(name)
    copies = rows.present(row.name for row in devices)
    return [_device(row, [copies[row.name, log] for log in LOGS if (row.name, log) in copies]) for row in devices]


def _device(row: DeviceRow, copies: Sequence[LogRow]) -> Device:
    logs: dict[LogName, LogState] = {
        copy.log: LogState(copy.epoch, copy.oldest, copy.next, copy.rewrites) for copy in copies
    }
    have: dict[LogName, int] = {copy.log: copy.have for copy in copies}
    return Device(row.name, row.board, row.heard, row.zone, row.version, logs, have)
