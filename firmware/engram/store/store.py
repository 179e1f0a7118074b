"""One store: a log, the index over it, and which entry is which.

An entry is a thing that keeps its number (the seq of its first line) while it changes: a later line can be its next
version, hide it, or show it again. `describe(line)` gives an Entry, which says what a line means; so records and
turns use the same engine. The log is the truth: all that this file knows of entries comes back from it.

A line that concerns an entry other than its own first version has the label "=NUMBER", so that the index finds it
(entry_state.py). Entries that changed lately are kept in RAM until `tick` marks them in the index, one by one.
"""

from engram import diag
from engram.errors import ArgumentError, EngramError, StoreError, StoreFull
from engram.store import queries
from engram.store.entry_state import EntryStates
from engram.store.index.codec import BEGIN_BITS, term_hash
from engram.store.index.index import Index
from engram.store.log.compaction import compacting
from engram.store.log.reader import LogReader
from engram.store.log.seq_seek import begins_at, lines_backwards
from engram.store.search.ranking import Ranking, search
from engram.store.types import LIVE, SUPERSEDED, Entry, concerned, no_entry
from engram.store.upkeep import Upkeep

_SLICES = const(4)  # of merging, after each append
_LONGEST_TAIL = const(32768)  # bytes of lines that are read into RAM at once: twice what becomes a table


class Store:
    """A log with an index; `owner` describes and observes lines, is_active() defers merges."""

    def __init__(self, log, owner, reserve=None, is_active=None):
        self.log = log
        self.owner = owner
        self.reserve = reserve
        self.is_active = is_active or (lambda: False)
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
        self.index.close()
        self.log.close()

    def ready(self) -> None:
        """Bring RAM and owner up to date with the log, also after an interrupt."""
        # An interrupt (Ctrl-C) may have come between a line's flush and its place in the tables.
        if not self._whole:
            try:
                self.log.settle()
            except StoreError:
                # A full flash: read the whole lines of the interrupted write as they are.
                pass
            self.open()
        self.notice_lost()

    def notice_lost(self) -> bool:
        """Note lines left unindexed by a damaged table; True if there was one."""
        was_lost = self.index.has_lost
        if was_lost:
            self.index.has_lost = False
            self.upkeep.find_unindexed()
        return was_lost

    def _index_line(self, segment: int, offset: int, size: int, line: dict) -> None:
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
        try:
            return self.owner.describe(line)
        except (KeyError, TypeError, ValueError, ArgumentError):
            # Whole by its crc, but not as this version writes it: it stays in the log and means nothing.
            diag.warning("store", "%s: line %d is of a form that is not known" % (self.log.name, line["seq"]))
            return no_entry()

    def _has_words(self, seq: int, offset: int):
        """True if a line has words, None if it left the log; `offset` is approximate."""
        line = self.log.read(seq, offset) if seq >= self.log.oldest else None
        return None if line is None else any(True for _ in self.describe(line).terms)

    # --- writing

    @property
    def next_seq(self) -> int:
        self.ready()
        return self.log.next_seq

    @property
    def oldest(self) -> int:
        return self.log.oldest

    def append(self, *lines, urgent: bool = False, background: bool = True) -> int:
        """Append lists of pairs in one flush, all or none; return the first seq. Urgent lines use the reserve."""
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
        """Do slices of background work; True if there is more. `may_seal` ends full tables step by step."""
        self.ready()
        if self.upkeep.retry_in:
            self.upkeep.retry_in -= 1
            return False
        self._whole = False
        has_more = self.upkeep.step(slices, may_seal)
        self._whole = True
        return self.notice_lost() or has_more

    @property
    def partial(self) -> str:
        """Return why a search may be incomplete, or ""."""
        self.notice_lost()
        missing = sum(last - first + 1 for first, last in self.upkeep.unindexed)
        if not missing:
            return ""
        share = "%d of %d lines are not in " % (missing, self.log.next_seq - 1)
        why = self.upkeep.obstacle
        return share + "the index: " + why.rstrip(".") if why else "the index is being rebuilt, " + share + "it yet"

    # --- reading

    def state(self, number: int, known=None):
        """Return LIVE, SUPERSEDED, FORGOTTEN or ARCHIVED; None without such an entry."""
        return self.state_and_latest(number, known)[0]

    def get(self, number: int):
        """Return an entry's latest version as a dict, None if forgotten."""
        state, line = self.state_and_latest(number)
        return line if state in (LIVE, SUPERSEDED) else None

    def state_and_latest(self, number: int, known=None) -> tuple:
        """Return (state, latest line) of an entry or (None, None); `known` is one of its lines."""
        self.ready()
        return self.entry_states.state_of(number, known)

    def seqs_with_label(self, label: str) -> list:
        """Return indexed seqs with a label, in any state, or with its hash."""
        self.ready()
        return self.index.seqs_with_label(label)

    def line(self, seq: int):
        """Return the line of a seq as a dict in any state, or None."""
        self.ready()
        return self.log.read(seq)

    # Lists and counts, by the index.
    newest = queries.newest
    thread = queries.thread
    names = queries.names
    labels = queries.labels
    count = queries.count
    is_used = queries.is_used

    def lines_backwards(self):
        self.ready()
        return lines_backwards(self.log)

    def raw(self):
        """Return the raw lines for a copy of the log, see log/reader.py."""
        return LogReader(self)

    # --- searching

    search = search

    def frequencies(self, terms) -> tuple:
        """Return (live rows, {term: rows with it})."""
        self.ready()
        return self.index.rows, Ranking(self.index, terms).frequencies()

    def related(self, term: str) -> list:
        """Return the words that begin like one, as terms of a search, as far as a table has them in its bucket."""
        hash, index = term_hash(term), self.index
        found = [each for table in index.all_tables() for each in index.guarded(table, table.hashes_near, hash) or ()]
        return ["*%06x" % each for each in found if (each ^ hash) & BEGIN_BITS == 0]

    # --- making room

    @property
    def bytes(self) -> int:
        return self.log.bytes

    @property
    def damaged(self) -> int:
        """Return the number of lines set aside since the log was opened."""
        return self.log.repair.damaged

    @property
    def epoch(self) -> int:
        """Return the random number that a reset changes."""
        return self.log.epoch

    compacting = compacting

    def drop_oldest(self) -> bool:
        """Drop the oldest sealed segment; True if there was one."""
        self.ready()
        if self.is_compacting or not self.log.drop_oldest():
            return False
        self.index.drop_before(self.log.oldest)
        self.upkeep.retry()
        self.upkeep.find_unindexed()
        self.upkeep.save()
        return True
