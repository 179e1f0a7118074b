"""The keyword index of one log: sealed pieces in flash, and the newest lines in RAM.

    NAME.x1 NAME.x2 ...    pieces (piece.py)
    NAME.index             which pieces there are, in lines as in wire.py, replaced in one step:
        {"format":1,"epoch","tail":[segment, offset, seq],"next","drop":[numbers of files to remove],
         "pieces":[[number, first seq], ...],"marked":N,"pending":[entry, ...],"crc"}
        {"state":{...},"crc"}
        {"piece","dead":bits of dead rows in base64,"crc"}       for each of the N pieces that have some

`tail` is where the lines begin that are not in a piece; only those are read when the log is opened. `pending` and
`state` belong to the store and to the log's owner. All of this is a cache: what is damaged or missing is made anew from
the log, in slices (`tick`), while searches go on over what there is.

Pieces are merged when three new ones have come, along with older ones of at most four times the size of all that is merged
so far: five at most at once. So their number stays about logarithmic, and a row is written anew few times.
"""

import gc
import os
from binascii import a2b_base64, b2a_base64

from engram import files, log, wire
from engram.compat import const
from engram.store import codec
from engram.store.live import MOST_ROWS, Live
from engram.store.piece import ROW_BYTES, Damaged, Piece, decoded, in_order, unpack_row
from engram.store.sessions import Scratch, Sizes

CHUNK_BYTES = 16384
"""Bytes of the log from which the lines in RAM become a piece: bounds what is read when the log is opened."""

_FORMAT = const(1)
_LINE = const(512)
_ROWS_AT_ONCE = const(16)
_MOST_PIECES = const(5)  # that are merged at once: each takes about 4 bytes a session and a kilobyte
_FRESH_PIECES = const(3)  # made of lines in RAM, before they are merged with what is older
_SHARE = const(4)  # how many times as large as all that is merged so far an older one may be
_MOST_ROWS = const(6144)  # of a merged piece: a search takes a byte of heap for each
_MEAN = const(12 * 16)  # words of a row, times 16, before there are rows to tell


