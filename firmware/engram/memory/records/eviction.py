"""Keeps the records within their caps: what matters least makes room for what is new, in the background if it can.

records.most    when nearly so many are kept, the least important that are not pinned leave to the trash
records.bytes   when nearly so many bytes are used, history leaves first: versions that were changed or superseded; then
                memories as above

With an archive (see link/archive.py) they leave to the companion instead, in the background. While it is away they stay, as
long as there is any room: only at the caps themselves they leave to the trash.
"""

from engram import diag
from engram.compat import const, unload_modules
from engram.errors import StoreError, StoreFull

_SHARE = const(50)  # of records.most, or of the records there are, so many-th leave at a time
_MOST_AT_ONCE = const(64)
_BYTES_SHARE = const(16)  # of records.bytes: so much before the cap it begins, and so much is made free
_SLICE_SHARE = const(64)  # of records.bytes: so much more has to be used before what could not be done is tried again
_MODULES = ("engram.memory.records.eviction_order",)


class Eviction:
    """Makes room among `records`, of at most `most` and `cap` bytes; what leaves goes to `trash`."""

    def __init__(self, records, trash, most: int, cap: int):
        self._records = records
        self._trash = trash
        self._most = most
        self._cap = cap
        self._work = None
        self._looked = (-1, False)
        self._ended = (0, -1, False)  # bytes in use, releases, and whether the archive took some, when work ended
        self.archive = None
        """Where memories leave to in the background: is_open() tells whether it takes some now, is_settled() whether a
        compaction may take those off the flash that it took. None where there is none."""
        self.wanted = 0
        """How many memories the archive is to take now; who takes some counts it down, down to 0 if there are no more."""
        self.archived = 0
        """Records that were archived since the start."""
        self.left = 0
        """Records that left for want of room since the start."""
        self.why = ""
        """Why no room could be made, "" if it could."""

    def tick(self) -> bool:
        """Do a little of what is to be done; whether there is more."""
        if self._work is None:
            now = self._records.changes, self._is_open()
            if now == self._looked:
                return False
            self._looked = now
            if not self._is_near_full():
                return False
            self._work = self._making_room()
        try:
            next(self._work)
            return True
        except StopIteration:
            self.why = ""
        except StoreError as error:
            self.why = str(error)
            diag.warning("memory", "no room was made: " + self.why)
        self._end()
        return False

    def _end(self) -> None:
        self._work = None
        self.wanted = 0
        # What the work itself wrote is no reason to begin anew.
        self._looked = self._records.changes, self._is_open()
        self._ended = self._records.bytes, self._records.releases, self._is_open()
        unload_modules(_MODULES)

    def _is_open(self) -> bool:
        return bool(self.archive and self.archive.is_open())

    def _at_once(self) -> int:
        return max(1, min(_MOST_AT_ONCE, self._most // _SHARE))

    def _margin(self) -> int:
        """With fewer places left room is made: with an archive one at least, since what leaves at once goes to the trash."""
        return max(1 if self.archive else 0, self._at_once() // 2)

    def _is_near_full(self) -> bool:
        return self._has_many() or self._is_heavy()

    def _has_many(self) -> bool:
        return self._records.count_all() + self._margin() > self._most

    def _is_heavy(self) -> bool:
        used, releases, was_open = self._ended
        may_help = self._records.releases != releases or self._records.bytes > used + self._cap // _SLICE_SHARE
        may_help = may_help or (self._is_open() and not was_open)
        return may_help and self._records.bytes > self._cap - self._cap // _BYTES_SHARE

    def _making_room(self):
        """A generator that pauses between slices."""
        if self._is_heavy():
            yield from self._making_lighter()
        if self._has_many():
            yield from self._going(self._at_once(), lambda: not self._has_many())

    def _making_lighter(self):
        diag.info("memory", "earlier versions of memories leave for want of room")
        yield from self._records.compacting(with_history=False)
        wanted = self._cap - 2 * (self._cap // _BYTES_SHARE)
        while self._records.bytes > wanted:
            # As many as have that many bytes, by the average.
            each = self._records.bytes // max(1, self._records.count_all())
            count = (self._records.bytes - wanted) // max(1, each) + 1
            if not (yield from self._going(min(_MOST_AT_ONCE, count), _never)):
                if self.archive:
                    return
                raise StoreFull(
                    "memory has no room left (records.bytes), and all of it is pinned: unpin or forget some."
                )
            yield from self._records.compacting(with_history=False)

    @property
    def spare(self) -> int:
        """So many more records can be stored before any leaves for want of room."""
        return 0 if self._is_heavy() else max(0, self._most - self._margin() - self._records.count_all())

    def make_room(self, more: int, keeping=()) -> bool:
        """Let as many records leave, at once, as more are to be stored, but none of the numbers in `keeping`; whether that was
        enough."""
        # Work in the background goes on later: a compaction that is dropped half-way would never end.
        over = self._records.count_all() + more - self._most
        if over > 0:
            # Where there is an archive they had better wait for it.
            for _ in self._leaving(over if self.archive else max(over, self._at_once()), _never, keeping):
                pass
            unload_modules(_MODULES)
        return self._records.count_all() + more <= self._most

    def _going(self, count: int, is_enough):
        """Let records go in the background: to the archive if there is one; a generator, that gives how many went."""
        if self.archive is None:
            return (yield from self._leaving(count, is_enough))
        if not self.archive.is_open():
            # With the last of the room they leave as without a companion.
            if self._records.bytes <= self._cap - self._cap // _SLICE_SHARE:
                return 0
            return (yield from self._leaving(count, is_enough))
        before = self.archived
        self.wanted = count
        while self.archive.is_open() and (self.wanted > 0 or not self.archive.is_settled()):
            yield
        self.wanted = 0
        return self.archived - before

    def _leaving(self, count: int, is_enough, keeping=()):
        """Let the least important records go, at most so many; a generator that pauses, and gives how many left."""
        from engram.memory.records.eviction_order import select_evicted

        left = yield from select_evicted(self._records, self._trash, count, is_enough, keeping)
        self.left += left
        if left:
            diag.info("memory", "%d of the least important memories left to the trash, for want of room" % left)
        return left


def _never() -> bool:
    return False
