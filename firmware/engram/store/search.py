"""Ranks the rows of an index: BM25 with a turn's neighbours and its session as more evidence, in integers.

    B = BM25 of the row                                       k1 .9, b .4, as levels in the postings
    T = B + .4 B of the rows before and after in the session + .2 B of the next but one on either side
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
from engram.store.live import NO_ROW, ROW_BITS

KEPT = 64
"""Rows that are kept by T, before S and the filters that need the line: bounds the heap of a search."""

_SLOTS = const(512)  # as in sessions.py
_NO_SLOT = const(512)
_SESSION_TERMS = const(10)  # the rarest words count for S: three bits each fill a small integer
_MOST_COUNT = const(7)
_MOST_TOTAL = const(4095)
OWN = const(5)
"""T is counted in fifths of B."""

_NEAR = const(2)  # of the rows beside it
_FAR = const(1)  # of the next but one
_REACH = const(2)  # rows to either side that count
_SHARE = const(11)  # T is at most so many times the highest B of a row and its neighbours
_PLACE_BITS = const(4)
_ROW_BITS = const(14)  # with T and place they fill a small integer
_BUFFER = const(256)
_RUNS_AT_ONCE = const(128)
_BLOCK_BITS = const(8)
_BLOCK = const(256)  # rows whose scores lie together
_GROUP_BITS = const(4)
_GROUP = const(16)  # rows that are passed over together
_LARGEST = const(1 << 17)  # S is scaled below this before it is multiplied by ONE
_SESSION_FLAT = const(720)  # k1 * (1 - b) for k1 .9 and b .2, in thousandths
_SESSION_SLOPE = const(180)  # k1 * b
_SESSION_GAIN = const(121600)  # 64 * (k1 + 1)


class Best:
    """The KEPT rows with the highest T, as integers that sort by T, then place, then row."""

    def __init__(self, places: int):
        # While an index is made anew it may have more pieces, for which larger integers only cost heap.
        self._place_bits = _PLACE_BITS if places < 1 << _PLACE_BITS else 2 * _PLACE_BITS
        self._total_shift = _ROW_BITS + self._place_bits
        self._keys = [0] * (KEPT + 1)
        self.slots = [0] * (KEPT + 1)
        # Emptied lists keep their room: no longer one has to be found when they grow.
        del self._keys[:]
        del self.slots[:]
        self.least = 0
        """What T has to exceed."""

    def add(self, total: int, place: int, row: int, slot: int) -> None:
        """Take a row of the piece at `place` (a number that is higher for newer pieces), with its session's slot."""
        key = (_MOST_TOTAL - total << self._place_bits | place) << _ROW_BITS | row
        keys = self._keys
        low, high = 0, len(keys)
        while low < high:
            middle = (low + high) >> 1
            if keys[middle] < key:
                low = middle + 1
            else:
                high = middle
        keys.insert(low, key)
        self.slots.insert(low, slot)
        if len(keys) > KEPT:
            keys.pop()
            self.slots.pop()
        if len(keys) == KEPT:
            self.least = _MOST_TOTAL - (keys[-1] >> self._total_shift)

    def rows(self):
        """Yield (T, place, row, slot), best first."""
        for key, slot in zip(self._keys, self.slots):
            row = key & (1 << _ROW_BITS) - 1
            place = key >> _ROW_BITS & (1 << self._place_bits) - 1
            yield _MOST_TOTAL - (key >> self._total_shift), place, row, slot


