"""Ranks the rows of an index: BM25 with a turn's neighbours and its session as more evidence, in integers.

    B = BM25 of the row                                       k1 .9, b .4, as levels in the postings
    T = B + .3 B(row before in the session) + .1 B(row after)
    S = BM25 of the session as one document                   k1 .9, b .2, its length counted in rows
    score = T / max T + .5 S / max S, times 1.2 for the speaker whom the query names

B is kept in one byte a row of one piece, scaled so that a row that has all of the query's words in the highest level has
255. The best rows by T are kept, and for those S is added. The idf is log(1 + (N - n + .5) / (n + .5)). No float is left
on the heap, and ties go to the older line, so every runtime gives the same ranks.
"""

from array import array

from engram.compat import const
from engram.store import codec
from engram.store.idf import ONE, distinct, inverse_frequency
from engram.store.live import NO_ROW
from engram.store.piece import run_row, run_session

KEPT = 64
"""Rows that are kept by T, before S and the filters that need the line: bounds the heap of a search."""

_SLOTS = const(512)  # for sessions: two that share a slot share their S
_SESSION_TERMS = const(10)  # the rarest words count for S: three bits each fill a small integer
_MOST_COUNT = const(7)
_MOST_TOTAL = const(4095)
_PLACE_BITS = const(4)
_ROW_BITS = const(14)  # with T and place they fill a small integer; more rows only cost heap
_BUFFER = const(256)
_BLOCK_BITS = const(9)
_BLOCK = const(512)  # rows whose scores lie together
_GROUP_BITS = const(4)
_GROUP = const(16)  # rows that are passed over together
_LARGEST = const(1 << 17)  # S is scaled below this before it is multiplied by ONE
_SESSION_FLAT = const(720)  # k1 * (1 - b) for k1 .9 and b .2, in thousandths
_SESSION_SLOPE = const(180)  # k1 * b
_SESSION_GAIN = const(121600)  # 64 * (k1 + 1)


class Scratch:
    """Tables for the sessions of a search, made once, since they would not fit a heap in pieces: for each slot the counts of
    ten words, the rows, and B of the last row.
    """

    def __init__(self):
        self._counts = array("I", bytes(4 * _SLOTS))
        self._sizes = array("H", bytes(2 * _SLOTS))
        self._last = bytearray(_SLOTS)

    def cleared(self) -> tuple:
        """The tables, empty."""
        for slot in range(_SLOTS):
            self._counts[slot] = self._sizes[slot] = self._last[slot] = 0
        return self._counts, self._sizes, self._last


class Best:
    """The rows with the highest T, at most KEPT after each cut, as integers that sort by T, then place, then row."""

    def __init__(self):
        self.keys = []
        self.slots = {}
        self.least = 0

    def add(self, total: int, place: int, row: int, slot: int) -> int:
        """Take a row of the piece at `place` (a number that is higher for newer pieces); what T has to exceed."""
        key = (_MOST_TOTAL - total << _PLACE_BITS | place) << _ROW_BITS | row
        self.keys.append(key)
        self.slots[key] = slot
        if len(self.keys) >= 2 * KEPT:
            self.cut()
        return self.least

    def cut(self) -> None:
        """Keep the KEPT best."""
        self.keys.sort()
        while len(self.keys) > KEPT:
            del self.slots[self.keys.pop()]
        if len(self.keys) == KEPT:
            self.least = _MOST_TOTAL - (self.keys[-1] >> _ROW_BITS + _PLACE_BITS)

    def rows(self):
        """Yield (T, place, row, slot), best first."""
        for key in self.keys:
            row = key & (1 << _ROW_BITS) - 1
            place = key >> _ROW_BITS & (1 << _PLACE_BITS) - 1
            yield _MOST_TOTAL - (key >> _ROW_BITS + _PLACE_BITS), place, row, self.slots[key]


