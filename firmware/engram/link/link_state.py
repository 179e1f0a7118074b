"""The board's own state for the companion, in one small file: memory/link.json, a line as in every log.

    {"board","chip","link","have":[epoch, seq, epoch, seq, missed],"crc"}

At most 128 bytes, since littlefs then keeps it in the folder itself and no erase is needed to write it. `have` is a lower
bound of what the companion has acknowledged of records and journal; it is written seldom. `missed` is the seq up to which turns
left the board that the companion may not have; it stands there if it is not 0.
"""

import os
from binascii import crc32, hexlify

from engram import diag, files, log_line
from engram.compat import const, ticks_diff, ticks_ms
from engram.errors import StoreError

_FILE = const("/link.json")
_LARGEST = const(256)  # bytes
_ID_BYTES = const(6)
_SINCE = const(1577836800)  # 2020-01-01, from which on the numbers of links count seconds
_MOST_LINK = const((1 << 30) - 2)
_SAVE_MS = const(600_000)  # between two times that what was acknowledged is written


class LinkState:
    """The board's id, the number of its link, and what the companion has acknowledged; `logs` are its logs by name."""

    def __init__(self, folder: str, clock, logs):
        self._path = folder + _FILE
        self._clock = clock
        self._logs = logs
        self._chip = chip()
        self._saved_at = ticks_ms()
        self._is_new = False
        self._segments = {name: raw.store.log.live for name, raw in logs}
        saved = _read(self._path)
        if saved is None or saved["chip"] != self._chip:
            # A new board, or one on which the files of another one were put.
            saved = {"board": hexlify(os.urandom(_ID_BYTES)).decode(), "link": 0, "have": [0, 0, 0, 0]}
        self.board = saved["board"]
        self.link = saved["link"]
        self._have = saved["have"][:4]
        self._noted = self._have
        self.missed = 0
        """The seq up to which turns left that the companion may not have."""
        at, turns = self._place("journal")
        if len(saved["have"]) > 4 and self._have[at] == turns.epoch:
            self.missed = saved["have"][4]
        if turns.oldest - 1 > self.have("journal"):
            # They left while no companion was set up, or before one was.
            self.missed = turns.oldest - 1

    def begin(self) -> int:
        """The number of a new link: higher than all before it, also if an older state of the flash was put back."""
        number = self.link + 1
        if self._clock.known:
            number = max(number, self._clock.now() - _SINCE)
        self.link = min(number, _MOST_LINK)
        self.save()
        return self.link

    def have(self, name: str) -> int:
        """The seq up to which the companion has acknowledged a log, as far as is known."""
        at, store = self._place(name)
        return self._have[at + 1] if self._have[at] == store.epoch else 0

    def noted(self, name: str) -> int:
        """As have(), as far as the file says so."""
        at, store = self._place(name)
        return self._noted[at + 1] if self._noted[at] == store.epoch else 0

    def acknowledged(self, name: str, seq: int) -> None:
        """Note that the companion has a log up to a seq; it is written now and then."""
        at, store = self._place(name)
        known = [store.epoch, seq]
        self._is_new = self._is_new or self._have[at : at + 2] != known
        self._have[at : at + 2] = known
        if self._segments[name] != store.log.live or ticks_diff(ticks_ms(), self._saved_at) > _SAVE_MS:
            self._segments[name] = store.log.live
            if self._is_new:
                self.save()

    def leaving(self, name: str, last: int) -> None:
        """Note, before the lines of a log up to a seq leave the board, whether the companion has them."""
        if self.have(name) < last:
            self.missed = last
        self.save()

    def left(self, name: str, last: int) -> None:
        """Note that the companion may not have what left of a log up to a seq."""
        if name == "journal" and last > self.missed:
            self.missed = last
            self.save()

    def _place(self, name: str) -> tuple:
        """(where what is known of a log stands in `have`, its Store)."""
        at = [known for known, _ in self._logs].index(name)
        return 2 * at, self._logs[at][1].store

    def save(self) -> None:
        """Write the file; on a full flash it stays as it is."""
        self._saved_at = ticks_ms()
        self._is_new = False
        have = self._have + [self.missed] if self.missed else self._have
        fields = (("board", self.board), ("chip", self._chip), ("link", self.link), ("have", have))
        try:
            files.write(self._path, log_line.encode(fields))
            self._noted = list(self._have)
        except StoreError as error:
            diag.warning("companion", "the link's number could not be kept: %s" % error)


def chip() -> str:
    """The crc32 of the chip's own number, "" where it has none."""
    try:
        import machine  # of the chip only

        unique = getattr(machine, "unique_id", None)
    except ImportError:
        unique = None
    return "%08x" % crc32(unique()) if unique else ""


def _read(path: str):
    """The file's fields, None if there is none of this form."""
    try:
        saved = log_line.decode(files.read(path, _LARGEST) or b"")
    except (ValueError, StoreError):
        return None
    have, link, board = saved.get("have"), saved.get("link"), saved.get("board")
    is_good = isinstance(board, str) and 0 < len(board) <= 32 and isinstance(saved.get("chip"), str)
    is_good = is_good and isinstance(link, int) and 0 <= link <= _MOST_LINK
    is_good = is_good and isinstance(have, list) and 4 <= len(have) <= 5 and all(isinstance(one, int) for one in have)
    return saved if is_good else None