class Ranking:
    """One search over an index: its words, what sessions have of them, and the best rows."""

    def __init__(self, index, terms, idfs=None):
        self.index = index
        self._pieces = list(index.pieces)  # one that turns out to be damaged keeps its place here
        self.terms = distinct(terms)
        self._hashes = [codec.term_hash(term) for term in self.terms]
        self.places = {}  # place of a piece: where the postings of each term are, or None
        self.in_ram = {}  # number of a term << ROW_BITS | row in RAM: how often the row has the term
        self._idfs = self._weights(idfs)
        self._sum = sum(self._idfs) or 1
        full = codec.LEVELS[-1] * self._sum
        # Each word counts for one at least: as much room is left in the byte.
        least = sum(1 for idf in self._idfs if idf * codec.LEVELS[0] * 255 < full)
        self.levels = [_level_table(idf, 255 - least, full) for idf in self._idfs]
        rarest = sorted(range(len(self.terms)), key=lambda number: (-self._idfs[number], number))
        self._bits = [-1] * len(self.terms)
        for place, number in enumerate(rarest[:_SESSION_TERMS]):
            self._bits[number] = 3 * place
        self._sessions = [0] * len(self.terms)  # that have a term
        self.best = Best(len(self._pieces))

    def piece(self, place: int):
        """The piece at a place, None for the lines in RAM."""
        return self._pieces[place] if place < len(self._pieces) else None

    def frequencies(self) -> dict:
        """{term: number of rows that have it}."""
        return dict(zip(self.terms, self._having))

    def _weights(self, idfs) -> list:
        index = self.index
        self._having = having = [0] * len(self.terms)
        live = self.in_ram
        for key in index.live.matches({hash: number for number, hash in enumerate(self._hashes)}):
            if key not in live:
                live[key] = 0
                having[key >> ROW_BITS] += 1
            live[key] += 1
        for piece in self._pieces:
            places = index.guarded(piece, self._find, piece)
            if places:
                self.places[piece.number] = places
                for number, found in enumerate(places):
                    if found:
                        having[number] += found[0]
        documents = index.rows
        return [
            idfs[term] if idfs else inverse_frequency(documents, count) if count else 0
            for term, count in zip(self.terms, having)
        ]

    def _find(self, piece) -> list:
        return [piece.find(hash) for hash in self._hashes]

    # --- pieces

    def run(self, allowed) -> None:
        """Rank all rows; `allowed` is None or gives a piece's (or the live rows') bits of the rows that may be found."""
        scratch = self.index.scratch
        scratch.clear()
        self._counts, self._last, self._far = scratch.counts, scratch.last, scratch.far
        self._sizes = self.index.sizes.of(self.index)
        blocks = []
        buffer = bytearray(_BUFFER)
        for place, piece in enumerate(self._pieces):
            found = self.places.get(piece.number)
            if found and any(found):
                self.index.guarded(piece, self._rank_piece, piece, place, found, blocks, buffer, allowed)
            elif piece.has_sessions and max(self._last):
                self.index.guarded(piece, self._pass_over, piece)
        self._rank_live(len(self._pieces), allowed)

    def _rank_piece(self, piece, place: int, found: list, blocks: list, buffer: bytearray, allowed) -> None:
        # One byte a row, in blocks: a long one would not fit a heap in pieces.
        while len(blocks) << _BLOCK_BITS <= piece.rows:
            blocks.append(bytearray(_BLOCK))
        blank = bytes(_BLOCK)
        for block in blocks:
            block[:] = blank
        table = _runs(piece)
        for number, postings in enumerate(found):
            if postings:
                self._sessions[number] += self._add_term(
                    piece.read_list(postings, buffer), self.levels[number], self._bits[number], table, blocks
                )
        if any(piece.dead):
            _silence(piece.dead, blocks)
        self._collect(piece, place, table, blocks, allowed(piece) if allowed else None)

    def _pass_over(self, piece) -> None:
        """A piece that has none of the words: what came before it in its sessions is not next to what comes after."""
        first = 0
        for session, end in piece.each_run():
            slot = session % _SLOTS if session else _NO_SLOT
            self._far[slot] = self._last[slot] if end - first == 1 else 0
            self._last[slot] = 0
            first = end

    def _add_term(self, parts, levels: bytes, bits: int, table: list, blocks: list) -> int:
        """Add a word's weight to the rows that have it, and count those of each session; the number of new sessions."""
        part_of_table = run = 0
        ends, slots = table[0]
        size = len(slots)
        run_end = ends[0]
        block, base = blocks[0], 0
        limit = min(run_end, _BLOCK)  # row from which on block or run is another
        row = -1
        rows_of_run = value = shift = sessions = 0
        for part in parts:
            for byte in part:
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
                        if rows_of_run:
                            sessions += self._count(slots[run], rows_of_run, bits)
                            rows_of_run = 0
                        while row >= run_end:
                            run += 1
                            if run == size:
                                part_of_table += 1
                                ends, slots = table[part_of_table]
                                size = len(slots)
                                run = 0
                            run_end = ends[run]
                    block, base = blocks[row >> _BLOCK_BITS], row & -_BLOCK
                    limit = min(run_end, base + _BLOCK)
                block[row - base] += levels[byte & 7]
                rows_of_run += 1
        return sessions + self._count(slots[run], rows_of_run, bits)

    def _count(self, slot: int, rows: int, bits: int) -> int:
        """A session has so many more rows with a word; 1 if it had none."""
        if bits < 0:
            return 0
        count = self._counts[slot]
        old = count >> bits & _MOST_COUNT
        self._counts[slot] = count + (min(rows, _MOST_COUNT - old) << bits)
        return not old

    def _collect(self, piece, place: int, table: list, blocks: list, bits) -> None:
        """Give the best rows of a piece to `best`.

        T of a row is at most 2.2 times the highest B of it and its neighbours: only around rows with a high B one has to look.
        """
        tops = _group_tops(piece.rows, blocks)
        last, far = self._last, self._far
        look = _Look(self.best, piece, place, table, blocks, bits, last, far)
        look.need(max(self.best.least, 0 if bits else _sure(piece, tops)))
        if piece.has_sessions and look.carried > look.floor:
            look.at_firsts()
        look.rewind()
        start = 0
        for top in tops:
            # Most rows are of no use: to pass over a group at once is many times faster than row by row.
            if top > look.floor:
                block = blocks[start >> _BLOCK_BITS]
                row = start
                at = start & _BLOCK - 1
                for here in memoryview(block)[at : at + _GROUP]:
                    if here > look.floor:
                        look.around(row)
                    row += 1
            start += _GROUP
        if piece.has_sessions:
            first = 0
            for ends, slots in table:
                for at, slot in enumerate(slots):
                    end = ends[at] - 1
                    far[slot] = blocks[end - 1 >> _BLOCK_BITS][end - 1 & _BLOCK - 1] if end > first else last[slot]
                    last[slot] = blocks[end >> _BLOCK_BITS][end & _BLOCK - 1]
                    first = end + 1
            last[_NO_SLOT] = far[_NO_SLOT] = 0

    # --- live rows

    def _rank_live(self, place: int, allowed) -> None:
        live = self.index.live
        scores = self._live_scores(live)
        bits = allowed(None) if allowed else None
        totals = array("H", bytes(2 * len(live)))
        for row in range(len(live)):
            here = scores[row]
            totals[row] += OWN * here
            session = live.sessions[row]
            if session:
                slot = session % _SLOTS
                before = live.previous[row]
                if before == NO_ROW:
                    totals[row] += _NEAR * self._last[slot] + _FAR * self._far[slot]
                    continue
                totals[row] += _NEAR * scores[before]
                totals[before] += _NEAR * here
                second = live.previous[before]
                if second == NO_ROW:
                    totals[row] += _FAR * self._last[slot]
                else:
                    totals[row] += _FAR * scores[second]
                    totals[second] += _FAR * here
        for row, total in enumerate(totals):
            if not total or codec.has_bit(live.dead, row) or not live.lengths[row]:
                continue
            if bits is None or codec.has_bit(bits, row):
                session = live.sessions[row]
                self.best.add(total, place, row, session % _SLOTS if session else _NO_SLOT)

    def _live_scores(self, live) -> bytearray:
        scores = bytearray(len(live))
        mean = self.index.mean()
        for key, count in self.in_ram.items():
            number, row = key >> ROW_BITS, key & (1 << ROW_BITS) - 1
            scores[row] += self.levels[number][codec.level(count, live.lengths[row], mean)]
            session = live.sessions[row]
            if session:
                self._sessions[number] += self._count(session % _SLOTS, 1, self._bits[number])
        return scores

    # --- the end

    def scored(self, speaker_rows=None) -> list:
        """[(score, place, row, evidence)], best first; `speaker_rows(piece, row)` tells which get a fifth more."""
        top = next(self.best.rows())[0] if self.best.slots else 1
        points = self.session_points()
        found = []
        for total, place, row, slot in self.best.rows():
            score = total * ONE // top + points.get(slot, 0)
            if speaker_rows and speaker_rows(self.piece(place), row):
                score += score // 5
            # What stands beside a turn adds to its T: by a quarter less it is like that of what stands alone.
            evidence = total * self._sum // 255
            found.append((-score, place, row, evidence if slot == _NO_SLOT else evidence * 3 // 4))
        found.sort()
        return [(-score, place, row, evidence) for score, place, row, evidence in found]

    def session_points(self) -> dict:
        """What a row's score has from its session, by slot."""
        prior = self._prior({slot for slot in self.best.slots if slot != _NO_SLOT})
        top = max(prior.values()) if prior else 0
        return {slot: prior[slot] * ONE // top // 2 for slot in prior} if top else {}

    def _prior(self, slots) -> dict:
        """S of some sessions, below 2^17."""
        if not slots:
            return {}
        sizes = self._sizes
        rows = sum(sizes) - sizes[_NO_SLOT]
        sessions = sum(1 for size in sizes if size) - (sizes[_NO_SLOT] > 0)
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
        while top >= _LARGEST:
            top >>= 1
            for slot in prior:
                prior[slot] >>= 1
        return prior


class _Look:
    """Looks at rows of a piece, from first to last, and gives those with a T that is high enough to `best`."""

    def __init__(self, best: Best, piece, place: int, table: list, blocks: list, bits, last: bytearray, far: bytearray):
        self._best = best
        self._piece = piece
        self._place = place
        self._table = table
        self._blocks = blocks
        self._bits = bits
        self._last = last
        self._far = far
        self.carried = max(max(last), max(far)) if piece.has_sessions else 0  # the highest B from older pieces
        self._taken = ()  # rows that were given before their turn
        self._share = _SHARE if piece.has_sessions else OWN
        self._reach = _REACH if piece.has_sessions else 0
        self.rewind()

    def need(self, least: int) -> None:
        """T has to exceed this from now on; a row and its neighbours need a B over `floor` for it."""
        self._least = least
        self.floor = least // self._share

    def rewind(self) -> None:
        """Begin again with the first row."""
        self._ends, self._slots = self._table[0]
        self._part = self._run = 0
        self._first, self._end = 0, self._ends[0]
        self._following = 0  # the next row that was not looked at

    def around(self, row: int) -> None:
        """Look at a row and, in a session, its neighbours."""
        near = row - self._reach
        if near < self._following:
            near = self._following
        self._following = row + self._reach + 1
        if self._following > self._piece.rows:
            self._following = self._piece.rows
        block = self._blocks[row >> _BLOCK_BITS]
        at = near - (row & -_BLOCK)
        spare = self._least - (_NEAR + _FAR) * min(self.carried, self.floor)  # at_firsts saw what more can come
        while near < self._following:
            # Cheaply, what T is at most: most rows go no further.
            if (
                not 2 <= at < _BLOCK - 2
                or 5 * block[at] + 2 * (block[at - 1] + block[at + 1]) + block[at - 2] + block[at + 2] > spare
            ):
                self._look(near)
            near += 1
            at += 1

    def at_firsts(self) -> None:
        """Look at the first two rows of sessions of which an older piece has a last row, or one before it, with a high B."""
        taken = set()
        first = 0
        for ends, slots in self._table:
            for run, slot in enumerate(slots):
                if self._last[slot] > self.floor or self._far[slot] > self.floor:
                    for row in range(first, min(first + 2, ends[run])):
                        if self._look(row):
                            taken.add(row)
                first = ends[run]
        self._taken = taken

    def _look(self, row: int) -> bool:
        while row >= self._end:
            self._run += 1
            if self._run == len(self._slots):
                self._part += 1
                self._ends, self._slots = self._table[self._part]
                self._run = 0
            self._first, self._end = self._end, self._ends[self._run]
        total = OWN * self._score(row)
        slot = self._slots[self._run]
        if slot != _NO_SLOT:
            inside = row - self._first
            total += _NEAR * (self._score(row - 1) if inside else self._last[slot])
            total += _FAR * (self._score(row - 2) if inside > 1 else self._last[slot] if inside else self._far[slot])
            if row + 1 < self._end:
                total += _NEAR * self._score(row + 1)
                if row + 2 < self._end:
                    total += _FAR * self._score(row + 2)
        if total <= self._least or row in self._taken or self._piece.dead[row >> 3] >> (row & 7) & 1:
            return False
        if self._bits and not self._bits[row >> 3] >> (row & 7) & 1:
            return False
        self._best.add(total, self._place, row, slot)
        if self._best.least > self._least:
            self.need(self._best.least)
        return True

    def _score(self, row: int) -> int:
        return self._blocks[row >> _BLOCK_BITS][row & _BLOCK - 1]


def _silence(dead: bytearray, blocks: list) -> None:
    """What went must not show by what stands beside it."""
    for at, bits in enumerate(dead):
        if bits:
            for row in range(8 * at, 8 * at + 8):
                if bits >> (row & 7) & 1:
                    blocks[row >> _BLOCK_BITS][row & _BLOCK - 1] = 0


def _level_table(idf: int, room: int, full: int) -> bytes:
    return bytes(max(1, idf * weight * room // full) if idf else 0 for weight in codec.LEVELS)


def _runs(piece) -> list:
    """The session's runs as (rows after the last, slots), in parts: in one they would not fit a heap in pieces."""
    parts = []
    left = piece.runs
    at = size = 0
    ends = slots = None
    for session, end in piece.each_run():
        if at == size:
            at, size = 0, min(left, _RUNS_AT_ONCE)
            left -= size
            ends, slots = array("H", bytes(2 * size)), array("H", bytes(2 * size))
            parts.append((ends, slots))
        ends[at] = end
        slots[at] = session % _SLOTS if session else _NO_SLOT
        at += 1
    return parts


def _group_tops(rows: int, blocks: list) -> bytearray:
    """The highest B of each group of rows."""
    tops = bytearray((rows + _GROUP - 1) >> _GROUP_BITS)
    at = 0
    for block in blocks:
        view = memoryview(block)
        for base in range(0, _BLOCK, _GROUP):
            if at == len(tops):
                return tops
            tops[at] = max(view[base : base + _GROUP])
            at += 1
    return tops


def _sure(piece, tops: bytearray) -> int:
    """A T that KEPT rows of the piece reach for certain."""
    wanted = KEPT + codec.count_bits(piece.dead)
    if len(tops) <= wanted:
        return 0
    having = bytearray(256)
    for top in tops:
        if having[top] < 255:
            having[top] += 1
    top = 255
    while top and wanted > having[top]:
        wanted -= having[top]
        top -= 1
    return max(0, OWN * top - 1)
