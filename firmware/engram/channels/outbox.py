"""Answers on their way: how far each one is, in a small file that survives a power cut.

memory/outbox.bin has 6 bytes an answer: the seq of the person's turn, of a command's line or of
what the board began to say (4 bytes), how many pieces have arrived and the state of the next piece
(1 byte each); then how many answers had no room (1 byte), and the crc32 of all that (4 bytes). All
are little-endian. Texts stay in the journal.

memory/taken.bin has 8 bytes a message whose network offers it until it has the end of the answer:
the seq of its line and the crc32 of its id; its end is as above. It is a file of its own, so that
what a companion never asks for again drives out no answer.
"""

import struct
from binascii import crc32

from engram import diag, files
from engram.compat import const
from engram.errors import StoreError

_OUTBOX = const("/outbox.bin")
OFFERED = const("/taken.bin")

_MOST = const(13)  # rows of a file: up to 128 bytes littlefs writes it without an erase
_DELIVERY = const("<IBB")
_OFFER = const("<II")

QUEUED = const(0)
"""Nothing of the next piece was sent."""
MAYBE_DELIVERED = const(1)
"""It is being sent, or was and nobody knows whether it arrived."""
SENT_AGAIN = const(2)
"""As MAYBE_DELIVERED, for the second time."""
FAILED = const(3)
"""It may have arrived twice: nothing more is sent."""


class Delivery:
    """One answer on its way; an answer that arrives as a whole has one piece.

    queued -> maybe delivered -> delivered, which ends it, or sent again -> delivered or failed. A
    piece of which is known that it did not arrive goes back by one.
    """

    def __init__(self, seq: int = 0, arrived: int = 0, state: int = QUEUED, save=None):
        self.seq = seq
        """That of its line in the journal, 0 while it has none."""
        self.arrived = arrived
        """Number of its pieces that have arrived."""
        self.state = state
        self.pieces: "list | None" = None
        """Those that have not, as its channel sends them; None after a restart."""
        self.room = ""
        self.is_in_progress = False
        """True while it is made or sent."""
        self._save = save

    @property
    def is_again(self) -> bool:
        """True if the piece that is sent may have arrived before."""
        return self.state == SENT_AGAIN

    async def attempt(self, sink, outcome) -> "bool | None":
        """Let a sink end its answer, unless it may have arrived twice already: as ChannelSink.end()."""
        if not self.start():
            return False
        has_arrived = await sink.end(outcome)
        self.settle(has_arrived)
        return has_arrived

    def start(self) -> bool:
        """Note that the next piece is sent now; False if it may have arrived twice already."""
        self._set(self.arrived, min(self.state + 1, FAILED))
        return self.state != FAILED

    def advance(self) -> None:
        """Note that a piece has arrived, and that the next one is sent now."""
        self._set(self.arrived + 1, MAYBE_DELIVERED)

    def settle(self, has_arrived: "bool | None") -> None:
        """Note what became of the piece that was sent; None if nobody knows."""
        if has_arrived is None and self.state == SENT_AGAIN:
            self._set(self.arrived, FAILED)
        elif has_arrived is False:
            self._set(self.arrived, self.state - 1)

    def restart(self) -> None:
        """Begin again with a new answer; a part of the former one may have arrived."""
        if self.arrived:
            self._set(0, MAYBE_DELIVERED)
        self.pieces = None

    def _set(self, arrived: int, state: int) -> None:
        self.arrived, self.state = min(arrived, 255), state
        if self._save:
            self._save()


class Outbox:
    """The deliveries under way, in a file of a folder of the flash."""

    def __init__(self, folder: str):
        self._path = folder + _OUTBOX
        rows, self.dropped = _read(self._path, _DELIVERY)
        """`dropped` is how many had no room, since people were told."""
        self.deliveries = [Delivery(row[0], row[1], row[2], self._write) for row in rows]
        """The oldest first."""

    def find(self, seq: int) -> "Delivery | None":
        """The delivery of a turn, None if there is none."""
        for delivery in self.deliveries:
            if delivery.seq == seq:
                return delivery
        return None

    def add(self, seq: int, room: str) -> Delivery:
        """Keep that the answer to a turn is to be delivered; the oldest one gives way."""
        stale = self.find(seq)
        if stale:
            self.deliveries.remove(stale)  # the power failed before its line was there
        elif len(self.deliveries) >= _MOST:
            self.remove(self.deliveries[0].seq, is_lost=True)
        delivery = Delivery(seq, save=self._write)
        delivery.room = room
        self.deliveries.append(delivery)
        self._write()
        return delivery

    def remove(self, seq: int, is_lost: bool = False) -> None:
        """The answer to a turn is delivered, or never will be if it `is_lost`, which people learn."""
        delivery = self.find(seq)
        if delivery:
            self.deliveries.remove(delivery)
            if is_lost:
                self.dropped = min(255, self.dropped + 1)
                diag.warning("outbox", "dropped undelivered t%d: no room" % seq)
            self._write()

    def clear_dropped(self) -> None:
        """Forget the count of those without room: people know it."""
        self.dropped = 0
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
        rows = [(each.seq, each.arrived, each.state) for each in self.deliveries]
        _write(self._path, _DELIVERY, rows, self.dropped)


class Offered:
    """Messages that their network offers until it has the end of the answer, in a file."""

    def __init__(self, folder: str):
        self._path = folder + OFFERED
        self.rows, _ = _read(self._path, _OFFER)
        """[seq, crc32 of the id] of each, the oldest first."""

    def note(self, seq: int, mid: str) -> None:
        """Keep that the message with an id made the line with that seq; the oldest gives way."""
        self.rows = self.rows[1 - _MOST :] + [[seq, crc32(mid.encode())]]
        _write(self._path, _OFFER, self.rows, 0)

    def remove(self, seq: int) -> None:
        """The network has the end of the answer to that line."""
        rows = [row for row in self.rows if row[0] != seq]
        if len(rows) != len(self.rows):
            self.rows = rows
            _write(self._path, _OFFER, rows, 0)

    def seqs_of(self, mid: str) -> list:
        """The seqs of lines that may be those of the message with an id."""
        mark = crc32(mid.encode())
        return [seq for seq, other in self.rows if other == mark]


def _read(path: str, form: str) -> tuple:
    size = struct.calcsize(form)
    data = files.read_packed(path, _MOST * size + 1)
    if len(data) % size != 1:
        return [], 0
    starts = range(0, len(data) - 1, size)
    return [list(struct.unpack(form, data[at : at + size])) for at in starts], data[-1]


def _write(path: str, form: str, rows: list, dropped: int) -> None:
    try:
        files.write_packed(path, b"".join([struct.pack(form, *row) for row in rows]) + bytes((dropped,)))
    except StoreError as error:
        diag.error("outbox", str(error))  # it still holds until the next restart
