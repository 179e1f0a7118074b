"""One store: a log, its index, and which entry is which.

An entry is a thing that keeps its number (the seq of its first line) while it changes: a later line can be its next
version, hide it, or show it again. What a line means is told by `describe(line)`, which gives an Entry; so records and
turns use the same engine. The interface is narrow on purpose: what is above does not know where the index is kept.
"""

from array import array
from collections import namedtuple

from engram import log
from engram.compat import const
from engram.errors import EngramError, StoreFull
from engram.store.old.index import MOST_ROWS, NO_ROW, Index
from engram.store.old.rank import rank

LIVE = const(0)
SUPERSEDED = const(1)
FORGOTTEN = const(2)

_EPOCH_MINUTES = const(26297280)  # 2020-01-01 in minutes: times in tables are minutes since then

Entry = namedtuple("Entry", ("number", "terms", "labels", "session", "previous", "at", "hides", "shows", "ends"))
"""What a line means.

number    the entry that it is a version of, -1 for a line that is no entry
terms     the words to find it by, an iterable
labels    filters that it passes, an iterable
session   the thread it belongs to or None, previous: the seq of the thread's line before it, or 0
at        its moment, Unix seconds
hides     ((number, SUPERSEDED or FORGOTTEN), ...)
shows     (number, ...) of hidden entries that are live again
ends      a thread of which no entry is live any more, or None
"""


def no_entry(at: int = 0, hides=(), shows=(), ends=None) -> Entry:
    """What a line means that is no entry itself."""
    return Entry(-1, (), (), None, 0, at, hides, shows, ends)


Query = namedtuple("Query", ("terms", "labels", "scopes", "since", "until", "speaker", "weights"))
"""What to search.

terms     words, joined by OR
labels    filters that all must be passed
scopes    labels of which one is enough
since     the earliest time, until: the first time that is too late, in Unix seconds; 0 leaves it open
speaker   the label of the speaker whom the query names, or ""
weights   a dict of term: idf that holds for several stores together (see rank.weights), None for this store's own
"""

Hit = namedtuple("Hit", ("number", "score", "evidence"))
"""An entry that was found: its score (4096 is the best that words alone can give within one answer), and the weight of
the words that it matches, which can be compared between stores."""


