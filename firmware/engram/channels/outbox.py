"""Answers on their way: how far each one is, in a small file that survives a power cut.

memory/outbox.bin has 6 bytes an answer: the seq of the person's turn, of a command's line or of
what the board began to say (4 bytes, little-endian), how many pieces have arrived and the state of
the next piece (1 byte each); then the crc32 of all that. Texts stay in the journal.
"""

import struct

from engram import diag, files
from engram.compat import const
from engram.errors import StoreError

_FILE = const("/outbox.bin")
_MOST = const(13)  # rows of the file: up to 128 bytes littlefs writes it without an erase
_ROW = const("<IBB")
_ROW_BYTES = const(6)

QUEUED = const(0)
"""The next piece was not sent."""
MAYBE_DELIVERED = const(1)
"""The piece may have arrived."""
SENT_AGAIN = const(2)
"""The piece was sent twice and may have arrived."""
FAILED = const(3)
"""Nothing more is sent, as the piece may have arrived twice."""


class Delivery:
    """One answer's delivery: queued, maybe delivered, sent again, then done or failed."""

    def __init__(self, seq: int = 0, arrived: int = 0, state: int = QUEUED, save=None):
        self.seq = seq
        """Seq of its line in the journal, 0 without one."""
        self.arrived = arrived
        self.state = state
        self.pieces: "list | None" = None
        """Pieces left, in the channel's form; None after a restart."""
        self.room = ""
        self.is_in_progress = False
        self._save = save

    async def attempt(self, sink, outcome) -> "bool | None":
        self._set(self.arrived, min(self.state + 1, FAILED))
        if self.state == FAILED:
            return False
        has_arrived = await sink.end(outcome)
        if has_arrived is None and self.state == SENT_AGAIN:
            self._set(self.arrived, FAILED)
        elif has_arrived is False:
            self._set(self.arrived, self.state - 1)
        return has_arrived

    def advance(self) -> None:
        self._set(self.arrived + 1, MAYBE_DELIVERED)

    def restart(self) -> None:
        """Start over with a new answer; some of the old one may have arrived."""
        if self.arrived:
            self._set(0, MAYBE_DELIVERED)
        self.pieces = None

    def _set(self, arrived: int, state: int) -> None:
        self.arrived, self.state = min(arrived, 255), state
        if self._save:
            self._save()


class Outbox:
    def __init__(self, folder: str):
        self._path = folder + _FILE
        data = files.read_packed(self._path, _MOST * _ROW_BYTES)
        rows = [struct.unpack_from(_ROW, data, at) for at in range(0, len(data), _ROW_BYTES)]
        self.deliveries = [Delivery(row[0], row[1], row[2], self._write) for row in rows]

    def find(self, seq: int) -> "Delivery | None":
        """Return the delivery of a turn, None if there is none."""
        return next((each for each in self.deliveries if each.seq == seq), None)

    def add(self, seq: int, room: str) -> Delivery:
        stale = self.find(seq)
        if stale:
            self.deliveries.remove(stale)  # the power failed before its line was there
        elif len(self.deliveries) >= _MOST:
            lost = self.deliveries.pop(0)
            diag.warning("outbox", "dropped undelivered t%d: no room" % lost.seq)
        delivery = Delivery(seq, save=self._write)
        delivery.room = room
        self.deliveries.append(delivery)
        self._write()
        return delivery

    def remove(self, seq: int) -> None:
        delivery = self.find(seq)
        if delivery:
            self.deliveries.remove(delivery)
            self._write()

    def is_behind(self, delivery: Delivery) -> bool:
        """True if an earlier answer of the same room waits."""
        for other in self.deliveries:
            if other is delivery or not delivery.room:
                break
            if other.room == delivery.room and not other.is_in_progress:
                return True
        return False

    def _write(self) -> None:
        rows = [struct.pack(_ROW, each.seq, each.arrived, each.state) for each in self.deliveries]
        try:
            files.write_packed(self._path, b"".join(rows))
        except StoreError as error:
            diag.error("outbox", str(error))  # it still holds until the next restart
