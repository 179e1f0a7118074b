"""Searches a store: ranks the rows of its index, and reads the lines of the best ones.

The rank is BM25 with a turn's neighbours and its session as more evidence, in integers.

    B = BM25 of the row                                       k1 .9, b .4, as levels in the postings
    T = B + .4 B of the rows before and after in the session + .2 B of the next but one on either side
    S = BM25 of the session as one document                   k1 .9, b .2, its length counted in rows
    score = T / max T + .5 S / max S, times 1.4 for the speaker whom the query names, halved for what the assistant said

The words of a row's head count in full, those behind it an eighth (codec.py). Whether the assistant said a line stands in its
row, which is read for the best rows only.

B is kept in one byte a row of one table, scaled so that a row that has all of the query's words in the highest level has
255. The best rows by T are kept, and for those S is added. The idf is log(1 + (N - n + .5) / (n + .5)). No float is left
on the heap, and ties go to the newer line of those that are kept by T, so every runtime gives the same ranks.
"""

from array import array

from engram.native import loops
from engram.store.index import codec
from engram.store.search import filters
from engram.store.search.weights import ONE, distinct_terms, inverse_frequency
from engram.store.types import Hit, passes

KEPT = 64
"""Rows kept by T, before S and filters that read lines."""

_SESSION_TERMS = const(10)  # the rarest words count for S: three bits each fill a small integer
_MOST_COUNT = const(7)
_LARGEST = const(1 << 17)  # S is scaled below this before it is multiplied by ONE
_SESSION_FLAT = const(720)  # k1 * (1 - b) for k1 .9 and b .2, in thousandths
_SESSION_SLOPE = const(180)  # k1 * b
_SESSION_GAIN = const(121600)  # 64 * (k1 + 1)


def search(store, query, limit: int, skip=(), own=()):
    """Yield at most `limit` hits, best first; seqs in `skip` stay unread, `own` is no evidence."""
    store.entry_states.settle()
    ranking = Ranking(store.index, query.terms, query.weights)
    if own:
        ranking.muted = store.index.place(*own)
    ranking.run(filters.allowed(store.index, query.labels, query.scopes, query.since, query.until))
    speaker_rows = filters.by_speaker(store.index, query.speaker)
    first = store.upkeep.tail[2]
    halves = not query.asks_replies
    for score, place, row, evidence in ranking.scored(speaker_rows, halves):
        table = ranking.tables[place]
        if limit <= 0 or (table is store.index.memtable and store.upkeep.tail[2] != first):
            # Enough; or the lines in RAM became a table between two steps of this generator.
            return
        line = store.entry_states.live_line(table, row, skip)
        entry = store.describe(line) if line is not None else None
        if entry is not None and passes(entry, query.labels, query.scopes):
            limit -= 1
            # One by one, since all lines at once could fill the heap.
            yield Hit(entry.number, score, evidence, line)


