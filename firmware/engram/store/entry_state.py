"""The states of a store's entries: which of them is live, and what its latest version is.

The index finds the lines that change an entry by their label "=NUMBER"; lines that are in no table yet are read through.
Rows of entries that changed lately are marked later, one entry at a time.
"""

from engram import diag
from engram.compat import finish
from engram.store.index import codec
from engram.store.types import FORGOTTEN, LIVE, concerned


class EntryStates:
    """The states of a Store's entries; `pending` are numbers with unmarked rows."""

    def __init__(self, store):
        self._store = store
        self.pending = set()

    def state_of(self, number: int, known=None) -> tuple:
        """Return (state, latest line) of an entry or (None, None); `known` is one of its lines."""
        while True:
            found = self._by_index(number, known)
            if not self._store.notice_lost():
                return found

    def _by_index(self, number: int, known) -> tuple:
        line = self._line(number, known)
        entry = self._store.describe(line) if line is not None else None
        if entry is None or entry.number != number:
            line, session, is_dead = None, 0, None
        else:
            session = entry.session
            is_dead = self._store.index.is_dead(number, session)
            if is_dead is False and number not in self.pending:
                return LIVE, line
        # It stays hidden if the line that hid it was damaged.
        state = FORGOTTEN if is_dead else LIVE
        for later in self._later(number, session, known):
            entry = self._store.describe(later)
            if entry.number == number:
                state, line = LIVE, later
            for hidden, new_state in entry.hides:
                if hidden == number:
                    state = new_state
            if number in entry.shows:
                state = LIVE
            if session and entry.ends == session:
                state = FORGOTTEN
        return (state, line) if line is not None else (None, None)

    def _later(self, number: int, session: int, known):
        seqs = self._store.index.seqs_with_label("=%d" % number)
        if session:
            seqs += self._store.index.seqs_with_label("=s%d" % session)
        # Lines older than the newest known one change nothing.
        newest = max(seqs) if seqs else number
        for first, last in self._store.upkeep.unindexed:
            for _, _, _, line in self._store.log.scan_from(max(first, newest + 1), last):
                entry = self._store.describe(line)
                if number in concerned(entry, line["seq"]) or (session and entry.ends == session):
                    seqs.append(line["seq"])
        seqs.sort()
        for seq in seqs:
            line = self._line(seq, known)
            if line is not None:
                yield line

    def _line(self, seq: int, known=None):
        if known is not None and known["seq"] == seq:
            return known
        return self._store.log.read(seq, self._store.index.offset_of(seq))

    def live_line(self, table, row: int, skip=()):
        store = self._store
        seq, offset = store.index.locate(table, row)
        if seq in skip:
            return None
        line = store.log.read(seq, offset) if seq else None
        if line is None:
            if seq:
                diag.error("store", "%s: line %d is damaged and cannot be read" % (store.log.name, seq))
                codec.set_bit(table.dead, row)
            return None
        number = store.describe(line).number
        if number < 0:
            return None
        if number in self.pending:
            state, latest = self.state_of(number)
            if state != LIVE or latest["seq"] != seq:
                return None
        return line

    @property
    def may_settle(self) -> bool:
        """True if marking is of use: not while lines are about to enter the index."""
        filling = self._store.upkeep.filling
        return filling is None or not filling.is_open

    def settle_one(self, number: int) -> None:
        state, latest = self.state_of(number)
        for seq in [number] + self._store.index.seqs_with_label("=%d" % number):
            line = self._line(seq)
            entry = self._store.describe(line) if line is not None else None
            if entry is not None and entry.number == number:
                self._store.index.set_dead(seq, entry.session, state != LIVE or seq != latest["seq"])
        if self.may_settle:
            self.pending.discard(number)

    def settle(self) -> None:
        """Apply all pending states for exact counts, except during a rebuild."""
        self._store.ready()
        finish(self.settling())

    def settling(self):
        """Settle like settle(), pausing after each entry."""
        for number in () if self._store.upkeep.unindexed else list(self.pending):
            self.settle_one(number)
            yield
