"""The board's own state for the companion, in one small file: memory/link.json.

    {"board","chip","link","have":[epoch, seq, epoch, seq, missed]}

At most 128 bytes, since littlefs then keeps it in the folder itself and no erase is needed to write it. `have` is a lower
bound of what the companion has acknowledged of records and journal; it is written seldom. `missed` is the seq up to which turns
left the board that the companion may not have.
"""

import os
from binascii import crc32, hexlify

from engram import diag, files, text
from engram.compat import ticks_diff, ticks_ms
from engram.errors import StoreError

_FILE = const("/link.json")
_LARGEST = const(256)  # bytes
_ID_BYTES = const(6)
_SINCE = const(1577836800)  # 2020-01-01, from which on the numbers of links count seconds
_MOST_LINK = const((1 << 30) - 2)
_SAVE_MS = const(600_000)  # between two writes of acknowledgements


class LinkState:
    """The board's id, its link number, and acknowledged seqs of `logs`."""

    def __init__(self, folder: str, clock, logs):
        self._path = folder + _FILE
        self._clock = clock
        self._raws = dict(logs)
        self._chip = chip()
        self._saved_at = ticks_ms()
        saved = files.read_json(self._path, _LARGEST, _parsed)
        if saved is None or saved["chip"] != self._chip:
            # A new board, or one on which the files of another one were put.
            saved = {"board": hexlify(os.urandom(_ID_BYTES)).decode(), "link": 0, "have": [0] * 5}
        self.board = saved["board"]
        self.link = saved["link"]
        have = saved["have"]
        self._have = {"records": (have[0], have[1]), "journal": (have[2], have[3])}  # (epoch, seq)
        self._noted = dict(self._have)
        turns = self._raws["journal"].store
        self.missed = have[4] if have[2] == turns.epoch else 0
        """Seq up to which the companion may lack turns that left."""
        if turns.oldest - 1 > self.have("journal"):
            # They left while no companion was set up, or before one was.
            self.missed = turns.oldest - 1

    def begin(self) -> int:
        """Return a new link number, higher than all before, even after a restored flash."""
        number = self.link + 1
        if self._clock.known:
            number = max(number, self._clock.now() - _SINCE)
        self.link = min(number, _MOST_LINK)
        self.save()
        return self.link

    def have(self, name: str) -> int:
        return self._seq(self._have[name], name)

    def noted(self, name: str) -> int:
        """Return the acknowledged seq that is on flash."""
        return self._seq(self._noted[name], name)

    def _seq(self, known: tuple, name: str) -> int:
        return known[1] if known[0] == self._raws[name].store.epoch else 0

    def acknowledged(self, name: str, seq: int) -> None:
        """Note the acknowledged seq of a log; it is saved now and then."""
        self._have[name] = self._raws[name].store.epoch, seq
        if ticks_diff(ticks_ms(), self._saved_at) > _SAVE_MS and self._have != self._noted:
            self.save()

    def leaving(self, name: str, last: int) -> None:
        if self.have(name) < last:
            self.missed = last
        self.save()

    def left(self, name: str, last: int) -> None:
        """Note that the companion may lack a log's lines up to a seq."""
        if name == "journal" and last > self.missed:
            self.missed = last
            self.save()

    def save(self) -> None:
        self._saved_at = ticks_ms()
        have = self._have["records"] + self._have["journal"] + (self.missed,)
        fields = {"board": self.board, "chip": self._chip, "link": self.link, "have": have}
        try:
            files.write(self._path, text.dumps(fields))
            self._noted = dict(self._have)
        except StoreError as error:
            diag.warning("companion", "the link's number could not be kept: %s" % error)


def chip() -> str:
    """Return the crc32 of the chip's number, or ""."""
    try:
        import machine  # of the chip only

        unique = getattr(machine, "unique_id", None)
    except ImportError:
        unique = None
    return "%08x" % crc32(unique()) if unique else ""


def _parsed(saved: dict) -> dict:
    have = [int(saved["have"][at]) for at in range(5)]
    return {"board": saved["board"], "chip": saved["chip"], "link": int(saved["link"]), "have": have}
