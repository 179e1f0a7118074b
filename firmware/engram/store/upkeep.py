"""Keeps a store's index up to date: seals lines in RAM, fills gaps, merges, and saves the manifest."""

from engram import diag
from engram.compat import finish
from engram.errors import StoreError
from engram.store.index import merge_policy
from engram.store.index.rebuild import Rebuild

_MOST_TABLES = const(12)  # beyond which a merge does not wait for an answer to end
_RETRY_TICKS = const(32)  # that pass before work is tried again that the flash had no room for, doubled each time
_MOST_TRIES = const(5)  # without a table that was finished: a full flash is not to be worn out
_UNFINISHED = const("no try to write it came to its end.")


class Upkeep:
    """The upkeep of a Store's index; `unindexed` spans lack tables, RAM begins at `tail`."""

    def __init__(self, store):
        self._store = store
        self.tail = [0, 0, 0]
        self._tail_state = None
        self.unindexed = []
        self.filling = None  # the Rebuild that fills the oldest gap
        self._is_unsaved = False  # whether the manifest does not name all that was sealed
        self.retry_in = 0  # ticks until work is tried again that the flash had no room for
        self._obstacle = ""  # why it was put off
        self._has_told = False  # why nothing is tried any more

    # --- what the index lacks

    def begin_at(self, tail: list, state) -> None:
        """Start RAM lines at `tail`; `state` is the owner's before them."""
        self.tail, self._tail_state = tail, state
        self.find_unindexed()

    def find_unindexed(self) -> None:
        """Find lines before RAM that no table covers."""
        log = self._store.log
        self.filling = None
        self.unindexed = []
        last = self.tail[2] - 1
        following = log.oldest
        tables = [(table.first, table.last) for table in self._store.index.tables]
        for first, end in tables + [(last + 1, last)]:
            # Nothing to index if a compaction left nothing.
            if first > following and next(log.scan_from(following, first - 1), None):
                self.unindexed.append([following, first - 1])
            following = max(following, end + 1)

    # --- sealing

    def make_room(self, lines: int) -> bool:
        memtable = self._store.index.memtable
        if not self._store.log.has_room:
            finish(self.sealing_segment())
        elif memtable.is_full or not memtable.has_room_for(lines):
            self.seal(self._end())
        else:
            return False
        return True

    def seal(self, tail: list) -> None:
        self._seal_rows(tail)
        self.save()

    def sealing_segment(self):
        """Seal the live segment, pausing between steps; lines may come meanwhile."""
        self.seal(self._end())
        yield
        self._end_segment()
        yield
        self.save()

    def _seal_some(self) -> bool:
        """Do a step that the next line would wait for; True if there was one."""
        has_room = self._store.log.has_room
        if self._store.index.memtable.is_full or (not has_room and self.tail != self._end()):
            # A step of its own: it erases, as the end of a segment does.
            self._seal_rows(self._end())
        elif not has_room:
            self._end_segment()
        elif self._is_unsaved:
            self.save()
        else:
            return False
        return True

    def _end(self) -> list:
        log = self._store.log
        return [log.live, log.size, log.next_seq]

    def _end_segment(self) -> None:
        # Its lines are in tables before it ends.
        if self.tail != self._end():
            self._seal_rows(self._end())
        self._store.log.seal(self._tail_state)
        self.tail = self._end()
        self._is_unsaved = True

    def rewrite_header(self) -> None:
        """Rewrite an empty live segment with the current header."""
        self._store.log.begin(self._store.owner.state())
        self.tail = self._end()
        self.save()

    def _seal_rows(self, tail: list) -> None:
        """Seal like seal(), with a later manifest: a power cut before it rereads the lines."""
        store, index = self._store, self._store.index
        store.log.refresh()
        first, last = self.tail[2], tail[2] - 1
        try:
            if index.memtable.rows:
                merge_policy.insert(index, index.memtable, first, last)
                index.memtable.clear()
        except StoreError as error:
            # The index is a cache: lines without room now come from the log later.
            self._put_off(error)
            index.clear_memtable()
            if self.unindexed and self.unindexed[-1][1] + 1 == first:
                self.unindexed[-1][1] = last
            else:
                self.unindexed.append([first, last])
            self.filling = None
        self.tail, self._tail_state = tail, store.owner.state()
        self._is_unsaved = True

    def save(self) -> None:
        self._is_unsaved = False
        try:
            self._store.index.save(self.tail, sorted(self._store.entry_states.pending), self._tail_state)
        except StoreError as error:
            self._put_off(error)

    # --- in the background

    def _put_off(self, error) -> None:
        diag.info("index", "%s: work was put off: %s" % (self._store.log.name, error))
        self._obstacle = str(error)
        self.retry_in = _RETRY_TICKS << min(self._store.index.begun, _MOST_TRIES)

    def retry(self) -> None:
        """Retry paused or abandoned work, as there is room."""
        self.retry_in = self._store.index.begun = 0
        self._obstacle = ""

    @property
    def obstacle(self) -> str:
        """Return why the index is not written, or ""; tries without progress end."""
        index = self._store.index
        is_stopped = index.fault or index.begun >= _MOST_TRIES or self.retry_in
        return index.fault or self._obstacle or _UNFINISHED if is_stopped else ""

    def step(self, slices: int, may_seal: bool) -> bool:
        """Do a slice; True if there is more known work. See Store.tick."""
        store = self._store
        has_merging = False
        obstacle = self.obstacle
        if obstacle and not self._has_told:
            diag.error("index", "%s is not kept up to date: %s" % (store.index.base, obstacle))
        self._has_told = bool(obstacle)
        try:
            if may_seal and not store.is_compacting and self._seal_some():
                return True
            if store.is_reserve_due:
                store.is_reserve_due = store.reserve.allocate_some()
                return True
            if store.entry_states.pending and store.entry_states.may_settle:
                store.entry_states.settle_one(next(iter(store.entry_states.pending)))
            elif self.unindexed and not store.is_compacting and not obstacle:
                self._fill()
            has_merging = not obstacle and self._merge(slices, may_seal)
        except StoreError as error:
            self.filling = None
            self._put_off(error)
        is_filling = self.unindexed and not obstacle
        has_more = store.entry_states.pending or is_filling or (may_seal and self._is_unsaved)
        return bool(has_more or has_merging)

    def _merge(self, slices: int, may_seal: bool) -> bool:
        """Do slices of merging; True if there is more."""
        store, index = self._store, self._store.index
        may_wait = index.job is None and not store.is_compacting and len(index.tables) < _MOST_TABLES
        if may_wait and store.is_active():
            return False  # until the message is answered
        for _ in range(slices):
            if merge_policy.step(index, bool(self.unindexed)):
                if not may_seal:
                    self.save()
                # Else in a step of its own.
                self._is_unsaved = may_seal
            if index.job is None:
                break
        return merge_policy.is_busy(index)

    def _fill(self) -> None:
        if self.filling is None:
            store = self._store
            self.filling = Rebuild(
                store.log, store.index, store.describe, self.unindexed, store.entry_states.pending.add
            )
        if self.filling.step():
            self.save()
