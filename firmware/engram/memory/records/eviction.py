"""Keeps the records within their caps: the least important memories make room for new ones, in the background if they can.

records.most    near this number, the least important that are not pinned leave
records.bytes   near this number of bytes, history leaves first: versions that were changed or superseded; then
                memories as above

With an archive (see archive/transfer.py) they leave to the companion instead, in the background. While it is away they stay, as
long as there is any room: only at the caps themselves they leave as without one. The last of those that left stay in the
log, out of every search; records.left() gives them.
"""

from engram import diag
from engram.errors import StoreError, StoreFull
from engram.memory.records.importance import stated_importance

_CHUNK = const(32)  # records for which the uses are read once
_LOOKED_AT = const(3)  # between two pauses
_EXPIRED = const(-1)  # leaves before all that has any importance
_SHARE = const(50)  # 1/50 of records.most leaves at a time
_MOST_AT_ONCE = const(64)
_BYTES_SHARE = const(16)  # of records.bytes: so much before the cap it begins, and so much is made free
_SLICE_SHARE = const(64)  # of records.bytes: so much more has to be used before what could not be done is tried again
_FLUSHED = const(8)  # that leave with one flush


class Eviction:
    """Keeper of at most `most` records in `cap` bytes; find_archive() gives the archive or None."""

    def __init__(self, records, most: int, cap: int, find_archive):
        self._records = records
        self._entries = records.entries
        self._most = most
        self._cap = cap
        self._archive = find_archive
        self._work = None
        self._looked = (-1, False)
        self._ended = (0, -1, False)  # bytes in use, releases, and whether the archive took some, when work ended
        self.wanted = 0
        """Number of memories that the archive should accept."""
        self.archived = 0
        self.left = 0
        self.why = ""
        """Reason why no room could be made, or ""."""

    def tick(self) -> bool:
        """Do a slice of work; True if there is more."""
        if self._work is None:
            now = self._entries.next_seq, self._is_open()
            if now == self._looked or (self._entries.is_active() and self._may_wait()):
                return False
            self._looked = now
            if not (self._has_many() or self._is_heavy()):
                return False
            self._work = self._make_room_slowly()
        try:
            next(self._work)
            return True
        except StopIteration:
            self.why = ""
        except StoreError as error:
            self.why = str(error)
            diag.warning("memory", "no room was made: " + self.why)
        self._work = None
        self.wanted = 0
        # Its own writes are no reason to begin again.
        self._looked = self._entries.next_seq, self._is_open()
        self._ended = self._entries.bytes, self._records.releases, self._is_open()
        return False

    def make_room(self, more: int, keeping=()) -> bool:
        """Evict records outside `keeping` to make room; True if there is enough."""
        # Work in the background goes on later: a compaction that is dropped half-way would never end.
        over = self._entries.count() + more - self._most
        if over > 0:
            # With an archive they should wait for it.
            for _ in self._evict(over if self._archive() else max(over, self._at_once()), _never, keeping):
                pass
        return self._entries.count() + more <= self._most

    @property
    def spare(self) -> int:
        """Return how many records fit before an eviction."""
        return 0 if self._is_heavy() else max(0, self._most - self._margin() - self._entries.count())

    # --- for the archive

    def note_archived(self, tried: int, archived: int) -> None:
        """Note how many memories the archive tried and accepted."""
        self.archived += archived
        self.wanted = max(0, self.wanted - tried)

    def least_important(self, count: int):
        """Yield None while searching, then numbers of the least important records."""
        yield (yield from _least_important(self._records, count))

    # --- whether there is room

    def _is_open(self) -> bool:
        archive = self._archive()
        return bool(archive and archive.is_open())

    def _at_once(self) -> int:
        return max(1, min(_MOST_AT_ONCE, self._most // _SHARE))

    def _margin(self) -> int:
        """Return the free places at which eviction starts; an archive needs at least one."""
        return max(1 if self._archive() else 0, self._at_once() // 2)

    def _has_many(self) -> bool:
        return self._entries.count() + self._margin() > self._most

    def _is_heavy(self) -> bool:
        used, releases, was_open = self._ended
        may_help = self._records.releases != releases or self._entries.bytes > used + self._cap // _SLICE_SHARE
        may_help = may_help or (self._is_open() and not was_open)
        return may_help and self._entries.bytes > self._cap - self._cap // _BYTES_SHARE

    def _may_wait(self) -> bool:
        """True if eviction can wait for a pause; without an archive it cannot."""
        if self._archive() and self._has_many():
            return False
        return self._entries.bytes < self._cap - self._cap // (2 * _BYTES_SHARE)

    # --- making room: generators that pause between slices

    def _make_room_slowly(self):
        if self._is_heavy():
            yield from self._free_bytes()
        if self._has_many():
            yield from self._evict_or_archive(self._at_once(), lambda: not self._has_many())

    def _free_bytes(self):
        diag.info("memory", "earlier versions of memories leave for lack of room")
        yield from self._records.compacting(with_history=False)
        wanted = self._cap - 2 * (self._cap // _BYTES_SHARE)
        while self._entries.bytes > wanted:
            # As many as have that many bytes on average.
            each = self._entries.bytes // max(1, self._entries.count())
            count = (self._entries.bytes - wanted) // max(1, each) + 1
            if not (yield from self._evict_or_archive(min(_MOST_AT_ONCE, count), _never)):
                if self._archive():
                    return
                raise StoreFull(
                    "memory has no room left (records.bytes), and all of it is pinned: unpin or forget some."
                )
            yield from self._records.compacting(with_history=False)

    def _evict_or_archive(self, count: int, is_enough):
        """Move records to the archive, or drop them without one; return their count."""
        if self._is_open():
            before = self.archived
            self.wanted = count
            while self._is_open() and (self.wanted > 0 or not self._archive().is_settled()):
                yield
            self.wanted = 0
            return self.archived - before
        if self._archive() and self._entries.bytes <= self._cap - self._cap // _SLICE_SHARE:
            return 0  # with the last of the room they leave as without a companion
        return (yield from self._evict(count, is_enough))

    def _evict(self, count: int, is_enough, keeping=()):
        """Evict expired, then least important and least recent records, never pinned; return their count."""
        weakest = yield from _least_important(self._records, count, keeping)
        left = 0
        while weakest and not is_enough():
            left += self._records.evict(weakest[:_FLUSHED])
            weakest = weakest[_FLUSHED:]
            yield
        self.left += left
        if left:
            diag.info("memory", "%d of the least important memories left for lack of room" % left)
        return left


def _never() -> bool:
    return False


def _least_important(records, count: int, keeping=()):
    """Yield pauses; return numbers of at most `count` records, least important first."""
    found = []
    chunk = []
    for record in records.entries.newest():
        if not record.get("pinned") and int(record["id"][1:]) not in keeping:
            chunk.append((stated_importance(record), records.is_expired(record)))
        if not len(chunk) % _LOOKED_AT:
            yield
        if len(chunk) == _CHUNK:
            found = _lowest(records, found, chunk, count)
            chunk = []
            yield
    return [number for _, _, number in _lowest(records, found, chunk, count)]


def _lowest(records, found: list, chunk: list, count: int) -> list:
    importances = records.importance.importance_of([stated for stated, _ in chunk], exactly=True)
    for (stated, is_expired), (importance, touched) in zip(chunk, importances):
        found.append((_EXPIRED if is_expired else importance, touched, stated[0]))
    found.sort()
    return found[:count]