class Index:
    """The index beside the log at `base`; `read_lines` is given when lines have to be read again."""

    def __init__(self, base: str):
        self._base = base
        self._next = 1
        self._job = None
        self._tidy_below = 0  # pieces with a lower number and with dead rows are made anew
        self._left = None
        self._retired = []  # merged pieces whose files go once NAME.index does not name them any more
        self.pieces = []
        self.live = Live()
        self.live_bytes = 0
        self.scratch = Scratch()
        self.sizes = Sizes()
        self.has_lost = False  # a piece since this was set back: what it covered is a hole
        self.epoch = 0

    # --- opening and saving

    def open(self, epoch: int):
        """Open what NAME.index names; its fields as a dict, None if there is nothing to go on from."""
        self.epoch = epoch
        saved = self._read()
        if saved is None or saved.get("format") != _FORMAT or saved.get("epoch") != epoch:
            self.remove()
            return None
        self._next = saved["next"]
        for number in saved["drop"]:
            files.discard(self._path(number))
        for number, first in saved["pieces"]:
            gc.collect()  # so that what stays does not lie behind what goes
            try:
                piece = Piece(self._path(number), number)
                if piece.epoch != epoch or piece.first != first:
                    raise Damaged("another one's")
                if number in saved["dead"]:
                    dead = a2b_base64(saved["dead"][number])
                    if len(dead) != len(piece.dead):
                        raise Damaged("another piece's")
                    piece.dead = bytearray(dead)
                self.pieces.append(piece)
            except Damaged as error:
                self._tell(number, error)
        return saved

    def _read(self):
        """The fields of NAME.index, with the dead rows by piece in "dead"; None without a whole one."""
        try:
            with open(self._base + ".index", "rb") as file:
                lines = self._whole_lines(file)
                saved = next(lines, {})
                saved.update(next(lines, {}))
                saved["dead"] = {line["piece"]: line["dead"] for line in lines}
                if len(saved["dead"]) == saved.get("marked") and "state" in saved:
                    return saved
        except OSError as error:
            if error.errno == files.ENOENT:
                return None
        except (ValueError, KeyError):
            pass
        log.warning("index", self._base + ".index is damaged and is made anew")
        return None

    def _whole_lines(self, file):
        for _, line, ended in wire.long_lines(file, bytearray(_LINE)):
            if not wire.is_whole(line, ended):
                raise ValueError(self._base)
            yield wire.decode(line)  # pyright: ignore

    def save(self, tail, pending, state) -> None:
        """Write NAME.index."""
        files.write_parts(self._base + ".index", self._lines(tail, pending, state))
        for piece in self._retired:
            files.discard(piece.path)
        self._retired = []

    def _lines(self, tail, pending, state):
        drop = [piece.number for piece in self._retired] + ([self._job.number] if self._job else [])
        marked = [piece for piece in self.pieces if any(piece.dead)]
        fields = [("format", _FORMAT), ("epoch", self.epoch), ("tail", tail), ("next", self._next), ("drop", drop)]
        fields += [("pieces", [[piece.number, piece.first] for piece in self.pieces]), ("marked", len(marked)), ("pending", pending)]
        yield wire.encode(fields)
        yield wire.encode((("state", state or {}),))
        for piece in marked:
            yield wire.encode((("piece", piece.number), ("dead", b2a_base64(piece.dead).decode().strip())))

    def close(self) -> None:
        """Close the files and forget the lines in RAM."""
        self._stop_job()
        for piece in self.pieces:
            piece.close()
        self.pieces = []
        self._retired = []
        self.forget_live()

    def remove(self) -> None:
        """Take the index off the flash: it comes back from the log."""
        self.close()
        self._next = 1
        folder, _, name = self._base.rpartition("/")
        for file in os.listdir(folder or "/"):
            if file == name + ".index" or (file.startswith(name + ".x") and file[len(name) + 2 :].isdigit()):
                files.discard(folder + "/" + file)

    def _path(self, number: int) -> str:
        return self._base + ".x%d" % number

    # --- damage

    def guarded(self, piece, function, *arguments):
        """What a function of a piece gives; None, and the piece leaves the index, if the piece is damaged."""
        try:
            return function(*arguments)
        except (Damaged, OSError, ValueError, IndexError) as error:
            self._lose(piece, error)
            return None

    def _lose(self, piece, error) -> None:
        if piece in self.pieces:
            self.has_lost = True
            self._tell(piece.number, error)
            self._drop(piece)

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
        self.sizes.add(session)
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

    def is_dead(self, seq: int, session: int):
        """Whether a line's row is out of the answers; None if it has no row."""
        row = self.live.row_of(seq)
        if row >= 0:
            return codec.has_bit(self.live.dead, row)
        for piece in reversed(self.pieces):
            if piece.first <= seq <= piece.last:
                row = self.guarded(piece, piece.row_of, seq, session)
                if row is not None and row >= 0:
                    return codec.has_bit(piece.dead, row)
        return None

    # --- growing

    def seal(self, first: int, last: int) -> None:
        """Make a piece of the lines in RAM, which are all from seq `first` to `last`."""
        if len(self.live):
            self._insert(self.live, self.live_bytes, first, last)
            self.live.clear()
            self.live_bytes = 0

    def forget_live(self) -> None:
        """Let the lines in RAM go."""
        self.live.clear()
        self.live_bytes = 0
        self.sizes.forget()

    def leave(self, oldest: int) -> None:
        """Lines before a seq have left the log: take them out of the answers."""
        for piece in list(self.pieces):
            if piece.last < oldest:
                self._drop(piece)
            elif piece.first < oldest:
                self.guarded(piece, _mark_left, piece, oldest)

    def _drop(self, piece) -> None:
        """Take a piece out of the index, and its file off the flash."""
        self.pieces.remove(piece)
        piece.close()
        files.discard(piece.path)
        self._stop_job()
        self.sizes.forget()

    def insert(self, rows: Live, log_bytes: int, first: int, last: int) -> None:
        """Make a piece of some rows, all that there are from seq `first` to `last`, in its place among the pieces."""
        self._insert(rows, log_bytes, first, last)
        self.sizes.forget()

    def _insert(self, rows: Live, log_bytes: int, first: int, last: int) -> None:
        gc.collect()  # so that what stays does not lie behind what goes
        path = self._path(self._next)
        try:
            rows.write(path, self.mean(), self.epoch, log_bytes, first, last)
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

    def due(self, is_filling: bool = False) -> list:
        """The pieces that are to be merged now, old to new; [] if none are.

        While holes are filled, from new to old, only as many of about one size as can be merged at once are.
        """
        if is_filling:
            return self._alike()
        end = len(self.pieces)
        while end > 1:
            start, due = self._due_before(end)
            if due < end:
                return self.pieces[max(due, end - _MOST_PIECES) : end]
            end = start
        return []

    def _alike(self) -> list:
        for end in range(len(self.pieces), _MOST_PIECES - 1, -1):
            some = self.pieces[end - _MOST_PIECES : end]
            sizes = [piece.log_bytes for piece in some]
            is_whole = all(some[at].last + 1 == some[at + 1].first for at in range(_MOST_PIECES - 1))
            if is_whole and max(sizes) * 2 <= sum(sizes):
                return some
        return []

    def _due_before(self, end: int) -> tuple:
        """Of the pieces before `end` that follow each other in the log: where they start, and from where on to merge."""
        pieces = self.pieces
        start = end - 1
        while start and pieces[start - 1].last + 1 == pieces[start].first:
            start -= 1
        due = end
        while due > start and end - due < _MOST_PIECES and pieces[due - 1].log_bytes < 2 * CHUNK_BYTES:
            due -= 1
        if end - due < _FRESH_PIECES:
            return start, end
        size = sum(piece.log_bytes for piece in pieces[due:end])
        rows = sum(piece.rows for piece in pieces[due:end])
        while due > start and end - due < _MOST_PIECES:
            size, rows, before = size + pieces[due - 1].log_bytes, rows + pieces[due - 1].rows, size
            if pieces[due - 1].log_bytes > _SHARE * before or rows > _MOST_ROWS:
                break
            due -= 1
        return start, due

    def tick(self, is_filling: bool = False) -> bool:
        """Do a slice of merging; whether the index has to be saved.

        After a merge that can wait for the next piece: until then the pieces stay of which the merged one was made.
        """
        due = () if self._job else self._untidy() or self.due(is_filling)
        if not (self._job or due):
            return False
        try:
            if due:
                gc.collect()
                from engram.store.merge import Merge  # when a board only reads, its heap is for searches

                self._job = Merge(due, self._path(self._next), self._next, self._left if len(due) == 1 else None)
                self._next += 1
            if self._job.step():
                return False
            self._finish(self._job)
        except (Damaged, ValueError, IndexError):
            # Which one it is, and that it leaves, is found when it is read for a search or checked now.
            self._find_damage(self._job.pieces if self._job else due)
            self._stop_job()
            return False
        except OSError as error:
            self._stop_job()
            raise files.failure(error, self._base) from None
        is_tidy = len(self._job.pieces) == 1
        self._job = None
        return is_filling or is_tidy

    def tidy(self, left) -> None:
        """Make the pieces of now that have dead rows anew, in tick(), without what has left the log (see Merge)."""
        self._tidy_below = self._next
        self._left = left

    @property
    def is_tidying(self) -> bool:
        """Whether there are pieces to be made anew."""
        return bool(self._untidy())

    def _untidy(self) -> list:
        """A piece that is to be made anew, in a list; [] if none is."""
        for piece in self.pieces:
            if piece.number < self._tidy_below and any(piece.dead):
                return [piece]
        return []

    @property
    def is_busy(self) -> bool:
        """Whether there is merging to do."""
        return self._job is not None or bool(self._untidy() or self.due())

    def _finish(self, job) -> None:
        gc.collect()
        at = self.pieces.index(job.pieces[0])
        made = []
        if job.rows:
            made.append(Piece(job.path, job.number))
            job.take_over_dead(made[0])
        else:
            job.abandon()
        self.pieces[at : at + len(job.pieces)] = made
        if job.rows < sum(old.rows for old in job.pieces):
            self.sizes.forget()
        for old in job.pieces:
            old.close()
            self._retired.append(old)

    def _stop_job(self) -> None:
        if self._job is not None:
            self._job.abandon()
            self._job = None

    def _find_damage(self, pieces: list) -> None:
        """Let the pieces leave that a merge could not read; all of them if it does not show which."""
        if all([self.guarded(piece, _read_through, piece) for piece in pieces]):
            for piece in pieces:
                self._lose(piece, "it cannot be merged")

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
            for row in self.live.matches({hash: 0}):
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

    def locate(self, piece, row: int) -> tuple:
        """(seq, offset) of a row, (0, 0) if the piece is damaged."""
        if piece is None:
            return self.live.seqs[row], self.live.offsets[row]
        found = self.guarded(piece, piece.row, row)
        return (found[0], found[1]) if found else (0, 0)

    def has(self, hash: int) -> bool:
        """Whether a row has a label."""
        return bool(self.live.having(hash)) or any(self.guarded(piece, piece.find, hash) for piece in list(self.pieces))

    def thread(self, session: int):
        """Yield the seqs of a session's lines, newest first."""
        live = self.live
        for row in range(len(live) - 1, -1, -1):
            if live.sessions[row] == session:
                yield live.seqs[row]
        for piece in self.pieces[::-1]:
            run = self.guarded(piece, piece.run, session)
            for row in range(run[1] - 1, run[0] - 1, -1) if run else ():
                seq = self.locate(piece, row)[0]
                if seq:
                    yield seq

    def following(self, session: int, seq: int):
        """Yield the seqs of a session's lines after one, oldest first."""
        for piece in list(self.pieces):
            run = self.guarded(piece, piece.run, session) if piece.last > seq else None
            if run is None:
                continue
            low, high = run
            while low < high:
                middle = (low + high) >> 1
                if self.locate(piece, middle)[0] <= seq:
                    low = middle + 1
                else:
                    high = middle
            for row in range(low, run[1]):
                yield self.locate(piece, row)[0]
        live = self.live
        for row in range(len(live)):
            if live.sessions[row] == session and live.seqs[row] > seq:
                yield live.seqs[row]

    def names(self):
        """Yield the labels that people see, each once, in the order of their bytes."""
        yield from in_order([iter(sorted(self.live.names))] + [self._names_of(piece) for piece in self.pieces])

    def _names_of(self, piece):
        try:
            yield from piece.names()
        except (Damaged, OSError, ValueError, IndexError) as error:
            self._lose(piece, error)


def enough_for_piece(rows: Live, log_bytes: int) -> bool:
    """Whether rows have to become a piece."""
    return rows.is_full or log_bytes >= CHUNK_BYTES


def _seqs_having(piece, hash: int) -> list:
    found = piece.find(hash)
    return [piece.row(row)[0] for row, _ in decoded(piece, found, hash)] if found else []


def _read_through(piece) -> bool:
    """Whether buckets and rows can be read; Damaged if not."""
    for number in range(piece.buckets):
        piece.bucket(number)
    for row in range(piece.rows):
        piece.row(row)
    return True


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


def _mark_left(piece, oldest: int) -> None:
    for row in range(0, piece.rows, _ROWS_AT_ONCE):
        count = min(_ROWS_AT_ONCE, piece.rows - row)
        data = piece.row_bytes(row, count)
        for at in range(count):
            if unpack_row(data[at * ROW_BYTES : (at + 1) * ROW_BYTES])[0] < oldest:
                codec.set_bit(piece.dead, row + at)
