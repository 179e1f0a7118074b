"""Finds the line of the journal that a message with an id has made, and the reply to a turn."""

from array import array
from binascii import crc32

from engram.errors import StoreError

# Ids in RAM, 2 KB: a network offers again what it offered last, a companion after an outage, too.
_KEPT = const(256)
_LINES = const(256)  # of the journal that are read for them after a start, and looked through for a reply
_FAR = const(1024)  # lines that are looked through for a message that comes again
_BITS = const(0x3FFFFFFF)  # what fits a small int


class SeenMessages:
    """The newest message ids of a journal, by hash and seq."""

    def __init__(self, journal):
        self._journal = journal
        self._hashes = array("I", bytes(4 * _KEPT))
        self._seqs = array("I", bytes(4 * _KEPT))
        self._next = 0
        known = []
        for count, line in enumerate(journal.entries.lines_backwards()):
            if count == _LINES or len(known) == _KEPT:
                break
            if "mid" in line:
                known.append((line["mid"], line["seq"]))
        while known:
            self.note(*known.pop())

    def note(self, mid: str, seq: int) -> None:
        self._hashes[self._next] = crc32(mid.encode()) & _BITS
        self._seqs[self._next] = seq
        self._next = (self._next + 1) % _KEPT

    def find(self, mid: str, is_repeated: bool = False):
        """Return a message's line or None; `is_repeated` searches many more lines."""
        wanted = crc32(mid.encode()) & _BITS
        for at in range(_KEPT):
            if self._seqs[at] and self._hashes[at] == wanted:
                line = self._journal.entries.line(self._seqs[at])
                if line is not None and line.get("mid") == mid:
                    return line
        for count, line in enumerate(self._journal.entries.lines_backwards() if is_repeated else ()):
            if line.get("mid") == mid:
                return line
            if count == _FAR:
                break
        return None

    def newest_of(self, mid: str) -> tuple:
        """Return (line of a message or its latest correction, or None; whether it acted irreversibly)."""
        line = self.find(mid)
        has_acted = False
        seq = line["seq"] if line else self._journal.newest
        for later in range(seq + 1, min(seq + _LINES, self._journal.newest) + 1):
            found = self._journal.entries.line(later) or {}
            if found.get("corrects") == seq:
                line, seq = found, later
            has_acted = has_acted or (found.get("op") == "acted" and found.get("turn") == seq)
        return line, has_acted

    def reply_to(self, seq: int):
        """Return the reply to a turn or None; StoreError if it may be too far away."""
        journal = self._journal
        for later in range(seq + 1, journal.newest + 1):
            if later - seq > _LINES:
                raise StoreError("this message came before, as t%d; its answer is not near: ask again." % seq)
            line = journal.entries.line(later)
            is_reply = line is not None and line.get("role") == "assistant" and "to" not in line
            if is_reply and line.get("re", line.get("prev")) == seq:
                return line
        return None