class Ranking:
    """One search over an index: its words, what sessions have of them, and the best rows."""

    def __init__(self, index, terms, idfs=None):
        self._index = index
        self._terms = distinct(terms)
        self._hashes = [codec.term_hash(term) for term in self._terms]
        self._places = {}  # (piece, hash): where its postings are
        self._idfs = self._weights(idfs)
        self._sum = sum(self._idfs) or 1
        self._levels = [self._level_table(idf) for idf in self._idfs]
        rarest = sorted(range(len(self._terms)), key=lambda number: (-self._idfs[number], number))
        self._bits = [-1] * len(self._terms)
        for place, number in enumerate(rarest[:_SESSION_TERMS]):
            self._bits[number] = 3 * place
        self._counts, self._sizes, self._last = index.scratch.cleared()
        self.best = Best()

    def frequencies(self) -> dict:
        """{term: number of rows that have it}."""
        return dict(zip(self._terms, self._having))

    def _weights(self, idfs) -> list:
        index = self._index
        self._having = [index.live.count(hash) for hash in self._hashes]
        for piece in index.pieces:
            for number, hash in enumerate(self._hashes):
                found = index.guarded(piece, piece.find, hash)
                if found:
                    self._places[(piece.number, hash)] = found
                    self._having[number] += found[0]
        documents = index.rows
        return [
            idfs[term] if idfs else inverse_frequency(documents, having) if having else 0
            for term, having in zip(self._terms, self._having)
        ]

    def _level_table(self, idf: int) -> bytes:
        full = codec.LEVELS[-1] * self._sum
        return bytes(max(1, idf * weight * 255 // full) if idf else 0 for weight in codec.LEVELS)

    # --- pieces

    def run(self, allowed) -> None:
        """Rank all rows; `allowed` is None or gives a piece's (or the live rows') bits of the rows that may be found."""
        blocks = []
        buffer = bytearray(_BUFFER)
        for place, piece in enumerate(list(self._index.pieces)):
            if any((piece.number, hash) in self._places for hash in self._hashes):
                self._index.guarded(piece, self._rank_piece, piece, place, blocks, buffer, allowed)
        self._rank_live(len(self._index.pieces), allowed)
        self.best.cut()

    def _rank_piece(self, piece, place: int, blocks: list, buffer: bytearray, allowed) -> None:
        # One byte a row, in blocks: a long one would not fit a heap in pieces.
        while len(blocks) << _BLOCK_BITS <= piece.rows:
            blocks.append(bytearray(_BLOCK))
        blank = bytes(_BLOCK)
        for block in blocks:
            block[:] = blank
        table = piece.run_blocks()
        for number, hash in enumerate(self._hashes):
            found = self._places.get((piece.number, hash))
            if found:
                self._add_term(piece, found, number, table, blocks, buffer)
        self._collect(piece, place, table, blocks, allowed(piece) if allowed else None)

    def _add_term(self, piece, found, number: int, table: list, blocks: list, buffer: bytearray) -> None:
        """Add a word's weight to the rows that have it, and count those of each session."""
        levels = self._levels[number]
        runs = piece.runs
        view = memoryview(buffer)
        block, base = blocks[0], 0
        run = 0
        run_end = run_row(table, 1) if runs > 1 else 0x10000
        limit = min(run_end, _BLOCK)  # row from which on block or run is another
        row = -1
        inside = value = shift = 0
        for count in piece.read_list(found, buffer):
            for byte in view[:count]:
                if byte > 0x7F:
                    value |= (byte & 0x7F) << shift
                    shift += 7
                    continue
                if shift:
                    byte = byte << shift | value
                    value = shift = 0
                row += (byte >> 3) + 1
                if row >= limit:
                    if row >= run_end:
                        self._count(run_session(table, run), inside, number)
                        inside = 0
                        while row >= run_end:
                            run += 1
                            run_end = run_row(table, run + 1) if run + 1 < runs else 0x10000
                    block, base = blocks[row >> _BLOCK_BITS], row & -_BLOCK
                    limit = min(run_end, base + _BLOCK)
                block[row - base] += levels[byte & 7]
                inside += 1
        self._count(run_session(table, run), inside, number)

    def _count(self, session: int, rows: int, number: int) -> None:
        """A session has so many more rows with a word."""
        bits = self._bits[number]
        if session and rows and bits >= 0:
            slot = session % _SLOTS
            counts = self._counts[slot]
            old = counts >> bits & _MOST_COUNT
            self._counts[slot] = counts + (min(rows, _MOST_COUNT - old) << bits)

    def _collect(self, piece, place: int, table: list, blocks: list, bits) -> None:
        """Give the best rows of a piece to `best`.

        T of a row is at most 1.4 times the highest B of it and its neighbours: only around rows with a high B one has to look.
        """
        tops = self._group_tops(piece, blocks)
        least = max(self.best.least, 0 if bits else self._sure(piece, tops))
        carried = 3 * max(self._last)  # the most that a row can get from an older piece
        walk = _Walk(self, piece, table, blocks)
        following = 0  # the next row that was not looked at
        for group, top in enumerate(tops):
            # Most rows are of no use: to pass over a group at once is many times faster than row by row.
            if 14 * top <= least:
                continue
            start = group << _GROUP_BITS
            block = blocks[start >> _BLOCK_BITS]
            base = start & _BLOCK - 1
            for at in range(base, base + _GROUP):
                here = block[at]
                if 14 * here <= least:
                    continue
                row = start + at - base
                if 1 < at < _BLOCK - 2 and row > following:
                    # What the three rows can have at most, cheaply.
                    before, after = block[at - 1], block[at + 1]
                    reach = 10 * here + after + max(3 * before, carried)
                    first = 10 * before + here + max(3 * block[at - 2], carried)
                    last = 10 * after + block[at + 2] + max(3 * here, carried)
                    if reach <= least and first <= least and last <= least:
                        continue
                for near in range(max(row - 1, following), min(row + 2, piece.rows)):
                    least = max(least, self._look(walk, piece, place, near, least, bits))
                following = row + 2
        walk.finish()

    def _look(self, walk, piece, place: int, row: int, least: int, bits) -> int:
        """Take a row if its T exceeds `least`; what T has to exceed then."""
        total = walk.total(row)
        if (
            total > least
            and not piece.dead[row >> 3] >> (row & 7) & 1
            and (bits is None or bits[row >> 3] >> (row & 7) & 1)
        ):
            return self.best.add(total, place, row, walk.slot)
        return least

    def _group_tops(self, piece, blocks: list) -> bytearray:
        """The highest B of each group of rows."""
        tops = bytearray((piece.rows + _GROUP - 1) >> _GROUP_BITS)
        for group in range(len(tops)):
            start = group << _GROUP_BITS
            base = start & _BLOCK - 1
            tops[group] = max(memoryview(blocks[start >> _BLOCK_BITS])[base : base + _GROUP])
        return tops

    def _sure(self, piece, tops: bytearray) -> int:
        """A T that KEPT rows of the piece reach for certain."""
        wanted = KEPT + codec.count_bits(piece.dead)
        if len(tops) <= wanted:
            return 0
        having = array("H", bytes(512))
        for top in tops:
            having[top] += 1
        top = 255
        while top and wanted > having[top]:
            wanted -= having[top]
            top -= 1
        return max(0, 10 * top - 1)

    # --- live rows

    def _rank_live(self, place: int, allowed) -> None:
        live = self._index.live
        scores = self._live_scores(live)
        bits = allowed(None) if allowed else None
        totals = array("H", bytes(2 * len(live)))
        for row in range(len(live)):
            here = scores[row]
            session = live.sessions[row]
            totals[row] += 10 * here
            if not session:
                continue
            before = live.previous[row]
            if before == NO_ROW:
                totals[row] += 3 * self._last[session % _SLOTS]
            else:
                totals[row] += 3 * scores[before]
                totals[before] += here
            self._sizes[session % _SLOTS] = min(0xFFFF, self._sizes[session % _SLOTS] + 1)
        for row, total in enumerate(totals):
            if not total or codec.has_bit(live.dead, row) or not live.lengths[row]:
                continue
            if bits is None or codec.has_bit(bits, row):
                session = live.sessions[row]
                self.best.add(total, place, row, session % _SLOTS if session else -1)

    def _live_scores(self, live) -> bytearray:
        scores = bytearray(len(live))
        counts = {}
        for number, row in live.matches({hash: number for number, hash in enumerate(self._hashes)}):
            key = number << 7 | row
            counts[key] = counts.get(key, 0) + 1
        mean = self._index.mean()
        for key, count in counts.items():
            number, row = key >> 7, key & 0x7F
            scores[row] += self._levels[number][codec.level(count, live.lengths[row], mean)]
            self._count(live.sessions[row], 1, number)
        return scores

    # --- the end

    def scored(self, speaker_rows=None) -> list:
        """[(score, place, row, evidence)], best first; `speaker_rows(place)` tells whose rows get a fifth more."""
        top = next(self.best.rows())[0] if self.best.keys else 1
        prior = self._prior({slot for slot in self.best.slots.values() if slot >= 0})
        prior_top = max(prior.values()) if prior else 0
        found = []
        for total, place, row, slot in self.best.rows():
            score = total * ONE // top
            if prior_top and slot >= 0:
                score += prior[slot] * ONE // prior_top // 2
            if speaker_rows and speaker_rows(place, row):
                score += score // 5
            found.append((-score, place, row, total * self._sum // 255))
        found.sort()
        return [(-score, place, row, evidence) for score, place, row, evidence in found]

    def _prior(self, slots) -> dict:
        """S of some sessions, below 2^17."""
        sessions = rows = 0
        having = [0] * len(self._terms)
        for slot in range(_SLOTS):
            size = self._sizes[slot]
            if size:
                sessions += 1
                rows += size
            counts = self._counts[slot]
            if counts:
                for number, bits in enumerate(self._bits):
                    if bits >= 0 and counts >> bits & _MOST_COUNT:
                        having[number] += 1
        idfs = [inverse_frequency(sessions, count) if count else 0 for count in having]
        prior = {}
        for slot in slots:
            total = 0
            flat = _SESSION_FLAT + _SESSION_SLOPE * self._sizes[slot] * sessions // max(1, rows)
            for number, bits in enumerate(self._bits):
                count = self._counts[slot] >> bits & _MOST_COUNT if bits >= 0 else 0
                total += idfs[number] * (count * _SESSION_GAIN // (count * 1000 + flat))
            prior[slot] = total
        top = max(prior.values()) if prior else 0
        while top >= _LARGEST:
            top >>= 1
            for slot in prior:
                prior[slot] >>= 1
        return prior


class _Walk:
    """Goes through a piece's runs along with rows that ascend, and tells T of a row."""

    def __init__(self, ranking, piece, table: list, blocks: list):
        self._ranking = ranking
        self._piece = piece
        self._table = table
        self._blocks = blocks
        self._run = -1
        self._first = self._end = 0
        self._carried = 0  # B of the row that comes before the run, in an older piece
        self.slot = -1  # of the run's session, -1 for no session

    def total(self, row: int) -> int:
        """T of a row, times ten; rows have to ascend."""
        while row >= self._end:
            self._next_run()
        total = 10 * self._score(row)
        if self.slot < 0:
            return total
        total += 3 * (self._score(row - 1) if row > self._first else self._carried)
        return total + self._score(row + 1) if row + 1 < self._end else total

    def finish(self) -> None:
        """Go through the runs that are left."""
        while self._end < self._piece.rows:
            self._next_run()
        self._leave_run()

    def _score(self, row: int) -> int:
        return self._blocks[row >> _BLOCK_BITS][row & _BLOCK - 1]

    def _leave_run(self) -> None:
        if self.slot >= 0:
            self._ranking._last[self.slot] = self._score(self._end - 1)

    def _next_run(self) -> None:
        self._leave_run()
        self._run += 1
        run, piece, ranking = self._run, self._piece, self._ranking
        self._first = self._end
        self._end = run_row(self._table, run + 1) if run + 1 < piece.runs else piece.rows
        session = run_session(self._table, run)
        self.slot = session % _SLOTS if session else -1
        if session:
            self._carried = ranking._last[self.slot]
            ranking._sizes[self.slot] = min(0xFFFF, ranking._sizes[self.slot] + self._end - self._first)