class Ranking:
    """One search over an index: words, sessions and best rows."""

    def __init__(self, index, terms, idfs=None):
        self.index = index
        # For each slot the score of its last row, and of the one before it; and the rows that have each of ten words.
        self._last, self._far = bytearray(codec.SLOTS), bytearray(codec.SLOTS)
        self._counts = array("I", bytes(4 * codec.SLOTS))
        self.tables = index.all_tables()  # one that turns out to be damaged keeps its place here
        self.terms = distinct_terms(terms)
        self.hashes = [codec.term_hash(term) for term in self.terms]
        self.places = {}  # place of a table: where the postings of each term are, or None
        self._idfs = self._weights(idfs)
        self._sum = sum(self._idfs) or 1
        full = codec.LEVELS[-1] * self._sum
        # Each word counts for one at least: as much room is left in the byte.
        least = sum(1 for idf in self._idfs if idf * codec.LEVELS[0] * 255 < full)
        self.levels = [
            bytes(max(1, idf * weight * (255 - least) // full) if idf else 0 for weight in codec.LEVELS)
            for idf in self._idfs
        ]
        rarest = sorted(range(len(self.terms)), key=lambda number: (-self._idfs[number], number))
        self._bits = [-1] * len(self.terms)
        for place, number in enumerate(rarest[:_SESSION_TERMS]):
            self._bits[number] = 3 * place
        self._sessions = [0] * len(self.terms)  # that have a term
        self.muted = None, -1
        """Table and row of the line whose words are ignored."""
        self._kept = array("I", bytes(8 * KEPT))  # see loops.keep_best

    def frequencies(self) -> dict:
        """Return {term: number of rows that have it}."""
        return dict(zip(self.terms, self._having))

    def _weights(self, idfs) -> list:
        index = self.index
        self._having = having = [0] * len(self.terms)
        dead = index.memtable.dead
        for number, hash in enumerate(self.hashes):
            for row, _ in index.memtable.postings(hash):
                having[number] += not codec.has_bit(dead, row)
        for table in self.tables[:-1]:
            index.guarded(table, self._find, table)
        documents = index.rows
        return [
            idfs[term] if idfs else inverse_frequency(documents, count) if count else 0
            for term, count in zip(self.terms, having)
        ]

    def _find(self, table) -> None:
        found = [table.find(hash) for hash in self.hashes]
        self.places[table.number] = [each and each[1] for each in found]
        for number, each in enumerate(found):
            self._having[number] += each[0] if each else 0

    # --- tables

    def run(self, allowed) -> None:
        """Rank all rows; `allowed` is None or a function for a table's bits."""
        for place, table in enumerate(self.tables[:-1]):
            found = self.places.get(table.number, ())
            has_words = any(postings is not None for postings in found)
            # In a table without the words, what came before it in its sessions is parted from what comes after.
            if has_words or (table.has_sessions and max(self._last)):
                self.index.guarded(table, self._rank_table, table, place, found, allowed if has_words else _none)
        self._rank_memtable(len(self.tables) - 1, allowed)

    def _rank_table(self, table, place: int, found, allowed) -> None:
        scores = bytearray(table.rows)
        ends, slots = table.runs_by_slot()
        for number, postings in enumerate(found):
            if postings is not None:
                self._sessions[number] += loops.add_scores(
                    codec.lists.rows, table.decode(postings, self.hashes[number]), self.levels[number],
                    scores, table.dead, ends, slots, self._counts, self._bits[number],
                )  # fmt: skip
        if table is self.muted[0]:
            scores[self.muted[1]] = 0
        self._keep(scores, ends, slots, filters.without(allowed and allowed(table), table.dead), place)

    def _keep(self, scores: bytearray, ends: array, slots: array, allowed, place: int) -> None:
        kept = self._kept
        loops.keep_best(kept, scores, ends, slots, len(ends), self._last, self._far, allowed, place, len(kept) - 2)

    def best(self):
        """Yield (T, place, row, slot) of the kept rows, best first."""
        kept = self._kept
        for at in range(0, len(kept), 2):
            if not kept[at]:
                return
            yield kept[at] >> 16, kept[at + 1] >> 16, kept[at + 1] & 0xFFFF, kept[at] & 0xFFFF

    # --- rows in RAM

    def _rank_memtable(self, place: int, allowed) -> None:
        memtable = self.index.memtable
        scores = self._memtable_scores(memtable)
        bits = filters.without(allowed and allowed(memtable), memtable.dead)
        order = memtable.order()
        may_be = bytearray(len(bits))
        ends, slots = array("H"), array("H")
        for at, row in enumerate(order):
            if memtable.lengths[row] and codec.has_bit(bits, row):
                codec.set_bit(may_be, at)
            if at and memtable.sessions[row] == memtable.sessions[order[at - 1]]:
                ends[-1] = at + 1
            else:
                ends.append(at + 1)
                slots.append(codec.slot_of(memtable.sessions[row]))
        self._keep(bytearray([scores[row] for row in order]), ends, slots, may_be, place)
        kept = self._kept
        for at in range(1, len(kept), 2):
            if kept[at - 1] and kept[at] >> 16 == place:
                kept[at] = place << 16 | order[kept[at] & 0xFFFF]

    def _memtable_scores(self, memtable) -> bytearray:
        scores = bytearray(memtable.rows)
        mean = self.index.mean()
        muted = self.muted[1] if memtable is self.muted[0] else -1
        for number, hash in enumerate(self.hashes):
            levels = self.levels[number]
            for row, count in memtable.postings(hash):
                if row != muted and not codec.has_bit(memtable.dead, row):
                    scores[row] += levels[codec.level(count, memtable.lengths[row], mean)]
                    session = memtable.sessions[row]
                    if session:
                        self._sessions[number] += self._count(codec.slot_of(session), self._bits[number])
        return scores

    def _count(self, slot: int, bits: int) -> int:
        seen = self._counts[slot] >> bits & _MOST_COUNT if bits >= 0 else _MOST_COUNT
        if seen < _MOST_COUNT:
            self._counts[slot] += 1 << bits
        return not seen

    # --- the end

    def scored(self, speaker_rows=None, halves_replies: bool = False):
        """Yield (score, place, row, evidence), best first; speaker's rows get two fifths more."""
        top = next(self.best(), (1,))[0]
        points = self._session_points()
        found = []
        for total, place, row, slot in self.best():
            score = total * ONE // top + points.get(slot, 0)
            if speaker_rows and speaker_rows(self.tables[place], row):
                score += score * 2 // 5
            # Neighbours add to a turn's T: a quarter less makes it comparable to an entry on its own.
            evidence = total * self._sum // 255
            found.append((-score, -place, -row, evidence if slot == codec.NO_SLOT else evidence * 3 // 4))
        found.sort()
        # Tuples would take three times the heap while lines are read.
        scores = array("H", [-each[0] for each in found])
        rows = array("I", [-each[1] << 16 | -each[2] for each in found])
        evidences = array("I", [each[3] for each in found])
        del found
        order = range(len(scores))
        for score, at in self._with_halves(scores, rows) if halves_replies else zip(scores, order):
            yield score, rows[at] >> 16, rows[at] & 0xFFFF, evidences[at]

    def _with_halves(self, scores: array, rows: array):
        """Yield (score, array index), best first, halving replies only as they come up."""
        replies = []
        for at, score in enumerate(scores):
            while replies and replies[0] < (-score, -rows[at]):
                half, _, of = replies.pop(0)
                yield -half, of
            table = self.tables[rows[at] >> 16]
            if self.index.guarded(table, table.is_reply, rows[at] & 0xFFFF):
                replies.append((-(score // 2), -rows[at], at))
                replies.sort()  # of two that are halved to the same score the newer is first
            else:
                yield score, at
        for half, _, at in replies:
            yield -half, at

    def _session_points(self) -> dict:
        """Return each slot's session points: half of S, scaled to the highest."""
        slots = {slot for _, _, _, slot in self.best() if slot != codec.NO_SLOT}
        if not slots:
            return {}
        sizes = self.index.session_sizes.by_slot(self.index)
        rows = sum(sizes)
        sessions = sum(1 for size in sizes if size)
        weights = [
            (bits, inverse_frequency(sessions, count))
            for bits, count in zip(self._bits, self._sessions)
            if bits >= 0 and count
        ]
        prior = {}
        for slot in slots:
            total = 0
            flat = _SESSION_FLAT + _SESSION_SLOPE * sizes[slot] * sessions // max(1, rows)
            for bits, idf in weights:
                count = self._counts[slot] >> bits & _MOST_COUNT
                if count:
                    total += idf * (count * _SESSION_GAIN // (count * 1000 + flat))
            prior[slot] = total
        top = max(prior.values())
        # So that it can be multiplied by ONE.
        while top >= _LARGEST:
            top >>= 1
            for slot in prior:
                prior[slot] >>= 1
        return {slot: prior[slot] * ONE // top // 2 for slot in prior} if top else {}


def _none(table) -> bytes:
    return bytes(len(table.dead))
