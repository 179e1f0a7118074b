"""One store: a log, the index over it, and which entry is which.

An entry is a thing that keeps its number (the seq of its first line) while it changes: a later line can be its next
version, hide it, or show it again. What a line means is told by `describe(line)`, which gives an Entry; so records and
turns use the same engine. The log is the truth: all that this file knows of entries comes back from it.

A line that concerns an entry other than its own first version has the label "=NUMBER", so that the entry's fate is found
by the index (entry_state.py). Entries that changed lately are kept in RAM until `tick` marks them in the index, one by one.
"""

from engram import diag
from engram.compat import const, finish
from engram.errors import ArgumentError, EngramError, StoreError, StoreFull
from engram.store.entry_state import EntryStates
from engram.store.index import codec
from engram.store.index.index import Index
from engram.store.types import LIVE, SUPERSEDED, Entry, Hit, Query, concerned, labels, minutes, no_entry, passes

_SLICES = const(4)  # of merging, after each append
_LONGEST_TAIL = const(32768)  # bytes of lines that are read into RAM at once: twice what becomes a table
_REST = const(64)  # ticks that pass before work is tried again that the flash had no room for


class Store:
    """A log with an index over it.

    `owner` has describe(line), which gives an Entry, observe(line), called for each line in order as it is appended or read
    again after a restart, state(), a dict that observe() would have made, and restore(state or None).
    """

    def __init__(self, log, owner, reserve=None):
        self.log = log
        self.owner = owner
        self.reserve = reserve
        self.index = Index(log.base, self._has_words)
        self.is_reserve_due = False  # whether a compaction that was broken off has left the reserve to be kept
        self._reset()

    def _reset(self) -> None:
        self.entry_states = EntryStates(self)
        self.unindexed = []  # [first seq, last seq] that no table covers
        self.filling = None
        self.is_compacting = False
        self._is_unsaved = False  # whether the manifest does not name all that was sealed
        self.rest = 0
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
        has_gone = (was_missing or self.log.is_recovered) and self.index.leave(self.log.oldest)
        if has_gone or (was_missing and not saved):
            told = "%s: lines before %d are gone: the power failed while they left, or a file was lost"
            diag.warning("store", told % (self.log.name, self.log.oldest))
        segment, offset, seq = saved["tail"] if saved else (0, 0, 0)
        # No seq is used twice, even if the newest lines were lost.
        self.log.next_seq = max(self.log.next_seq, seq)
        if self.log.is_recovered or segment != self.log.live or not self.log.first <= seq:
            # The index is of an older state of the log, or there is none: what it lacks is filled later.
            offset, seq, state = self.log.start, self.log.first, self.log.state
        else:
            state = saved["state"]
            offset = self.log.tail_from(seq, offset)
        self.entry_states.pending.update(saved["pending"] if saved else ())
        self.owner.restore(state)
        self.log.state = None  # else the heap would hold it twice
        if self.log.size - offset > _LONGEST_TAIL:
            # So many lines are made a part of the index in slices: only what they tell of the owner's state is needed now.
            for _, _, _, line in self.log.scan(self.log.live, offset, 0, seq - 1):
                self.owner.observe(line)
            offset, seq, state = self.log.size, self.log.next_seq, self.owner.state()
        self.tail, self._tail_state = [self.log.live, offset, seq], state
        self._find_holes(seq - 1)
        for place in self.log.scan(self.log.live, offset, 0, seq - 1):
            self._take(*place)
            if self.index.is_full:
                self._seal_chunk([place[0], place[1] + place[2], self.log.next_seq])
        if saved and (self.log.is_recovered or has_gone):
            self._save()
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
        """A table of the index that turned out to be damaged leaves a hole; whether there was one."""
        was_lost = self.index.has_lost
        if was_lost:
            self.index.has_lost = False
            self.filling = None
            self._find_holes(self.tail[2] - 1)
        return was_lost

    def _find_holes(self, last: int) -> None:
        """Note what of the log up to a seq is in no table."""
        self.unindexed = []
        following = self.log.oldest
        for first, end in list(self.index.covered()) + [(last + 1, last)]:
            # Where nothing is left after a compaction there is nothing to index.
            if first > following and next(self.log.scan_from(following, first - 1), None):
                self.unindexed.append([following, first - 1])
            following = max(following, end + 1)

    def _take(self, segment: int, offset: int, size: int, line: dict) -> None:
        """Give a line its row and note what it does to entries."""
        seq = line["seq"]
        entry = self.describe(line)
        self.index.add(seq, offset, size, minutes(entry.at), entry.session, entry.terms, labels(entry, seq))
        if entry.number < 0:
            self.index.set_dead(seq, 0, True)
        self.entry_states.pending.update(concerned(entry, seq))
        if entry.ends:
            self.index.end_session(entry.ends)
            if self.filling:
                self.filling.ended.add(entry.ends)
        self.owner.observe(line)

    def describe(self, line: dict) -> Entry:
        """What a line means."""
        try:
            return self.owner.describe(line)
        except (KeyError, TypeError, ValueError, ArgumentError):
            # Whole by its crc, but not as this version writes it: it stays in the log and means nothing.
            diag.warning("store", "%s: line %d is of a form that is not known" % (self.log.name, line["seq"]))
            return no_entry()

    def _has_words(self, seq: int, offset: int):
        """Whether a line has words to be found by; None if the log has it no more. `offset` is about where it was."""
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
            was_sealed = self._make_room(len(lines))
            for place in self.log.append(lines):
                if not self.index.memtable.has_room_for(1):
                    self._seal_chunk([place[0], place[1], place[3]["seq"]])
                self._take(*place)
        except EngramError:
            # Refused before a line was taken: the tables are as they were.
            self._whole = True
            raise
        self._whole = True
        if background and not was_sealed:
            self.tick()
        return first

    def _make_room(self, count: int) -> bool:
        """Let full tables and a full segment give way to new ones before so many lines come; whether that took some work."""
        if not self.log.has_room:
            self.seal_segment()
        elif self.index.is_full or not self.index.memtable.has_room_for(count):
            self._seal_chunk([self.log.live, self.log.size, self.log.next_seq])
        else:
            return False
        return True

    def seal_segment(self) -> None:
        """End the live segment; its lines are in tables before it ends."""
        self._seal_chunk([self.log.live, self.log.size, self.log.next_seq])
        self.log.seal(self._tail_state)
        self.set_tail()

    def sealing(self):
        """As seal_segment(), a generator that pauses between its steps; lines may come meanwhile."""
        self._seal_rows()
        self._save()
        yield
        # Of what came meanwhile, the lines are in tables before the segment ends.
        self._seal_rows()
        self._end_segment()
        yield
        self._save()

    def _seal_some(self) -> None:
        """A step of what the next line would otherwise have to wait for."""
        if self.index.is_full:
            self._seal_rows()
        elif not self.log.has_room:
            self._seal_rows()
            self._end_segment()
        else:
            self._save()

    @property
    def _is_seal_due(self) -> bool:
        return self.index.is_full or not self.log.has_room or self._is_unsaved

    def _end_segment(self) -> None:
        self.log.seal(self._tail_state)
        self.tail = [self.log.live, self.log.size, self.log.next_seq]
        self._is_unsaved = True

    def set_tail(self) -> None:
        """The lines in RAM are those of a live segment that has begun."""
        self.tail = [self.log.live, self.log.size, self.log.next_seq]
        self._save()

    def _seal_chunk(self, tail) -> None:
        """Make a table of the lines in RAM; those from `tail` (segment, offset, seq) on come next."""
        self._seal_rows(tail)
        self._save()

    def _seal_rows(self, tail=None) -> None:
        """As _seal_chunk(), but that the manifest is written later: a cut before has its lines read from the log again."""
        tail = tail or [self.log.live, self.log.size, self.log.next_seq]
        self.log.refresh()
        first, last = self.tail[2], tail[2] - 1
        try:
            self.index.seal(first, last)
        except StoreError as error:
            # The index is a cache: what has no room in it now is found in the log later.
            self._put_off(error)
            self.index.clear_memtable()
            self._add_hole(first, last)
        self.tail, self._tail_state = tail, self.owner.state()
        self._is_unsaved = True

    def _add_hole(self, first: int, last: int) -> None:
        if self.unindexed and self.unindexed[-1][1] + 1 == first:
            self.unindexed[-1][1] = last
        else:
            self.unindexed.append([first, last])
        self.filling = None

    def _save(self) -> None:
        self._is_unsaved = False
        try:
            self.index.save(self.tail, sorted(self.entry_states.pending), self._tail_state)
        except StoreError as error:
            self._put_off(error)

    def _put_off(self, error) -> None:
        """Leave the index as it is for a while: the flash does not take more of it now."""
        diag.info("index", "%s: work was put off: %s" % (self.log.name, error))
        self.rest = _REST

    # --- work in the background

    def tick(self, slices: int = _SLICES, may_seal: bool = False) -> bool:
        """Do a little of the work in the background: marking, filling holes, merging. Whether there is more to do.

        With `may_seal` a table, or a segment, is ended as soon as it is full, step by step; else when the next line comes.
        """
        self.ready()
        if self.rest:
            self.rest -= 1
            return False
        self._whole = False
        try:
            if may_seal and self._is_seal_due and not self.is_compacting:
                self._seal_some()
                self._whole = True
                return True
            if self.is_reserve_due:
                self.is_reserve_due = self.reserve.allocate_some()
                self._whole = True
                return True
            if self.entry_states.pending and self.entry_states.may_settle:
                self.entry_states.settle_one(next(iter(self.entry_states.pending)))
            elif self.unindexed and not self.is_compacting:
                self._fill()
            for _ in range(slices):
                if self.index.tick(bool(self.unindexed)):
                    if not may_seal:
                        self._save()
                    # Else in a step of its own.
                    self._is_unsaved = may_seal
        except StoreError as error:
            self.filling = None
            self._put_off(error)
        self._whole = True
        is_due = may_seal and self._is_unsaved
        return bool(self.notice_lost() or self.entry_states.pending or self.unindexed or self.index.is_busy or is_due)

    def _fill(self) -> None:
        """Go on with making the index of what it lacks."""
        if self.filling is None:
            from engram.store.index.rebuild import Rebuild  # 2 KB of heap, seldom needed

            self.filling = Rebuild(self.log, self.index, self.describe, self.unindexed, self.entry_states.pending.add)
        if self.filling.step():
            self._save()

    @property
    def is_partial(self) -> bool:
        """Whether lines are in the index not yet."""
        self.notice_lost()
        return bool(self.unindexed)

    @property
    def partial(self) -> str:
        """Why a search may miss something: "" if it does not."""
        self.notice_lost()
        missing = sum(last - first + 1 for first, last in self.unindexed)
        if not missing:
            return ""
        return "the index is being made anew, %d of %d lines are not in it yet" % (missing, self.log.next_seq - 1)

    # --- reading

    def state(self, number: int):
        """LIVE, SUPERSEDED, FORGOTTEN or ARCHIVED; None if there has never been such an entry (or compaction took it)."""
        self.ready()
        return self.entry_states.state_of(number)[0]

    def get(self, number: int):
        """The latest version of an entry that was not forgotten, as a dict; else None."""
        self.ready()
        state, line = self.entry_states.state_of(number)
        return line if state in (LIVE, SUPERSEDED) else None

    def state_and_latest(self, number: int) -> tuple:
        """(state, line of the latest version) of an entry; (None, None) if there is none."""
        self.ready()
        return self.entry_states.state_of(number)

    def having(self, label: str) -> list:
        """The seqs of the lines that have a label, whatever became of them, or share its hash; of those in the index."""
        self.ready()
        return self.index.having(codec.term_hash(label))

    def line(self, seq: int):
        """The line with a seq as a dict, whatever has become of its entry; None if there is none."""
        self.ready()
        return self.log.read(seq)

    def newest(self, labels=(), scopes=()):
        """Yield the lines of live entries that have all `labels` and one of `scopes`, newest first.

        For a log without threads. What is appended or changed meanwhile does not come.
        """
        from engram.store.queries import newest  # as all listing: the heap of a board that only answers is for searches

        return newest(self, labels, scopes)

    def live_line(self, table, row: int, skip=()):
        """The line of a row if it is an entry's latest version and live, else None, as for a seq that is in `skip`."""
        seq, offset = self.index.locate(table, row)
        if seq in skip:
            return None
        line = self.log.read(seq, offset) if seq else None
        if line is None:
            if seq:
                diag.error("store", "%s: line %d is damaged and cannot be read" % (self.log.name, seq))
                codec.set_bit(self.index.memtable.dead if table is None else table.dead, row)
            return None
        number = self.describe(line).number
        if number < 0:
            return None
        if number in self.entry_states.pending:
            state, latest = self.entry_states.state_of(number)
            if state != LIVE or latest["seq"] != seq:
                return None
        return line

    def thread(self, session: int):
        """Yield the seqs of a thread's lines, newest first, as far as they are in the index."""
        self.ready()
        from engram.store import thread_queries

        for seq in thread_queries.backwards(self, session):
            if seq < self.log.oldest:
                return
            yield seq

    def following(self, session: int, seq: int):
        """Yield the seqs of a thread's lines after a line, oldest first, as far as they are in the index."""
        self.ready()
        from engram.store import thread_queries

        return thread_queries.following(self, session, seq)

    def lines_backwards(self):
        """Yield all lines, newest first, as dicts."""
        self.ready()
        return self.log.backwards()

    def raw(self):
        """The lines as they stand on flash, for whoever copies the log; see raw.py."""
        from engram.store.log.reader import LogReader

        return LogReader(self)

    # --- searching

    def search(self, query: Query, limit: int, explain: bool = False, skip=()):
        """Yield at most `limit` hits, best first; `partial` says whether something may be missing.

        Lines with a seq in `skip` are passed over unread: a long one would take much of the heap.
        """
        from engram.store.search import filters

        self.ready()
        self.entry_states.settle()
        index = self.index
        ranking = self._ranking(query.terms, query.weights)
        ranking.run(filters.allowed(index, query.labels, query.scopes, query.since, query.until))
        speaker_rows = filters.by_speaker(index, query.speaker)
        first = self.tail[2]
        for score, place, row, evidence in ranking.scored(speaker_rows, explain):
            table = ranking.table(place)
            if limit <= 0 or (table is None and self.tail[2] != first):
                # Enough; or the lines in RAM became a table between two steps of this generator.
                return
            line = self.live_line(table, row, skip)
            entry = self.describe(line) if line is not None else None
            if entry is not None and passes(entry, query.labels, query.scopes):
                limit -= 1
                # One by one, since all lines at once could fill the heap.
                made_of = self._parts(ranking, place, row, speaker_rows) if explain else ()
                yield Hit(entry.number, score, evidence, line, made_of)

    def _parts(self, ranking, place: int, row: int, speaker_rows) -> list:
        from engram.store.search.explain import parts  # 1 KB of heap, seldom needed

        table = ranking.table(place)
        if table is None:
            return parts(ranking, place, row, speaker_rows)
        return self.index.guarded(table, parts, ranking, place, row, speaker_rows) or []

    def _ranking(self, terms, weights):
        from engram.store.search.ranking import Ranking  # 7 KB of heap: not before the first search

        return Ranking(self.index, terms, weights)

    def frequencies(self, terms) -> tuple:
        """(number of live rows, {term: number of rows that have it})."""
        self.ready()
        return self.index.rows, self._ranking(terms, None).frequencies()

    def names(self, prefix: str):
        """Yield the labels of "#tag", "%speaker" and "@scope" that begin with a prefix, in no order."""
        from engram.store import name_queries

        self.ready()
        return name_queries.beginning(self, prefix)

    def labels(self, prefix: str, scopes=()):
        """Yield (label, number of live entries within the scopes) of the labels that begin with a prefix, in no order."""
        from engram.store import queries

        return queries.labels(self, prefix, scopes)

    def count(self, labels=(), scopes=()) -> int:
        """The number of live entries that have all `labels` and one of `scopes`."""
        from engram.store import queries

        return queries.count(self, labels, scopes)

    def is_used(self, label: str, scopes) -> bool:
        """Whether a live entry with one of `scopes` has the label, as far as hashes tell."""
        from engram.store import queries

        return queries.is_used(self, label, scopes)

    # --- making room

    @property
    def bytes(self) -> int:
        """Bytes of the log on flash."""
        return self.log.bytes

    @property
    def damaged(self) -> int:
        """Lines that were set aside since the log was opened."""
        return self.log.damaged

    @property
    def epoch(self) -> int:
        """The random number that tells this log from one that was reset."""
        return self.log.epoch

    def compact(self, decide) -> int:
        """Rewrite the log without what is not wanted any more; the bytes saved. decide(line): see compaction.py."""
        before = self.bytes
        finish(self.compacting(decide))
        return before - self.bytes

    def compacting(self, decide):
        """As compact(), a generator that pauses between slices; other calls may come between."""
        from engram.store.log.compaction import compacting

        return compacting(self, decide)

    def drop_oldest(self) -> bool:
        """Let the oldest sealed segment leave; whether there was one."""
        self.ready()
        if self.is_compacting or not self.log.drop_oldest():
            return False
        self.index.leave(self.log.oldest)
        self.filling = None
        self._find_holes(self.tail[2] - 1)
        self._save()
        return True
