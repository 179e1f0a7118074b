"""The keyword index of one log: sealed pieces in flash, and the newest lines in RAM.

    NAME.x1 NAME.x2 ...    pieces (piece.py)
    NAME.index             which pieces there are, a line as in wire.py, replaced in one step:
        {"format":1,"epoch","tail":[segment, offset, seq],"next","drop":[numbers of files to remove],
         "pieces":[[number, dead rows in hex or ""], ...],"pending":[[entry, state], ...],"state":{...},"crc"}

`tail` is where the lines begin that are not in a piece; only those are read when the log is opened. `pending` and
`state` belong to the store and to the log's owner. All of this is a cache: what is damaged or missing is made anew from
the log, in slices (`tick`), while searches go on over what there is.

Pieces are merged as a binary counter counts: a piece that covers no more of the log than all later ones together is merged
with them. So there are at most log2 as many as were ever written, and a row is written anew half as often.
"""

import gc
from binascii import hexlify, unhexlify

from engram import files, log, wire
from engram.compat import const
from engram.errors import StoreError
from engram.store import codec
from engram.store.live import MOST_ROWS, Live
from engram.store.merge import MOST_PIECES, Merge, decoded
from engram.store.piece import ROW_BYTES, Damaged, Piece, unpack_row
from engram.store.search import Scratch

CHUNK_BYTES = 16384
"""Bytes of the log from which the lines in RAM become a piece: bounds what is read when the log is opened."""

_FORMAT = const(1)
_LARGEST = const(16384)  # bytes of NAME.index
_ROWS_AT_ONCE = const(16)
_MEAN = const(12 * 16)  # words of a row, times 16, before there are rows to tell


