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

from engram.compat import const
from engram.store.index import codec
from engram.store.index.memtable import NO_ROW
from engram.store.search import filters
from engram.store.search.explain import parts
from engram.store.search.session_scores import NO_SLOT, slot_of, slots_of
from engram.store.search.top_k import BLOCK, BLOCK_BITS, FAR, NEAR, Look, TopK, clear_dead
from engram.store.search.weights import ONE, OWN, distinct_terms, inverse_frequency
from engram.store.types import Hit, passes

_SESSION_TERMS = const(10)  # the rarest words count for S: three bits each fill a small integer
_MOST_COUNT = const(7)
_BUFFER = const(32)
_PART_BITS = const(5)
_PART = const(32)  # slots whose counts lie together: a heap in pieces has many places for so few bytes
_RUNS_AT_ONCE = const(32)
_LARGEST = const(1 << 17)  # S is scaled below this before it is multiplied by ONE
_SESSION_FLAT = const(720)  # k1 * (1 - b) for k1 .9 and b .2, in thousandths
_SESSION_SLOPE = const(180)  # k1 * b
_SESSION_GAIN = const(121600)  # 64 * (k1 + 1)


def search(store, query, limit: int, explain: bool, skip, own):
    """See Store.search."""
    store.ready()
    store.entry_states.settle()
    ranking = Ranking(store.index, query.terms, query.weights)
    if own:
        ranking.muted = store.index.place(*own)
    ranking.run(filters.allowed(store.index, query.labels, query.scopes, query.since, query.until))
    speaker_rows = filters.by_speaker(store.index, query.speaker)
    first = store.upkeep.tail[2]
    halves = not query.asks_replies
    for score, place, row, evidence in ranking.scored(speaker_rows, explain, halves):
        table = ranking.tables[place]
        if limit <= 0 or (table is store.index.memtable and store.upkeep.tail[2] != first):
            # Enough; or the lines in RAM became a table between two steps of this generator.
            return
        line = store.entry_states.live_line(table, row, skip)
        entry = store.describe(line) if line is not None else None
        if entry is not None and passes(entry, query.labels, query.scopes):
            limit -= 1
            # One by one, since all lines at once could fill the heap.
            made_of = ()
            if explain:
                made_of = store.index.guarded(table, parts, ranking, place, row, speaker_rows, halves) or ()
            yield Hit(entry.number, score, evidence, line, made_of)


