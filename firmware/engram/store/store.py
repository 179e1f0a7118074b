"""One store: a log, the index over it, and which entry is which.

An entry is a thing that keeps its number (the seq of its first line) while it changes: a later line can be its next
version, hide it, or show it again. `describe(line)` gives an Entry, which says what a line means; so records and
turns use the same engine. The log is the truth: all that this file knows of entries comes back from it.

A line that concerns an entry other than its own first version has the label "=NUMBER", so that the index finds it
(entry_state.py). Entries that changed lately are kept in RAM until `tick` marks them in the index, one by one.
"""

from engram import diag
from engram.compat import const
from engram.errors import ArgumentError, EngramError, StoreError, StoreFull
from engram.store import queries
from engram.store.entry_state import EntryStates
from engram.store.index.index import Index
from engram.store.log.compaction import compacting
from engram.store.log.reader import LogReader
from engram.store.log.seq_seek import begins_at, lines_backwards
from engram.store.search.ranking import Ranking, search
from engram.store.types import LIVE, SUPERSEDED, Entry, Query, concerned, no_entry
from engram.store.upkeep import Upkeep

_SLICES = const(4)  # of merging, after each append
_LONGEST_TAIL = const(32768)  # bytes of lines that are read into RAM at once: twice what becomes a table


class Store:
    """A log with an index over it.

    `owner` has describe(line), which gives an Entry, observe(line), called for each line in order as it is appended or read
    again after a restart, state(), a dict that observe() would have made, and restore(state or None). is_active() tells whether
    a message is being answered or expected: no merge is to begin then.
    """

    def __init__(self, log, owner, reserve=None, is_active=None):
        self.log = log
        self.owner = owner
        self.reserve = reserve
        self.is_active = is_active or _never
        self.index = Index(log.base, self._has_words)
        self.is_reserve_due = False  # whether a compaction that was broken off has left the reserve to be kept
        self._reset()

    def _reset(self) -> None:
        self.entry_states = EntryStates(self)
        self.upkeep = Upkeep(self)
        self.is_compacting = False
        self._whole = False

    # --- opening

    def open(self) -> None:
        """Open the log and its index, and read the lines that are in no table yet."""
        try:
            self._open()
        except StoreFull:
            # A new header has no room.
            if not (self.reserve and self.reserve.release()):
                raise
            self._open()

    def _open(self) -> None:
        self.close()
        self._reset()
        self.log.open(self.owner)
        saved = self.index.open(self.log.epoch)
        was_missing = self.log.was_missing
        has_gone = (was_missing or self.log.is_recovered) and self.index.drop_before(self.log.oldest)
        if has_gone or (was_missing and not saved):
            warning = "%s: lines before %d are gone: the power failed while they left, or a file was lost"
            diag.warning("store", warning % (self.log.name, self.log.oldest))
        segment, offset, seq = saved["tail"] if saved else (0, 0, 0)
        # No seq is used twice, even if the newest lines were lost.
        self.log.next_seq = max(self.log.next_seq, seq)
        if self.log.is_recovered or segment != self.log.live or not self.log.first <= seq:
            # The index is of an older state of the log, or there is none: what it lacks is filled later.
            offset, seq, state = self.log.start, self.log.first, self.log.state
        else:
            state = saved["state"]
            if not begins_at(self.log, seq, offset):
                offset = self.log.start
        self.entry_states.pending.update(saved["pending"] if saved else ())
        self.owner.restore(state)
        if state:
            state = self.owner.state()  # which shares its texts with the owner
        self.log.state = None  # else the heap would hold it twice
        if self.log.size - offset > _LONGEST_TAIL:
            # A long tail is indexed in slices: only its effect on the owner's state is needed now.
            for _, _, _, line in self.log.scan(self.log.live, offset, 0, seq - 1):
                self.owner.observe(line)
            offset, seq, state = self.log.size, self.log.next_seq, self.owner.state()
        self.upkeep.begin_at([self.log.live, offset, seq], state)
        for place in self.log.scan(self.log.live, offset, 0, seq - 1):
            self._index_line(*place)
            if self.index.memtable.is_full:
                self.upkeep.seal([place[0], place[1] + place[2], self.log.next_seq])
        if saved and (self.log.is_recovered or has_gone):
            self.upkeep.save()
        self._whole = True

    def close(self) -> None:
        """Close the files."""
        self.index.close()
        self.log.close()

    def ready(self) -> None:
        """See to it that RAM and the owner know all that is in the log, after an interrupt too."""
        # An interrupt (Ctrl-C) may have come between a line's flush and its place in the tables.
        if not self._whole:
            try:
                self.log.settle()
            except StoreError:
                # A full flash: of what was interrupted, the lines that are whole are read as they are.
                pass
            self.open()
        self.notice_lost()

    def notice_lost(self) -> bool:
        """Note which lines a damaged table has left unindexed; whether there was such a table."""
        was_lost = self.index.has_lost
        if was_lost:
            self.index.has_lost = False
            self.upkeep.find_unindexed()
        return was_lost

    def _index_line(self, segment: int, offset: int, size: int, line: dict) -> None:
        """Give a line its row and note what it does to entries."""
        seq = line["seq"]
        entry = self.describe(line)
        self.index.memtable.add_row(seq, offset, size, entry)
        self.index.session_sizes.add_rows(entry.session)
        self.entry_states.pending.update(concerned(entry, seq))
        if entry.ends:
            self.index.end_session(entry.ends)
            if self.upkeep.filling:
                # Lines of it may be about to come into the index.
                self.upkeep.filling.ended.add(entry.ends)
        self.owner.observe(line)

    def describe(self, line: dict) -> Entry:
        """The entry that a line stands for."""
        try:
            return self.owner.describe(line)
        except (KeyError, TypeError, ValueError, ArgumentError):
            # Whole by its crc, but not as this version writes it: it stays in the log and means nothing.
            diag.warning("store", "%s: line %d is of a form that is not known" % (self.log.name, line["seq"]))
            return no_entry()

    def _has_words(self, seq: int, offset: int):
        """True if a line has words to be found by; None if the log has it no more. `offset` is about where it was."""
        line = self.log.read(seq, offset) if seq >= self.log.oldest else None
        return None if line is None else any(True for _ in self.describe(line).terms)

    # --- writing

    @property
    def next_seq(self) -> int:
        """The seq that the next line gets."""
        self.ready()
        return self.log.next_seq

    @property
    def oldest(self) -> int:
        """The seq from which on lines are kept."""
        return self.log.oldest

    def append(self, *lines, urgent: bool = False, background: bool = True) -> int:
        """Append lines, each a list of (key, value) pairs, with one flush; the first one's seq. All or none count.

        An urgent line, such as one that lets something go, may use the room that is kept in reserve on a full flash. A
        little of the work in the background is done as well, unless `background` is False.
        """
        try:
            return self._append(lines, background)
        except StoreFull:
            if not (urgent and self.reserve and self.reserve.release()):
                raise
        return self._append(lines, background)

    def _append(self, lines, background: bool) -> int:
        self.ready()
        self._whole = False
        first = self.log.next_seq
        try:
            was_sealed = self.upkeep.make_room(len(lines))
            for place in self.log.append(lines):
                if not self.index.memtable.has_room_for(1):
                    self.upkeep.seal([place[0], place[1], place[3]["seq"]])
                self._index_line(*place)
        except EngramError:
            # Refused before a line was taken: the tables are as they were.
            self._whole = True
            raise
        self._whole = True
        if background and not was_sealed:
            self.tick(_SLICES, may_seal=False)
        return first

    def tick(self, slices: int = 1, may_seal: bool = True) -> bool:
        """Do a little of the work in the background: marking, indexing what is missing, merging. Whether there is more to do.

        With `may_seal` a table, or a segment, is ended as soon as it is full, step by step; else when the next line comes.
        """
        self.ready()
        if self.upkeep.retry_in:
            self.upkeep.retry_in -= 1
            return False
        self._whole = False
        has_more = self.upkeep.step(slices, may_seal)
        self._whole = True
        return self.notice_lost() or has_more

    @property
    def is_partial(self) -> bool:
        """True if the index lacks a span of lines, even if they have left the log."""
        self.notice_lost()
        return bool(self.upkeep.unindexed)

    @property
    def partial(self) -> str:
        """Return the reason why a search may miss something, "" if it does not."""
        self.notice_lost()
        missing = sum(last - first + 1 for first, last in self.upkeep.unindexed)
        if not missing:
            return ""
        share = "%d of %d lines are not in " % (missing, self.log.next_seq - 1)
        why = self.upkeep.obstacle
        return share + "the index: " + why.rstrip(".") if why else "the index is being rebuilt, " + share + "it yet"

    # --- reading

    def state(self, number: int, known=None):
        """LIVE, SUPERSEDED, FORGOTTEN or ARCHIVED; None if there has never been such an entry (or compaction took it)."""
        return self.state_and_latest(number, known)[0]

    def get(self, number: int):
        """The latest version of an entry that was not forgotten, as a dict; else None."""
        state, line = self.state_and_latest(number)
        return line if state in (LIVE, SUPERSEDED) else None

    def state_and_latest(self, number: int, known=None) -> tuple:
        """(state, line of the latest version) of an entry; (None, None) if there is none. `known` is a line of it at hand."""
        self.ready()
        return self.entry_states.state_of(number, known)

    def seqs_with_label(self, label: str) -> list:
        """The seqs of the lines that have a label, whatever became of them, or share its hash; of those in the index."""
        self.ready()
        return self.index.seqs_with_label(label)

    def line(self, seq: int):
        """The line with a seq as a dict, whatever has become of its entry; None if there is none."""
        self.ready()
        return self.log.read(seq)

    def newest(self, labels=(), scopes=()):
        """Yield the lines of live entries that have all `labels` and one of `scopes`, newest first.

        For a log without threads. What is appended or changed meanwhile does not come.
        """
        self.ready()
        return queries.newest(self, labels, scopes)

    def thread(self, session: int):
        """Yield the seqs of a thread's lines, newest first, as far as they are in the index."""
        self.ready()
        return queries.thread_backwards(self, session)

    def following(self, session: int, seq: int):
        """Yield the seqs of a thread's lines after a line, oldest first, as far as they are in the index."""
        self.ready()
        return queries.thread_after(self, session, seq)

    def lines_backwards(self):
        """Yield all lines, newest first, as dicts."""
        self.ready()
        return lines_backwards(self.log)

    def raw(self):
        """The lines as they stand on flash, for whoever copies the log; see log/reader.py."""
        return LogReader(self)

    # --- searching

    def search(self, query: Query, limit: int, skip=(), own=()):
        """Yield at most `limit` hits, best first; `partial` says whether something may be missing.

        Lines with a seq in `skip` are passed over unread: a long one would take much of the heap. `own` is (seq, session) of
        the line that asks: it is no evidence for those beside it.
        """
        return search(self, query, limit, skip, own)

    def frequencies(self, terms) -> tuple:
        """(number of live rows, {term: number of rows that have it})."""
        self.ready()
        return self.index.rows, Ranking(self.index, terms).frequencies()

    def names(self, prefix: str):
        """Yield the labels of "#tag", "%speaker" and "@scope" that begin with a prefix, in no order."""
        self.ready()
        return queries.names_with_prefix(self, prefix)

    def labels(self, prefix: str, scopes=()):
        """Yield (label, number of live entries within the scopes) of the labels that begin with a prefix, in no order."""
        self.ready()
        return queries.labels(self, prefix, scopes)

    def count(self, labels=(), scopes=()) -> int:
        """The number of live entries that have all `labels` and one of `scopes`."""
        self.ready()
        return queries.count(self, labels, scopes)

    def is_used(self, label: str, scopes) -> bool:
        """True if a live entry with one of `scopes` has the label, as far as hashes tell."""
        self.ready()
        return queries.is_used(self, label, scopes)

    # --- making room

    @property
    def bytes(self) -> int:
        """Bytes of the log on flash."""
        return self.log.bytes

    @property
    def damaged(self) -> int:
        """Lines that were set aside since the log was opened."""
        return self.log.repair.damaged

    @property
    def epoch(self) -> int:
        """The random number that a reset changes."""
        return self.log.epoch

    def compacting(self, decide):
        """Rewrite the log without what is not wanted any more: a generator that pauses between slices, in which other calls may
        come. decide(line): see compaction.py.
        """
        return compacting(self, decide)

    def release_reserve(self) -> None:
        """Give the flash's reserve to a compaction; StoreError if one is under way."""
        if self.is_compacting:
            raise StoreError("a compaction is under way: wait until it is done.")
        if self.reserve:
            self.reserve.release()
            self.is_reserve_due = False

    def begin_compaction(self) -> None:
        """From now on nothing but the compaction writes the log's sealed segments or the index."""
        self.is_compacting = True
        self.upkeep.stop_filling()

    def end_compaction(self, is_over: bool) -> None:
        """The compaction has ended; unless `is_over` before it was done."""
        self.is_compacting = False
        self.log.end_rewrite()
        # The reserve is not kept here and now: Ctrl-C may have ended it, and waits.
        self.is_reserve_due = self.reserve is not None and not is_over

    def drop_oldest(self) -> bool:
        """Let the oldest sealed segment leave; whether there was one."""
        self.ready()
        if self.is_compacting or not self.log.drop_oldest():
            return False
        self.index.drop_before(self.log.oldest)
        self.upkeep.retry()
        self.upkeep.find_unindexed()
        self.upkeep.save()
        return True


def _never() -> bool:
    return False
