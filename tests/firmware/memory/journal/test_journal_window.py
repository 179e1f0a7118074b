"""A session's window moves a few turns at a time; and a user's turn can be written on a full flash too."""

import os

from board import Board
from engram.errors import StoreFull
from engram.memory.access import OWNER
from support import raises


def _say(board, content, role="user"):
    board.now += 1
    return board.journal.add(OWNER, role, "owner", content)


def _window(board, most):
    return board.journal.window(board.journal.current(OWNER), most)


def test_the_window_moves_only_every_few_turns():
    for most, moves in ((20, 10), (8, 26), (4, 28), (40, 2)):
        board = Board()
        starts = []
        for number in range(60):
            _say(board, f"turn {number}")
            start = _window(board, most)[0]
            if start not in starts:
                starts.append(start)
        assert len(starts) - 1 == moves, (most, len(starts) - 1)


# --- a full flash


def _filled(board):
    """Fill the littlefs under test but for what is already there; the filler's path."""
    path = board.place + "/filler"
    with open(path, "wb") as file:
        try:
            while True:
                file.write(b"x" * 1024)
                file.flush()
        except OSError:
            pass
    return path


def test_on_a_full_flash_the_oldest_segments_make_room_for_a_turn():
    board = Board(segment_bytes=6000)
    while board.journal.entries.bytes < 30000:
        _say(board, "x" * 500)
    if not board.place.startswith("/flash"):
        return  # the host's own disk is not filled
    filler = _filled(board)
    try:
        seqs = [_say(board, f"turn {number} " + "y" * 500) for number in range(20)]
        assert board.journal.dropped_segments > 0
        board.restart()
        assert [board.journal.turn(seq)["text"][:9] for seq in seqs[-3:]] == ["turn 17 y", "turn 18 y", "turn 19 y"]
    finally:
        os.remove(filler)


class _Full:
    """Stands before a store's append and refuses until `drops` segments have left."""

    def __init__(self, store, drops):
        self.append = store.append
        self.drop_oldest = store.drop_oldest
        self.drops = drops
        store.append = self.try_append
        store.drop_oldest = self.count

    def try_append(self, *lines, **more):
        if self.drops > 0:
            raise StoreFull("the flash is full")
        return self.append(*lines, **more)

    def count(self):
        self.drops -= 1
        return self.drop_oldest()


def test_with_no_segment_left_the_turn_is_refused_and_the_journal_stays_readable():
    board = Board(segment_bytes=1500)
    seqs = [_say(board, f"turn {number}") for number in range(40)]
    _Full(board.journal_store, 1000)
    with raises(StoreFull):
        _say(board, "the last")
    assert board.journal.turn(seqs[-1])["text"] == "turn 39"
    board.restart()
    assert board.journal.turn(seqs[-1])["text"] == "turn 39"


def test_a_segment_that_leaves_takes_only_its_own_turns():
    board = Board(segment_bytes=1500)
    seqs = [_say(board, f"turn {number}") for number in range(40)]
    _Full(board.journal_store, 1)
    seqs.append(_say(board, "turn 40"))
    kept = [seq for seq in seqs if board.journal.turn(seq)]
    assert 0 < len(kept) < 41 and kept == seqs[len(seqs) - len(kept) :]
    assert _window(board, 200) == kept
