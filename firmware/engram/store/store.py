"""One store: a log, the index over it, and which entry is which.

An entry is a thing that keeps its number (the seq of its first line) while it changes: a later line can be its next
version, hide it, or show it again. What a line means is told by `describe(line)`, which gives an Entry; so records and
turns use the same engine. The log is the truth: all that this file knows of entries comes back from it.

A line that concerns an entry other than its own first version has the label "=NUMBER", so that the entry's fate is found
by the index. Entries of which something has become lately are kept in RAM (`_fates`) until it is marked in the index, one
by one in `tick`.
"""

from engram import log
from engram.compat import const
from engram.errors import ArgumentError, EngramError, StoreError, StoreFull
from engram.store import codec, filters
from engram.store.entry import FORGOTTEN, LIVE, SUPERSEDED, Entry, Hit, Query, concerned, labels, minutes, no_entry
from engram.store.index import Index

_SLICES = const(2)  # of merging, after each append
_REST = const(64)  # ticks that pass before work is tried again that the flash had no room for


class Store:
    """A log with an index over it.

    `owner` has describe(line), which gives an Entry, observe(line), called for each line in order as it is appended or read
    again after a restart, state(), a dict that observe() would have made, and restore(state or None).
    """

    def __init__(self, log, owner, reserve=None):
        self._log = log
        self._owner = owner
        self._reserve = reserve
        self._index = Index(log.base)
        self._reset()

    def _reset(self) -> None:
        self._fates = set()  # numbers of entries whose rows are not marked yet
        self._holes = []  # [first seq, last seq] that no piece covers
        self._filling = None
        self._is_compacting = False
        self._rest = 0
        self._whole = False

    # --- opening

    def open(self) -> None:
        """Open the log and its index, and read the lines that are in no piece yet."""
        self.close()
        self._reset()
        self._log.open(self._owner)
        saved = self._index.open(self._log.epoch)
        segment, offset, seq = saved["tail"] if saved else (0, 0, 0)
        # No seq is used twice, even if the newest lines were lost.
        self._log.next_seq = max(self._log.next_seq, seq)
        if self._log.is_recovered or segment != self._log.live or not self._log.first <= seq:
            # The index is of an older state of the log, or there is none: what it lacks is filled later.
            offset, seq, state = self._log.start, self._log.first, self._log.state
        else:
            state = saved["state"]
            offset = self._log.tail_from(seq, offset)
        self._fates.update(saved["pending"] if saved else ())
        self._owner.restore(state)
        self._tail, self._tail_state = [self._log.live, offset, seq], state
        self._find_holes(seq - 1)
        for place in self._log.scan(self._log.live, offset, 0, seq - 1):
            self._take(*place)
            if self._index.is_full:
                self._seal_chunk([place[0], place[1] + place[2], self._log.next_seq])
        if self._log.is_recovered and saved:
            self._save()
        self._whole = True

    def close(self) -> None:
        """Close the files."""
        self._index.close()
        self._log.close()

    def _ready(self) -> None:
        # An interrupt (Ctrl-C) may have come between a line's flush and its place in the tables.
        if not self._whole:
            try:
                self._log.settle()
            except StoreError:
                # A full flash: of what was interrupted, the lines that are whole are read as they are.
                pass
            self.open()
        self._notice_lost()

    def ready(self) -> None:
        """See to it that the owner knows all that is in the log, after an interrupt too."""
        self._ready()

    def _notice_lost(self) -> bool:
        """A piece of the index that turned out to be damaged leaves a hole; whether there was one."""
        was_lost = self._index.has_lost
        if was_lost:
            self._index.has_lost = False
            self._filling = None
            self._find_holes(self._tail[2] - 1)
        return was_lost

    def _find_holes(self, last: int) -> None:
        """Note what of the log up to a seq is in no piece."""
        self._holes = []
        following = self._log.oldest
        for first, end in list(self._index.covered()) + [(last + 1, last)]:
            # Where nothing is left after a compaction there is nothing to index.
            if first > following and next(self._log.scan_from(following, first - 1), None):
                self._holes.append([following, first - 1])
            following = max(following, end + 1)

    def _take(self, segment: int, offset: int, size: int, line: dict) -> None:
        """Give a line its row and note what it does to entries."""
        seq = line["seq"]
        entry = self._describe(line)
        self._index.add(seq, offset, size, minutes(entry.at), entry.session, entry.terms, labels(entry, seq))
        if entry.number < 0:
            self._index.set_dead(seq, 0, True)
        self._fates.update(concerned(entry, seq))
        if entry.ends:
            self._index.end_session(entry.ends)
            if self._filling:
                self._filling.ended.add(entry.ends)
        self._owner.observe(line)

    def _describe(self, line: dict) -> Entry:
        try:
            return self._owner.describe(line)
        except (KeyError, TypeError, ValueError, ArgumentError):
            # Whole by its crc, but not as this version writes it: it stays in the log and means nothing.
            log.warning("store", "%s: line %d is of a form that is not known" % (self._log.name, line["seq"]))
            return no_entry()

    # --- writing

    @property
    def next_seq(self) -> int:
        """The seq that the next line gets."""
        self._ready()
        return self._log.next_seq

    def append(self, *lines, urgent: bool = False, background: bool = True) -> int:
        """Append lines, each a list of (key, value) pairs, with one flush; the first one's seq. All or none count.

        An urgent line, such as one that lets something go, may use the room that is kept in reserve on a full flash. A
        little of the work in the background is done as well, unless `background` is False.
        """
        try:
            return self._append(lines, background)
        except StoreFull:
            if not (urgent and self._reserve and self._reserve.release()):
                raise
        return self._append(lines, background)

    def _append(self, lines, background: bool) -> int:
        self._ready()
        self._whole = False
        first = self._log.next_seq
        try:
            was_sealed = self._make_room()
            for place in self._log.append(lines):
                self._take(*place)
        except EngramError:
            # Refused before a line was taken: the tables are as they were.
            self._whole = True
            raise
        self._whole = True
        if background and not was_sealed:
            self.tick()
        return first

    def _make_room(self) -> bool:
        """Let full tables and a full segment give way to new ones before a line comes; whether that took some work."""
        if not self._log.has_room:
            self._seal_segment()
        elif self._index.is_full:
            self._seal_chunk([self._log.live, self._log.size, self._log.next_seq])
        else:
            return False
        return True

    def _seal_segment(self) -> None:
        """End the live segment; its lines are in pieces before it ends."""
        self._seal_chunk([self._log.live, self._log.size, self._log.next_seq])
        self._log.seal(self._tail_state)
        self._set_tail()

    def _set_tail(self) -> None:
        """The lines in RAM are those of a live segment that has begun."""
        self._tail = [self._log.live, self._log.size, self._log.next_seq]
        self._save()

    def _seal_chunk(self, tail) -> None:
        """Make a piece of the lines in RAM; those from `tail` (segment, offset, seq) on come next."""
        self._log.refresh()
        first, last = self._tail[2], tail[2] - 1
        try:
            self._index.seal(first, last)
        except StoreError as error:
            # The index is a cache: what has no room in it now is found in the log later.
            self._put_off(error)
            self._index.forget_live()
            self._add_hole(first, last)
        self._tail, self._tail_state = tail, self._owner.state()
        self._save()

    def _add_hole(self, first: int, last: int) -> None:
        if self._holes and self._holes[-1][1] + 1 == first:
            self._holes[-1][1] = last
        else:
            self._holes.append([first, last])
        self._filling = None

    def _save(self) -> None:
        try:
            self._index.save(self._tail, sorted(self._fates), self._tail_state)
        except StoreError as error:
            self._put_off(error)

    def _put_off(self, error) -> None:
        """Leave the index as it is for a while: the flash does not take more of it now."""
        log.info("index", "%s: work was put off: %s" % (self._log.name, error))
        self._rest = _REST

    # --- work in the background

    def tick(self, slices: int = _SLICES) -> bool:
        """Do a little of the work in the background: marking, filling holes, merging. Whether there is more to do."""
        self._ready()
        if self._rest:
            self._rest -= 1
            return False
        self._whole = False
        try:
            if self._fates and not self._is_filling:
                self._settle_one(next(iter(self._fates)))
            elif self._holes and not self._is_compacting:
                self._fill()
            for _ in range(slices):
                if self._index.tick(bool(self._holes)):
                    self._save()
        except StoreError as error:
            self._filling = None
            self._put_off(error)
        self._whole = True
        return bool(self._notice_lost() or self._fates or self._holes or self._index.is_busy)

    def _fill(self) -> None:
        """Go on with making the index of what it lacks."""
        if self._filling is None:
            from engram.store.filling import Filling  # 2 KB of heap, seldom needed

            self._filling = Filling(self._log, self._index, self._describe, self._holes, self._fates.add)
        if self._filling.step():
            self._save()

    @property
    def is_partial(self) -> bool:
        """Whether lines are in the index not yet."""
        self._notice_lost()
        return bool(self._holes)

    @property
    def partial(self) -> str:
        """Why a search may miss something: "" if it does not."""
        self._notice_lost()
        missing = sum(last - first + 1 for first, last in self._holes)
        if not missing:
            return ""
        return "the index is being made anew, %d of %d lines are not in it yet" % (missing, self._log.next_seq - 1)

    # --- what became of an entry

    def _fate(self, number: int) -> tuple:
        """(state, line of the latest version) of an entry; (None, None) if there is none."""
        while True:
            fate = self._fate_by_index(number)
            if not self._notice_lost():
                return fate

    def _fate_by_index(self, number: int) -> tuple:
        line = self._log.read(number, self._index.offset_of(number))
        entry = self._describe(line) if line is not None else None
        if entry is None or entry.number != number:
            line, session, is_dead = None, 0, None
        else:
            session = entry.session
            is_dead = self._index.is_dead(number, session)
            if is_dead is False and number not in self._fates:
                return LIVE, line
        # Where what hid it was damaged since, it stays hidden.
        state = FORGOTTEN if is_dead else LIVE
        for later in self._later(number, session):
            entry = self._describe(later)
            if entry.number == number:
                state, line = LIVE, later
            for hidden, fate in entry.hides:
                if hidden == number:
                    state = fate
            if number in entry.shows:
                state = LIVE
            if session and entry.ends == session:
                state = FORGOTTEN
        return (state, line) if line is not None else (None, None)

    def _later(self, number: int, session: int):
        """Yield the lines that have a part in an entry's fate, but for its own first one."""
        seqs = self._index.having(codec.term_hash("=%d" % number))
        if session:
            seqs += self._index.having(codec.term_hash("=s%d" % session))
        for first, last in self._holes:
            for _, _, _, line in self._log.scan_from(max(first, number + 1), last):
                entry = self._describe(line)
                if number in concerned(entry, line["seq"]) or (session and entry.ends == session):
                    seqs.append(line["seq"])
        seqs.sort()
        for seq in seqs:
            line = self._log.read(seq)
            if line is not None:
                yield line

    @property
    def _is_filling(self) -> bool:
        """Whether some lines are about to come into the index: what is noted of their entries is not settled before."""
        return self._filling is not None and self._filling.is_open

    def _settle_one(self, number: int) -> None:
        """Mark the rows of one entry as its fate wants it."""
        state, latest = self._fate(number)
        for seq in [number] + self._index.having(codec.term_hash("=%d" % number)):
            line = self._log.read(seq)
            entry = self._describe(line) if line is not None else None
            if entry is not None and entry.number == number:
                self._index.set_dead(seq, entry.session, state != LIVE or seq != latest["seq"])
        if not self._is_filling:
            self._fates.discard(number)

    def _settle(self) -> None:
        """Mark all that is to be marked, so that counts are right."""
        for number in list(self._fates):
            self._settle_one(number)

    # --- reading

    def state(self, number: int):
        """LIVE, SUPERSEDED or FORGOTTEN; None if there has never been such an entry (or compaction took it)."""
        self._ready()
        return self._fate(number)[0]

    def get(self, number: int):
        """The latest version of an entry that was not forgotten, as a dict; else None."""
        self._ready()
        state, line = self._fate(number)
        return line if state in (LIVE, SUPERSEDED) else None

    def line(self, seq: int):
        """The line with a seq as a dict, whatever has become of its entry; None if there is none."""
        self._ready()
        return self._log.read(seq)

    def newest(self, labels=(), scopes=()):
        """Yield the lines of live entries that have all `labels` and one of `scopes`, newest first.

        For a log without threads. What is appended or changed meanwhile does not come.
        """
        self._ready()
        self._settle()
        below = self._log.next_seq
        while below > 0:
            parts = [None] + self._index.pieces
            newest = max(parts + self._holes, key=lambda part: self._last_below(part, below))
            if self._last_below(newest, below) <= 0:
                return
            if isinstance(newest, list):
                below = yield from self._newest_in_hole(newest[0], below, labels, scopes)
            else:
                below = yield from self._newest_in(newest, below, filters.allowed(self._index, labels, scopes, 0, 0))

    def _last_below(self, part, below: int) -> int:
        """The last seq below one that a part of the log may have: a piece, a hole or, None, the lines in RAM."""
        if part is None:
            first, last = self._tail[2], self._log.next_seq - 1
        elif isinstance(part, list):
            first, last = part
        else:
            first, last = part.first, part.last
        return min(last, below - 1) if first < below else 0

    def _newest_in(self, piece, below: int, allowed):
        """Yield as newest() does, from one piece; the seq from which on there is nothing more to yield."""
        index = self._index
        live, tail = index.live, self._tail[2]
        bits = allowed(piece) if allowed else None
        for row in range((len(live) if piece is None else piece.rows) - 1, -1, -1):
            dead = live.dead if piece is None else piece.dead
            if codec.has_bit(dead, row) or (bits is not None and not codec.has_bit(bits, row)):
                continue
            seq = index.locate(piece, row)[0]
            line = self._live_line(piece, row) if 0 < seq < below else None
            if line is not None:
                yield line
                below = seq
                self._ready()
                # Sealed or merged meanwhile: its rows are elsewhere now.
                if tail != self._tail[2] if piece is None else piece not in index.pieces:
                    return below
        return tail if piece is None else piece.first

    def _newest_in_hole(self, first: int, below: int, labels, scopes):
        """As _newest_in(), of lines that are in no piece yet."""
        for line in self._log.backwards(below):
            seq = line["seq"]
            if seq < first:
                break
            entry = self._describe(line)
            has = set(entry.labels)
            if entry.number < 0 or not has.issuperset(labels) or (scopes and has.isdisjoint(scopes)):
                continue
            state, latest = self._fate(entry.number)
            if state == LIVE and latest["seq"] == seq:
                yield line
        return first

    def _live_line(self, piece, row: int):
        """The line of a row if it is an entry's latest version and live, else None."""
        seq, offset = self._index.locate(piece, row)
        line = self._log.read(seq, offset) if seq else None
        if line is None:
            if seq:
                log.error("store", "%s: line %d is damaged and cannot be read" % (self._log.name, seq))
                codec.set_bit(self._index.live.dead if piece is None else piece.dead, row)
            return None
        number = self._describe(line).number
        if number < 0:
            return None
        if number in self._fates:
            state, latest = self._fate(number)
            if state != LIVE or latest["seq"] != seq:
                return None
        return line

    def thread(self, session: int):
        """Yield the seqs of a thread's lines, newest first, as far as they are in the index."""
        self._ready()
        for seq in self._index.thread(session):
            if seq < self._log.oldest:
                return
            yield seq

    def following(self, session: int, seq: int):
        """Yield the seqs of a thread's lines after a line, oldest first, as far as they are in the index."""
        self._ready()
        return self._index.following(session, seq)

    def lines_backwards(self):
        """Yield all lines, newest first, as dicts."""
        self._ready()
        return self._log.backwards()

    # --- searching

    def search(self, query: Query, limit: int, explain: bool = False):
        """Yield at most `limit` hits, best first; `partial` says whether something may be missing."""
        self._ready()
        self._settle()
        index = self._index
        ranking = self._ranking(query.terms, query.weights)
        ranking.run(filters.allowed(index, query.labels, query.scopes, query.since, query.until))
        speaker_rows = filters.by_speaker(index, query.speaker)
        for score, place, row, evidence in ranking.scored(speaker_rows):
            if limit <= 0:
                return
            line = self._live_line(ranking.piece(place), row)
            if line is not None:
                limit -= 1
                # One by one, since all lines at once could fill the heap.
                made_of = self._parts(ranking, place, row, speaker_rows) if explain else ()
                yield Hit(self._describe(line).number, score, evidence, line, made_of)

    def _parts(self, ranking, place: int, row: int, speaker_rows) -> list:
        from engram.store.explain import parts  # 1 KB of heap, seldom needed

        piece = ranking.piece(place)
        if piece is None:
            return parts(ranking, place, row, speaker_rows)
        return self._index.guarded(piece, parts, ranking, place, row, speaker_rows) or []

    def _ranking(self, terms, weights):
        from engram.store.search import Ranking  # 7 KB of heap: not before the first search

        return Ranking(self._index, terms, weights)

    def frequencies(self, terms) -> tuple:
        """(number of live rows, {term: number of rows that have it})."""
        self._ready()
        return self._index.rows, self._ranking(terms, None).frequencies()

    def names(self, prefix: str):
        """Yield the labels that people see, such as "#tag" and "%speaker", that begin with a prefix, in no order."""
        self._ready()
        for name in self._index.names():
            if name.startswith(prefix):
                yield name

    def labels(self, prefix: str, scopes=()):
        """Yield (label, number of live entries within the scopes) of the labels that begin with a prefix, in no order."""
        self._ready()
        self._settle()
        index = self._index
        counts = {}
        allowed = filters.allowed(index, (), scopes, 0, 0)
        names = list(self.names(prefix))
        for piece in [None] + index.pieces:
            bits = allowed(piece) if allowed else None
            for name in names:
                rows = index.bits(piece, codec.term_hash(name))
                for at in range(len(rows) if bits else 0):
                    rows[at] &= bits[at]
                counts[name] = counts.get(name, 0) + filters.counted(index, piece, rows)
        for name, count in counts.items():
            if count:
                yield name, count

    def count(self, labels=(), scopes=()) -> int:
        """The number of live entries that have all `labels` and one of `scopes`."""
        self._ready()
        self._settle()
        index = self._index
        allowed = filters.allowed(index, labels, scopes, 0, 0)
        return sum(
            filters.counted(index, piece, allowed(piece) if allowed else None) for piece in [None] + index.pieces
        )

    # --- making room

    @property
    def bytes(self) -> int:
        """Bytes of the log on flash."""
        return self._log.bytes

    @property
    def damaged(self) -> int:
        """Lines that were set aside since the log was opened."""
        return self._log.damaged

    @property
    def epoch(self) -> int:
        """The random number that tells this log from one that was reset."""
        return self._log.epoch

    def compact(self, decide) -> int:
        """Rewrite the log without what is not wanted any more; the bytes saved. decide(line): see compaction.py."""
        before = self.bytes
        for _ in self.compacting(decide):
            pass
        return before - self.bytes

    def compacting(self, decide):
        """As compact(), a generator that pauses between slices; other calls may come between."""
        from engram.store.compaction import compact  # 2 KB of heap, seldom needed

        self._ready()
        if self._is_compacting:
            raise StoreError("a compaction is under way: wait until it is done.")
        self._is_compacting = True
        if self._reserve:
            self._reserve.release()
        try:
            while self.is_partial and self.tick():
                yield
            self._filling = None
            self._settle()
            self._seal_segment()
            following = self._log.next_seq
            for _ in compact(self._log, decide):
                yield
            if self._log.next_seq > following:
                self._seal_segment()
            else:
                # A new header tells the segments as they are now.
                self._log.begin(self._owner.state())
                self._set_tail()
            self._index.tidy(self._left)
            self._rest = 0
            while self._index.is_tidying and not self._rest:
                self.tick()
                yield
        finally:
            self._is_compacting = False
            if self._reserve:
                self._reserve.keep()

    def _left(self, seq: int):
        """Whether a line has words; None if the log has it no more."""
        line = self._log.read(seq) if seq >= self._log.oldest else None
        return None if line is None else any(True for _ in self._describe(line).terms)

    def drop_oldest(self) -> bool:
        """Let the oldest sealed segment leave; whether there was one."""
        self._ready()
        if self._is_compacting or not self._log.drop_oldest():
            return False
        self._index.leave(self._log.oldest)
        self._filling = None
        self._find_holes(self._tail[2] - 1)
        self._save()
        return True