class Store:
    """The log `lines` with an index over it; `describe` tells what a line means, `forget_all` that the log is read anew."""

    def __init__(self, lines, describe, forget_all=None, reserve=None):
        self._log = lines
        self._describe = describe
        self._forget_all = forget_all
        self._reserve = reserve
        self._reset()

    def _reset(self) -> None:
        self._index = Index()
        self._seqs = array("I")
        self._segments = array("H")
        self._offsets = array("H")
        self._sizes = array("H")
        self._minutes = array("I")
        self._latest = {}  # entries with more than one version: number -> row of the latest
        self._numbers = {}  # the same the other way round
        self._superseded = set()  # numbers; what else is not live was forgotten
        self._whole = False

    # --- opening

    def open(self) -> None:
        """Read the log and build the index."""
        self._log.close()
        self._reset()
        if self._forget_all:
            self._forget_all()
        self._log.open(self._take)
        self._whole = True

    def close(self) -> None:
        """Close the log's files."""
        self._log.close()

    def _ready(self) -> None:
        # An interrupt (Ctrl-C) may have come between a line's flush and its place in the tables.
        if not self._whole:
            self.open()

    def _take(self, segment: int, offset: int, size: int, line: dict) -> None:
        """Give a line its row."""
        entry = self._describe(line)
        if "seq" not in line:
            return
        previous = self.row(entry.previous) if entry.previous else NO_ROW
        row = self._index.add_blank() if entry.number < 0 else self._indexed(entry, line, previous)
        self._seqs.append(line["seq"])
        self._segments.append(segment)
        self._offsets.append(offset)
        self._sizes.append(size)
        self._minutes.append(max(0, entry.at // 60 - _EPOCH_MINUTES))
        if entry.number >= 0 and entry.number != line["seq"]:
            self._replace(entry.number, row)
        for number, state in entry.hides:
            self._set_state(number, state)
        for number in entry.shows:
            self._set_state(number, LIVE)
        if entry.ends is not None:
            self._index.end_session(entry.ends)

    def _indexed(self, entry: Entry, line: dict, previous: int) -> int:
        try:
            return self._index.add(entry.terms, entry.labels, entry.session, previous)
        except MemoryError:
            # It is on flash and stays readable; a board that cannot be opened because of one line would be worse.
            log.error("store", "line %d has too many words for the heap: no search finds it" % line["seq"])
            return self._index.add((), entry.labels, entry.session, previous)

    def _replace(self, number: int, row: int) -> None:
        """Make a row the latest version of an entry, which is live again."""
        old = self._row_of(number)
        if old != NO_ROW:
            self._index.set_live(old, False)
        self._latest[number] = row
        self._numbers[row] = number
        self._superseded.discard(number)

    def _set_state(self, number: int, state: int) -> None:
        row = self._row_of(number)
        if row == NO_ROW:
            return
        self._index.set_live(row, state == LIVE)
        if state == SUPERSEDED:
            self._superseded.add(number)
        else:
            self._superseded.discard(number)

    # --- finding rows

    def row(self, seq: int) -> int:
        """The row of the line with a seq, NO_ROW if there is none."""
        low, high = 0, len(self._seqs)
        while low < high:
            middle = (low + high) // 2
            if self._seqs[middle] < seq:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self._seqs) and self._seqs[low] == seq else NO_ROW

    def _row_of(self, number: int) -> int:
        row = self._latest.get(number, -1)
        return row if row >= 0 else self.row(number)

    def _number(self, row: int) -> int:
        return self._numbers.get(row, self._seqs[row])

    def _read(self, row: int):
        return self._log.read(self._segments[row], self._offsets[row], self._sizes[row])

    # --- writing

    @property
    def next_seq(self) -> int:
        """The seq that the next line gets."""
        self._ready()
        return self._log.next_seq

    def append(self, *lines, urgent: bool = False) -> int:
        """Append lines, each a list of (key, value) pairs, with one flush; the first one's seq. All or none count.

        An urgent line, such as one that lets something go, may use the room that is kept in reserve on a full flash.
        """
        try:
            return self._append(lines)
        except StoreFull:
            if not (urgent and self._reserve and self._reserve.release()):
                raise
        return self._append(lines)

    def _append(self, lines) -> int:
        self._ready()
        if len(self._index) + len(lines) > MOST_ROWS:
            raise StoreFull("no more than %d lines can be kept: forget something and compact." % MOST_ROWS)
        self._whole = False
        try:
            first = self._log.append(*lines)
        except EngramError:
            # Refused before a line was visited: the tables are as they were.
            self._whole = True
            raise
        self._whole = True
        return first

    # --- reading

    def state(self, number: int):
        """LIVE, SUPERSEDED or FORGOTTEN; None if there has never been such an entry (or compaction took it)."""
        self._ready()
        row = self._row_of(number)
        if row == NO_ROW:
            return None
        if self._index.live[row]:
            return LIVE
        return SUPERSEDED if number in self._superseded else FORGOTTEN

    def get(self, number: int):
        """The latest version of an entry that was not forgotten, as a dict; else None."""
        if self.state(number) in (None, FORGOTTEN):
            return None
        return self._read(self._row_of(number))

    def line(self, seq: int):
        """The line with a seq as a dict, whatever has become of its entry; None if there is none."""
        self._ready()
        row = self.row(seq)
        return None if row == NO_ROW else self._read(row)

    def newest(self, labels=(), scopes=()):
        """Yield the numbers of live entries that have all `labels` and one of `scopes`, newest version first."""
        self._ready()
        allowed = self._filter(labels, scopes, 0, 0)
        for row in range(len(self._index) - 1, -1, -1):
            if self._index.live[row] and allowed(row):
                yield self._number(row)

    def thread(self, seq: int):
        """Yield the seqs of a thread from a line backwards, itself first, as far as they are kept."""
        self._ready()
        row = self.row(seq)
        while row != NO_ROW:
            yield self._seqs[row]
            row = self._index.previous[row]

    def lines_backwards(self):
        """Yield all lines, newest first, as dicts."""
        self._ready()
        for row in range(len(self._seqs) - 1, -1, -1):
            line = self._read(row)
            if line is not None:
                yield line

    # --- searching

    def search(self, query: Query, limit: int) -> list:
        """At most `limit` hits, best first."""
        self._ready()
        allowed = self._filter(query.labels, query.scopes, query.since, query.until)
        found = rank(self._index, query.terms, allowed, query.speaker, query.weights)
        return [Hit(self._number(row), score, evidence) for score, row, evidence in found[:limit]]

    def frequencies(self, terms) -> tuple:
        """(number of live entries, {term: number of live entries that have it})."""
        self._ready()
        return self._index.live_rows, {term: self._index.frequency(term) for term in terms}

    def labels(self, prefix: str, scopes=()):
        """Yield (label, number of live entries within the scopes) of the labels that begin with a prefix, in no order."""
        self._ready()
        allowed = self._filter((), scopes, 0, 0)
        for label in self._index.labels(prefix):
            count = 0
            for row, _ in self._index.rows(label):
                count += allowed(row)
            if count:
                yield label, count

    def count(self, labels=(), scopes=()) -> int:
        """The number of live entries that have all `labels` and one of `scopes`."""
        return sum(1 for _ in self.newest(labels, scopes))

    def _filter(self, labels, scopes, since: int, until: int):
        """A function of a row: whether the filters let it through."""
        wanted = [{row for row, _ in self._index.rows(label)} for label in labels]
        if scopes:
            wanted.append({row for scope in scopes for row, _ in self._index.rows(scope)})
        first = max(0, since // 60 - _EPOCH_MINUTES)
        end = max(0, until // 60 - _EPOCH_MINUTES) if until else 1 << 30

        def allowed(row: int) -> bool:
            if not first <= self._minutes[row] < end:
                return False
            for rows in wanted:
                if row not in rows:
                    return False
            return True

        return allowed

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
        """Rewrite the log (see Log.compact) and read it anew; the bytes that it saved."""
        self._ready()
        if self._reserve:
            self._reserve.release()
        try:
            return self._log.compact(decide)
        finally:
            self.open()
            if self._reserve:
                self._reserve.keep()

    def drop_oldest(self) -> bool:
        """Let the oldest sealed segment leave; whether there was one."""
        self._ready()
        self._whole = False
        dropped = self._log.drop_oldest()
        self.open()
        return dropped