class Ranking:
    """One search over an index: its words, what sessions have of them, and the best rows."""

    def __init__(self, index, terms, idfs=None):
        self.index = index
        # The long pieces of heap first: there are fewer of them later.
        slots = slots_of(index)
        self._last, self._far = (
            bytearray(slots),
            bytearray(slots),
        )  # for each slot B of its last row, and of the one before it
        self._blocks: list = [None] * (max((table.rows >> BLOCK_BITS for table in index.tables), default=0) + 1)
        for at in range(len(self._blocks)):
            # B of each row of a table: in blocks, since a long one would not fit a heap in tables.
            self._blocks[at] = bytearray(BLOCK)
        # For each slot the rows that have each of ten words.
        self._counts = [array("I", bytes(4 * min(_PART, slots - first))) for first in range(0, slots, _PART)]
        self.tables = index.all_tables()  # one that turns out to be damaged keeps its place here
        self.terms = distinct_terms(terms)
        self.hashes = [codec.term_hash(term) for term in self.terms]
        self.places = {}  # place of a table: where the postings of each term are, or None
        self._idfs = self._weights(idfs)
        self._sum = sum(self._idfs) or 1
        full = codec.LEVELS[-1] * self._sum
        # Each word counts for one at least: as much room is left in the byte.
        least = sum(1 for idf in self._idfs if idf * codec.LEVELS[0] * 255 < full)
        self.levels = [_level_points(idf, 255 - least, full) for idf in self._idfs]
        rarest = sorted(range(len(self.terms)), key=lambda number: (-self._idfs[number], number))
        self._bits = [-1] * len(self.terms)
        for place, number in enumerate(rarest[:_SESSION_TERMS]):
            self._bits[number] = 3 * place
        self._sessions = [0] * len(self.terms)  # that have a term
        self.muted = None, -1
        """Table and row of a line whose words count for nothing."""
        self.best = TopK(len(self.tables))

    def frequencies(self) -> dict:
        """{term: number of rows that have it}."""
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
        """Rank all rows; `allowed` is None or gives a table's (or the live rows') bits of the rows that may be found."""
        blocks = self._blocks
        look = Look(self.best, self._last, self._far)
        buffer = bytearray(_BUFFER)
        for place, table in enumerate(self.tables[:-1]):
            found = self.places.get(table.number)
            if found and any(place is not None for place in found):
                self.index.guarded(table, self._rank_table, table, place, found, blocks, buffer, allowed, look)
            elif table.has_sessions and max(self._last):
                self.index.guarded(table, self._pass_over, table)
        del blocks[:]  # the lines that are read next need the room
        self._rank_memtable(len(self.tables) - 1, allowed)

    def _rank_table(self, table, place: int, found: list, blocks: list, buffer: bytearray, allowed, look) -> None:
        blank = bytes(BLOCK)
        for block in blocks:
            block[:] = blank
        runs = _session_runs(table)
        for number, postings in enumerate(found):
            if postings is not None:
                self._sessions[number] += self._add_term(
                    table.postings(postings, buffer), self.levels[number], self._bits[number], runs, blocks
                )
        if any(table.dead):
            clear_dead(table.dead, blocks)
        if table is self.muted[0]:
            blocks[self.muted[1] >> BLOCK_BITS][self.muted[1] & BLOCK - 1] = 0
        bits = allowed(table) if allowed else None
        look.collect(table, place, runs, blocks, bits)

    def _pass_over(self, table) -> None:
        """A table that has none of the words: what came before it in its sessions is not next to what comes after."""
        first = 0
        for session, end in table.each_run():
            slot = slot_of(session)
            self._far[slot] = self._last[slot] if end - first == 1 else 0
            self._last[slot] = 0
            first = end

    def _add_term(self, parts, levels: bytes, bits: int, runs: list, blocks: list) -> int:
        """Add a word's weight to the rows that have it, and count those of each session; the number of new sessions."""
        part_of_runs = run = 0
        ends, slots = runs[0]
        size = len(slots)
        run_end = ends[0]
        block, base = blocks[0], 0
        limit = min(run_end, BLOCK)  # row from which on block or run is another
        row = -1
        rows_of_run = passed = sessions = 0
        for part in parts:
            for digit in part:
                if digit > 0x37:
                    passed = passed * 8 + digit - (0x37 if digit < 0x3A else 0x5E)
                    continue
                row += passed + 1
                passed = 0
                if row >= limit:
                    if row >= run_end:
                        if rows_of_run:
                            sessions += self._count(slots[run], rows_of_run, bits)
                            rows_of_run = 0
                        while row >= run_end:
                            run += 1
                            if run == size:
                                part_of_runs += 1
                                ends, slots = runs[part_of_runs]
                                size = len(slots)
                                run = 0
                            run_end = ends[run]
                    block, base = blocks[row >> BLOCK_BITS], row & -BLOCK
                    limit = min(run_end, base + BLOCK)
                block[row - base] += levels[digit & 7]
                rows_of_run += 1
        return sessions + self._count(slots[run], rows_of_run, bits)

    def _count(self, slot: int, rows: int, bits: int) -> int:
        """Add rows with a word to a session's count; 1 if it had none."""
        if bits < 0:
            return 0
        counts = self._counts[slot >> _PART_BITS]
        slot &= _PART - 1
        old = counts[slot] >> bits & _MOST_COUNT
        counts[slot] += min(rows, _MOST_COUNT - old) << bits
        return not old

    # --- rows in RAM

    def _rank_memtable(self, place: int, allowed) -> None:
        memtable = self.index.memtable
        scores = self._memtable_scores(memtable)
        bits = allowed(memtable) if allowed else None
        totals = array("H", bytes(2 * memtable.rows))
        for row in range(memtable.rows):
            here = scores[row]
            totals[row] += OWN * here
            session = memtable.sessions[row]
            if session:
                slot = slot_of(session)
                before = memtable.previous[row]
                if before == NO_ROW:
                    totals[row] += NEAR * self._last[slot] + FAR * self._far[slot]
                    continue
                totals[row] += NEAR * scores[before]
                totals[before] += NEAR * here
                second = memtable.previous[before]
                if second == NO_ROW:
                    totals[row] += FAR * self._last[slot]
                else:
                    totals[row] += FAR * scores[second]
                    totals[second] += FAR * here
        for row, total in enumerate(totals):
            if not total or codec.has_bit(memtable.dead, row) or not memtable.lengths[row]:
                continue
            if bits is None or codec.has_bit(bits, row):
                self.best.add_row(total, place, row, slot_of(memtable.sessions[row]))

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
                        self._sessions[number] += self._count(slot_of(session), 1, self._bits[number])
        return scores

    # --- the end

    def scored(self, speaker_rows=None, explain: bool = False, halves_replies: bool = False):
        """Yield (score, place, row, evidence), best first; `speaker_rows(table, row)` tells which get two fifths more.

        Frees what it ranked with, unless scores are to be explained: the lines that are read next need the room.
        """
        top = next(self.best.rows())[0] if self.best.slots else 1
        self.points = points = self._session_points()
        del self._counts, self._last, self._far
        found = []
        for total, place, row, slot in self.best.rows():
            score = total * ONE // top + points.get(slot, 0)
            if speaker_rows and speaker_rows(self.tables[place], row):
                score += score * 2 // 5
            # What stands beside a turn adds to its T: by a quarter less it is like that of what stands alone.
            evidence = total * self._sum // 255
            found.append((-score, -place, -row, evidence if slot == NO_SLOT else evidence * 3 // 4))
        if not explain:
            self.places = self.best = self.points = points = None
        found.sort()
        # As tuples they would take three times the heap while lines are read.
        scores = array("H", [-each[0] for each in found])
        rows = array("I", [-each[1] << 16 | -each[2] for each in found])
        evidences = array("I", [each[3] for each in found])
        del found
        order = range(len(scores))
        for score, at in self._with_halves(scores, rows) if halves_replies else zip(scores, order):
            yield score, rows[at] >> 16, rows[at] & 0xFFFF, evidences[at]

    def _with_halves(self, scores: array, rows: array):
        """Yield (score, place in the arrays), best first, with the scores of replies halved. A row is looked at when its turn
        comes: the rest need not be read.
        """
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
        """The session's part of a row's score, by slot: a half of S, as a share of the highest."""
        slots = {slot for slot in self.best.slots if slot != NO_SLOT}
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
                count = self._counts[slot >> _PART_BITS][slot & _PART - 1] >> bits & _MOST_COUNT
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


def _level_points(idf: int, room: int, full: int) -> bytes:
    return bytes(max(1, idf * weight * room // full) if idf else 0 for weight in codec.LEVELS)


def _session_runs(table) -> list:
    """The session's runs as (rows after the last, slots), in parts: in one they would not fit a heap in tables."""
    parts = []
    left = table.runs
    at = size = 0
    ends = slots = None
    for session, end in table.each_run():
        if at == size:
            at, size = 0, min(left, _RUNS_AT_ONCE)
            left -= size
            ends, slots = array("H", bytes(2 * size)), array("H", bytes(2 * size))
            parts.append((ends, slots))
        ends[at] = end
        slots[at] = slot_of(session)
        at += 1
    return parts