class Index:
    """The index beside the log at `base`; `read_lines` is given when lines have to be read again."""

    def __init__(self, base: str):
        self._base = base
        self._next = 1
        self._job = None
        self._retired = []  # merged pieces whose files go once NAME.index does not name them any more
        self.pieces = []
        self.live = Live()
        self.live_bytes = 0
        self.scratch = Scratch()
        self.epoch = 0

    # --- opening and saving

    def open(self, epoch: int):
        """Open what NAME.index names; its fields as a dict, None if there is nothing to go on from."""
        self.epoch = epoch
        saved = self._read()
        if saved is None or saved.get("format") != _FORMAT or saved.get("epoch") != epoch:
            return None
        self._next = saved["next"]
        for number in saved["drop"]:
            files.discard(self._path(number))
        for number, dead in saved["pieces"]:
            gc.collect()  # so that what stays does not lie behind what goes
            try:
                piece = Piece(self._path(number), number)
                if piece.epoch != epoch:
                    raise Damaged("another log's")
                if dead:
                    piece.dead = bytearray(unhexlify(dead))
                self.pieces.append(piece)
            except Damaged as error:
                self._tell(number, error)
        return saved

    def _read(self):
        try:
            data = files.read(self._base + ".index", _LARGEST)
            return wire.decode(data) if data else None
        except (StoreError, ValueError):
            log.warning("index", self._base + ".index is damaged and is made anew")
            return None

    def save(self, tail, pending, state) -> None:
        """Write NAME.index."""
        pieces = [[piece.number, hexlify(piece.dead).decode() if any(piece.dead) else ""] for piece in self.pieces]
        drop = [piece.number for piece in self._retired] + ([self._job.number] if self._job else [])
        fields = [("format", _FORMAT), ("epoch", self.epoch), ("tail", tail), ("next", self._next), ("drop", drop)]
        fields += [("pieces", pieces), ("pending", pending), ("state", state)]
        files.write(self._base + ".index", wire.encode(fields))
        for piece in self._retired:
            piece.close()
            files.discard(piece.path)
        self._retired = []

    def close(self) -> None:
        """Close the files and forget the lines in RAM."""
        self._stop_job()
        for piece in self.pieces:
            piece.close()
        self.pieces = []
        self._retired = []
        self.live.clear()
        self.live_bytes = 0

    def remove(self) -> None:
        """Take the index off the flash: it comes back from the log."""
        for piece in self.pieces:
            piece.close()
            files.discard(piece.path)
        files.discard(self._base + ".index")
        self.pieces = []

    def _path(self, number: int) -> str:
        return self._base + ".x%d" % number

    # --- damage

    def guarded(self, piece, function, *arguments):
        """What a function of a piece gives; None, and the piece leaves the index, if the piece is damaged."""
        try:
            return function(*arguments)
        except (Damaged, OSError, ValueError, IndexError) as error:
            if piece in self.pieces:
                self._tell(piece.number, error)
                self.pieces.remove(piece)
                piece.close()
                files.discard(piece.path)
                self._stop_job()
            return None

    def _tell(self, number: int, error) -> None:
        log.warning("index", "%s.x%d is damaged (%s) and is made anew" % (self._base, number, error))

    # --- what is in it

    @property
    def rows(self) -> int:
        """The number of rows that are live."""
        live = len(self.live) - codec.count_bits(self.live.dead)
        return live + sum(piece.live for piece in self.pieces)

    def mean(self) -> int:
        """16 times the mean number of words of a row."""
        rows = len(self.live) + sum(piece.rows for piece in self.pieces)
        words = self.live.words + sum(piece.words for piece in self.pieces)
        return max(1, words * 16 // rows) if rows > 20 else _MEAN

    def covered(self):
        """Yield (first seq, last seq) of each piece, in order."""
        for piece in self.pieces:
            yield piece.first, piece.last

    def add(self, seq: int, offset: int, size: int, minutes: int, session: int, terms, labels) -> None:
        """Take in the next line."""
        self.live.add(seq, offset, minutes, session, terms, labels)
        self.live_bytes += size

    @property
    def is_full(self) -> bool:
        """Whether the lines in RAM have to become a piece."""
        return enough_for_piece(self.live, self.live_bytes)

    def end_session(self, session: int) -> None:
        """Take all rows of a session out of the answers."""
        for row in range(len(self.live)):
            if self.live.sessions[row] == session:
                codec.set_bit(self.live.dead, row)
        for piece in list(self.pieces):
            run = self.guarded(piece, piece.run, session)
            for row in range(run[0], run[1]) if run else ():
                codec.set_bit(piece.dead, row)

    def set_dead(self, seq: int, session: int, dead: bool) -> bool:
        """Take a line's row out of the answers, or back in; whether it has a row."""
        row = self.live.row_of(seq)
        if row >= 0:
            _set(self.live.dead, row, dead)
            return True
        for piece in reversed(self.pieces):
            if piece.first <= seq <= piece.last:
                row = self.guarded(piece, piece.row_of, seq, session)
                if row is not None and row >= 0:
                    _set(piece.dead, row, dead)
                    return True
        return False

    def offset_of(self, seq: int) -> int:
        """Where a line should begin, as far as that is known without its session; -1 if it is not."""
        row = self.live.row_of(seq)
        if row >= 0:
            return self.live.offsets[row]
        for piece in reversed(self.pieces):
            if piece.first <= seq <= piece.last:
                row = -1 if piece.has_sessions else self.guarded(piece, piece.row_of, seq, 0)
                return self.locate(piece, row)[1] if row is not None and row >= 0 else -1
        return -1

    def is_dead(self, seq: int, session: int) -> bool:
        """Whether a line's row is out of the answers; a line without a row is not in them either."""
        row = self.live.row_of(seq)
        if row >= 0:
            return codec.has_bit(self.live.dead, row)
        for piece in reversed(self.pieces):
            if piece.first <= seq <= piece.last:
                row = self.guarded(piece, piece.row_of, seq, session)
                if row is not None and row >= 0:
                    return codec.has_bit(piece.dead, row)
        return True

    # --- growing

    def seal(self) -> None:
        """Make a piece of the lines in RAM."""
        if len(self.live):
            self.insert(self.live, self.live_bytes)
            self.live.clear()
            self.live_bytes = 0

    def insert(self, rows: Live, log_bytes: int) -> None:
        """Make a piece of some rows, in its place among the pieces."""
        gc.collect()  # so that what stays does not lie behind what goes
        path = self._path(self._next)
        try:
            rows.write(path, self.mean(), self.epoch, log_bytes)
            piece = Piece(path, self._next)
        except OSError as error:
            raise files.failure(error, path) from None
        self._next += 1
        for row in range(len(rows)):
            if codec.has_bit(rows.dead, row):
                codec.set_bit(piece.dead, piece.row_of(rows.seqs[row], rows.sessions[row]))
        at = len(self.pieces)
        while at and self.pieces[at - 1].first > piece.first:
            at -= 1
        self.pieces.insert(at, piece)

    def due(self) -> list:
        """The pieces that are to be merged now, old to new; [] if none are."""
        end = len(self.pieces)
        while end > 1:
            start, due = self._due_before(end)
            if due < end:
                return self.pieces[max(due, end - MOST_PIECES) : end]
            end = start
        return []

    def _due_before(self, end: int) -> tuple:
        """Of the pieces before `end` that follow each other in the log: where they start, and from where on to merge."""
        later = self.pieces[end - 1].log_bytes
        start = due = end
        start -= 1
        while start > 0 and self.pieces[start - 1].last + 1 == self.pieces[start].first:
            start -= 1
            size = self.pieces[start].log_bytes
            if size <= later * 5 // 4:
                due = start
            later += size
        return start, due

    def tick(self) -> bool:
        """Do a slice of merging; whether a merge was finished, so that the index has to be saved."""
        if self._job is None:
            due = self.due()
            if not due:
                return False
            gc.collect()
            self._job = Merge(due, self._path(self._next), self._next)
            self._next += 1
        try:
            if self._job.step():
                return False
            self._finish(self._job)
        except Damaged:
            # Which one it is, and that it leaves, is found when it is read for a search or checked now.
            self._find_damage()
            self._stop_job()
            return False
        except OSError as error:
            self._stop_job()
            log.warning("index", "a merge was put off: " + str(files.failure(error, self._base)))
            return False
        self._job = None
        return True

    @property
    def is_busy(self) -> bool:
        """Whether there is merging to do."""
        return self._job is not None or bool(self.due())

    def _finish(self, job) -> None:
        gc.collect()
        piece = Piece(job.path, job.number)
        job.take_over_dead(piece)
        at = self.pieces.index(job.pieces[0])
        self.pieces[at : at + len(job.pieces)] = [piece]
        self._retired += job.pieces

    def _stop_job(self) -> None:
        if self._job is not None:
            self._job.abandon()
            self._job = None

    def _find_damage(self) -> None:
        for piece in list(self.pieces):
            for number in range(piece.buckets):
                if self.guarded(piece, piece.bucket, number) is None:
                    break

    # --- searching

    def having(self, hash: int) -> list:
        """The seqs of all rows that have a label, dead ones too, ascending."""
        found = []
        for piece in list(self.pieces):
            found += self.guarded(piece, _seqs_having, piece, hash) or []
        found += self.live.having(hash)
        found.sort()
        return found

    def bits(self, piece, hash: int) -> bytearray:
        """A bit for each row of a piece (or, for None, of the lines in RAM) that has a label."""
        rows = bytearray((MOST_ROWS if piece is None else piece.rows + 7) >> 3)
        if piece is None:
            for _, row in self.live.matches({hash: 0}):
                codec.set_bit(rows, row)
        else:
            self.guarded(piece, _mark, piece, hash, rows)
        return rows

    def times(self, piece, first: int, end: int) -> bytearray:
        """A bit for each row whose minute is from `first` on and before `end`."""
        rows = bytearray((MOST_ROWS if piece is None else piece.rows + 7) >> 3)
        if piece is None:
            for row in range(len(self.live)):
                if first <= self.live.minutes[row] < end:
                    codec.set_bit(rows, row)
        else:
            self.guarded(piece, _mark_times, piece, first, end, rows)
        return rows

    def place(self, number: int):
        """The piece that a search named by its place, None for the lines in RAM."""
        return self.pieces[number] if number < len(self.pieces) else None

    def locate(self, piece, row: int) -> tuple:
        """(seq, offset) of a row, (0, 0) if the piece is damaged."""
        if piece is None:
            return self.live.seqs[row], self.live.offsets[row]
        found = self.guarded(piece, piece.row, row)
        return (found[0], found[1]) if found else (0, 0)

    def names(self) -> set:
        """The labels that people see."""
        found = set(self.live.names)
        for piece in list(self.pieces):
            found.update(self.guarded(piece, list, piece.names()) or ())
        return found


def enough_for_piece(rows: Live, log_bytes: int) -> bool:
    """Whether rows have to become a piece."""
    return rows.is_full or log_bytes >= CHUNK_BYTES


def _seqs_having(piece, hash: int) -> list:
    found = piece.find(hash)
    return [piece.row(row)[0] for row, _ in decoded(piece, found, hash)] if found else []


def _mark(piece, hash: int, bits: bytearray) -> None:
    found = piece.find(hash)
    if found:
        for row, _ in decoded(piece, found, hash):
            codec.set_bit(bits, row)


def _mark_times(piece, first: int, end: int, bits: bytearray) -> None:
    for row in range(0, piece.rows, _ROWS_AT_ONCE):
        count = min(_ROWS_AT_ONCE, piece.rows - row)
        data = piece.row_bytes(row, count)
        for at in range(count):
            if first <= unpack_row(data[at * ROW_BYTES : (at + 1) * ROW_BYTES])[2] < end:
                codec.set_bit(bits, row + at)


def _set(bits: bytearray, row: int, on: bool) -> None:
    if on:
        codec.set_bit(bits, row)
    else:
        bits[row >> 3] &= ~(1 << (row & 7))
