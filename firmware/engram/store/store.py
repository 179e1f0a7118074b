"""One store: a log, the index over it, and which entry is which.

An entry is a thing that keeps its number (the seq of its first line) while it changes: a later line can be its next
version, hide it, or show it again. What a line means is told by `describe(line)`, which gives an Entry; so records and
turns use the same engine. The log is the truth: all that this file knows of entries comes back from it.

A line that concerns an entry other than its own first version has the label "=NUMBER", so that the entry's fate is found
by the index. Entries of which something has become lately are kept in RAM (`_fates`) until it is marked in the index, one
by one in `tick`.
"""

from collections import namedtuple

from engram.compat import const
from engram.errors import EngramError, StoreFull
from engram.store import codec
from engram.store.index import Index, enough_for_piece
from engram.store.live import Live
from engram.store.search import Ranking

LIVE = const(0)
SUPERSEDED = const(1)
FORGOTTEN = const(2)

_EPOCH_MINUTES = const(26297280)  # 2020-01-01 in minutes: times in tables are minutes since then
_MOST_MINUTES = const(0xFFFFFF)
_SPARE = const(16)  # hits beyond the limit that are looked at, since some may have gone lately
_SLICES = const(2)  # of merging, after each append
_LINES_AT_ONCE = const(8)  # that are indexed again, after each append

Entry = namedtuple("Entry", ("number", "terms", "labels", "session", "at", "hides", "shows", "ends"))
"""What a line means.

number    the entry that it is a version of, -1 for a line that is no entry
terms     the words to find it by, an iterable
labels    filters that it passes, an iterable
session   the number of the thread it belongs to, 0 for none
at        its moment, Unix seconds
hides     ((number, SUPERSEDED or FORGOTTEN), ...)
shows     (number, ...) of hidden entries that are live again
ends      the number of a thread of which no entry is live any more, or 0
"""


def no_entry(at: int = 0, hides=(), shows=(), ends: int = 0) -> Entry:
    """What a line means that is no entry itself."""
    return Entry(-1, (), (), 0, at, hides, shows, ends)


Query = namedtuple("Query", ("terms", "labels", "scopes", "since", "until", "speaker", "weights"))
"""What to search.

terms     words, joined by OR
labels    filters that all must be passed
scopes    labels of which one is enough
since     the earliest time, until: the first time that is too late, in Unix seconds; 0 leaves it open
speaker   the label of the speaker whom the query names, or ""
weights   a dict of term: idf that holds for several stores together (see search.weights), None for this store's own
"""

Hit = namedtuple("Hit", ("number", "score", "evidence", "line"))
"""An entry that was found: its score (4096 is the best that words alone can give within one answer), the weight of the
words that it matches, which can be compared between stores, and its line as a dict."""


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
        self._fates = set()  # numbers of entries whose rows are not marked yet
        self._holes = []  # [first seq, last seq] that no piece covers
        self._filling = None
        self._whole = False

    # --- opening

    def open(self) -> None:
        """Open the log and its index, and read the lines that are in no piece yet."""
        self.close()
        self._whole = False
        self._fates = set()
        self._holes = []
        self._filling = None
        self._log.open()
        saved = self._index.open(self._log.epoch)
        segment, offset, seq = saved["tail"] if saved else (0, 0, 0)
        if segment != self._log.live or not self._log.first <= seq:
            # The index is of an older state of the log, or there is none: what it lacks is filled later.
            offset, seq, state = self._log.start, self._log.first, self._log.state
        else:
            state = saved["state"]
            self._log.next_seq = max(self._log.next_seq, seq)
        self._fates.update(saved["pending"] if saved else ())
        self._owner.restore(state)
        self._tail, self._tail_state = [self._log.live, offset, seq], state
        self._find_holes(seq - 1)
        for place in self._log.scan(self._log.live, offset):
            self._take(*place)
            if self._index.is_full:
                self._index.seal()
                self._tail, self._tail_state = [place[0], place[1] + place[2], self._log.next_seq], self._owner.state()
                self._save()
        self._whole = True

    def close(self) -> None:
        """Close the files."""
        self._index.close()
        self._log.close()

    def _ready(self) -> None:
        # An interrupt (Ctrl-C) may have come between a line's flush and its place in the tables.
        if not self._whole:
            self.open()

    def _find_holes(self, last: int) -> None:
        """Note what of the log up to a seq is in no piece."""
        self._holes = []
        following = self._log.oldest
        for first, end in self._index.covered():
            if first > following:
                self._holes.append([following, first - 1])
            following = max(following, end + 1)
        if following <= last:
            self._holes.append([following, last])

    def _take(self, segment: int, offset: int, size: int, line: dict) -> None:
        """Give a line its row and note what it does to entries."""
        entry = self._describe(line)
        self._index.add(
            line["seq"], offset, size, _minutes(entry.at), entry.session, entry.terms, self._labels(entry, line)
        )
        self._owner.observe(line)
        self._note_fates(entry, line["seq"])

    def _describe(self, line: dict) -> Entry:
        return self._owner.describe(line)

    def _labels(self, entry: Entry, line: dict):
        yield from entry.labels
        if entry.number >= 0 and entry.number != line["seq"]:
            yield "=%d" % entry.number
        for number, _ in entry.hides:
            yield "=%d" % number
        for number in entry.shows:
            yield "=%d" % number

    def _note_fates(self, entry: Entry, seq: int) -> None:
        if entry.number >= 0 and entry.number != seq:
            self._fates.add(entry.number)
        for number, _ in entry.hides:
            self._fates.add(number)
        for number in entry.shows:
            self._fates.add(number)
        if entry.ends:
            self._index.end_session(entry.ends)

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
            self._make_room()
            for place in self._log.append(lines):
                self._take(*place)
        except EngramError:
            # Refused before a line was taken: the tables are as they were.
            self._whole = True
            raise
        self._whole = True
        if background:
            self.tick()
        return first

    def _make_room(self) -> None:
        """Let full tables and a full segment give way to new ones before a line comes."""
        if self._index.is_full or (not self._log.has_room and len(self._index.live)):
            self._seal_chunk()
        if not self._log.has_room:
            self._log.seal()
            self._set_tail()
            self._save()

    def _seal_chunk(self) -> None:
        self._log.refresh()
        self._index.seal()
        self._set_tail()
        self._save()

    def _set_tail(self) -> None:
        """All lines so far are in pieces."""
        self._tail = [self._log.live, self._log.size, self._log.next_seq]
        self._tail_state = self._owner.state()

    def _save(self) -> None:
        self._index.save(self._tail, sorted(self._fates), self._tail_state)

    def tick(self, slices: int = _SLICES) -> bool:
        """Do a little of the work in the background: marking, filling holes, merging. Whether there is more to do."""
        self._ready()
        if self._fates:
            self._settle_one()
        if self._holes:
            self._fill()
        for _ in range(slices):
            if self._index.tick():
                self._save()
        return bool(self._fates or self._holes or self._index.is_busy)

    # --- what became of an entry

    def _fate(self, number: int) -> tuple:
        """(state, line of the latest version) of an entry; (None, None) if there is none."""
        line = self._log.read(number, self._index.offset_of(number))
        entry = self._describe(line) if line is not None else None
        if entry is None or entry.number != number:
            line = None
        elif number not in self._fates and not self._index.is_dead(number, entry.session):
            return LIVE, line
        state = None if line is None else FORGOTTEN
        for seq in self._index.having(codec.term_hash("=%d" % number)):
            later = self._log.read(seq)
            if later is None:
                continue
            entry = self._describe(later)
            if entry.number == number:
                state, line = LIVE, later
            for hidden, fate in entry.hides:
                if hidden == number:
                    state = fate
            if number in entry.shows:
                state = LIVE
        return (state, line) if line is not None else (None, None)

    def _settle_one(self) -> None:
        """Mark the rows of one entry as its fate wants it."""
        number = next(iter(self._fates))
        state, latest = self._fate(number)
        for seq in [number] + self._index.having(codec.term_hash("=%d" % number)):
            line = self._log.read(seq)
            entry = self._describe(line) if line is not None else None
            if entry is not None and entry.number == number:
                self._index.set_dead(seq, entry.session, state != LIVE or seq != latest["seq"])
        self._fates.discard(number)

    # --- filling holes

    def _fill(self) -> None:
        """Make a piece of the lines in a hole, some lines at a time."""
        if self._filling is None:
            first, last = self._holes[0]
            self._filling = self._fill_hole(first, last)
        for _ in range(_LINES_AT_ONCE):
            if next(self._filling, None) is None:
                self._filling = None
                self._holes.pop(0)
                self._save()
                return

    def _fill_hole(self, first: int, last: int):
        rows = Live()
        size = 0
        for _, offset, length, line in self._log.scan_from(first, last):
            entry = self._describe(line)
            rows.add(line["seq"], offset, _minutes(entry.at), entry.session, entry.terms, self._labels(entry, line))
            size += length
            self._note_fates(entry, line["seq"])
            if enough_for_piece(rows, size):
                self._index.insert(rows, size)
                rows.clear()
                size = 0
            yield True
        if len(rows):
            self._index.insert(rows, size)

    @property
    def partial(self) -> str:
        """Why a search may miss something: "" if it does not."""
        missing = sum(last - first + 1 for first, last in self._holes)
        if not missing:
            return ""
        return "the index is being made anew: %d of %d lines are not in it yet." % (missing, self._log.next_seq - 1)

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
        """Yield the lines of live entries that have all `labels` and one of `scopes`, newest piece of the log first.

        Within a piece they come by sessions; where there are none, newest first.
        """
        self._ready()
        allowed = self._allowed(labels, scopes, 0, 0)
        for piece in [None] + self._index.pieces[::-1]:
            rows = len(self._index.live) if piece is None else piece.rows
            dead = self._index.live.dead if piece is None else piece.dead
            bits = allowed(piece) if allowed else None
            for row in range(rows - 1, -1, -1):
                if not codec.has_bit(dead, row) and (bits is None or codec.has_bit(bits, row)):
                    line = self._live_line(*self._index.locate(piece, row))
                    if line is not None:
                        yield line

    def _live_line(self, seq: int, offset: int):
        """The line of a row if it is an entry's latest version and live, else None."""
        line = self._log.read(seq, offset) if seq else None
        if line is None:
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
        """Yield the seqs of a thread's lines, newest first, as far as they are kept."""
        self._ready()
        live = self._index.live
        for row in range(len(live) - 1, -1, -1):
            if live.sessions[row] == session:
                yield live.seqs[row]
        for piece in self._index.pieces[::-1]:
            run = self._index.guarded(piece, piece.run, session)
            for row in range(run[1] - 1, run[0] - 1, -1) if run else ():
                seq = self._index.locate(piece, row)[0]
                if seq:
                    yield seq

    def lines_backwards(self):
        """Yield all lines, newest first, as dicts."""
        self._ready()
        return self._log.backwards()

    # --- searching

    def search(self, query: Query, limit: int) -> list:
        """At most `limit` hits, best first; `partial` says whether something may be missing."""
        self._ready()
        ranking = Ranking(self._index, query.terms, query.weights)
        ranking.run(self._allowed(query.labels, query.scopes, query.since, query.until))
        hits = []
        for score, place, row, evidence in ranking.scored(self._by_speaker(query.speaker)):
            line = self._live_line(*self._index.locate(self._index.place(place), row))
            if line is not None:
                hits.append(Hit(self._describe(line).number, score, evidence, line))
                if len(hits) == limit:
                    break
        return hits

    def frequencies(self, terms) -> tuple:
        """(number of live rows, {term: number of rows that have it})."""
        self._ready()
        return self._index.rows, Ranking(self._index, terms).frequencies()

    def labels(self, prefix: str, scopes=()):
        """Yield (label, number of live entries within the scopes) of the labels that begin with a prefix, in no order."""
        self._ready()
        counts = {}
        allowed = self._allowed((), scopes, 0, 0)
        names = [name for name in self._index.names() if name.startswith(prefix)]
        for piece in [None] + self._index.pieces:
            dead = self._index.live.dead if piece is None else piece.dead
            bits = allowed(piece) if allowed else None
            for name in names:
                rows = self._index.bits(piece, codec.term_hash(name))
                for at in range(len(rows)):
                    rows[at] &= ~dead[at] & (bits[at] if bits else 255)
                counts[name] = counts.get(name, 0) + codec.count_bits(rows)
        for name, count in counts.items():
            if count:
                yield name, count

    def count(self, labels=(), scopes=()) -> int:
        """The number of live entries that have all `labels` and one of `scopes`."""
        return sum(1 for _ in self.newest(labels, scopes))

    def _allowed(self, labels, scopes, since: int, until: int):
        """A function of a piece that gives the bits of the rows that pass the filters, None if all do."""
        if not (labels or scopes or since or until):
            return None
        wanted = [codec.term_hash(label) for label in labels]
        one_of = [codec.term_hash(scope) for scope in scopes]
        first = _minutes(since) if since else 0
        end = _minutes(until) if until else _MOST_MINUTES + 1

        def allowed(piece):
            groups = [self._index.bits(piece, hash) for hash in wanted]
            if one_of:
                groups.append(_either([self._index.bits(piece, hash) for hash in one_of]))
            if since or until:
                groups.append(self._index.times(piece, first, end))
            bits = groups[0]
            for other in groups[1:]:
                for at in range(len(bits)):
                    bits[at] &= other[at]
            return bits

        return allowed

    def _by_speaker(self, label: str):
        if not label:
            return None
        hash = codec.term_hash(label)
        known = {}

        def is_speaker(place: int, row: int) -> bool:
            if place not in known:
                known[place] = self._index.bits(self._index.place(place), hash)
            return codec.has_bit(known[place], row)

        return is_speaker

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
        """Rewrite the log (see Log.compact) and make its index anew in the background; the bytes saved."""
        self._ready()
        if self._reserve:
            self._reserve.release()
        before = self._log.bytes
        try:
            for _ in self._log.compact(decide):
                pass
            self._index.remove()
        finally:
            self._whole = False
            if self._reserve:
                self._reserve.keep()
        self.open()
        return before - self._log.bytes

    def drop_oldest(self) -> bool:
        """Let the oldest sealed segment leave; whether there was one."""
        self._ready()
        return self._log.drop_oldest()


def _minutes(at: int) -> int:
    return max(0, min(_MOST_MINUTES, at // 60 - _EPOCH_MINUTES))


def _either(groups: list) -> bytearray:
    bits = groups[0]
    for other in groups[1:]:
        for at in range(len(bits)):
            bits[at] |= other[at]
    return bits
