"""The daily log: which notes wait to be distilled, what is kept of that over restarts, edits and cuts, and when notes leave."""

from board import DAY, Board
from engram import files
from engram.compat import finish
from samples import Numbers


def _batch(board, principal="owner", chars=12000, tokens=4000):
    return board.note_retention.batch(principal, chars, tokens)


def _entries(board, **limits):
    batch = _batch(board, **limits)
    return [note for _, note in batch.entries] if batch else []


def _read(board, **limits):
    """Read a batch, as a distillation does that finds nothing in it."""
    batch = _batch(board, **limits)
    board.note_retention.note_read(batch)
    return [note for _, note in batch.entries]


def _mine(board):
    return board.notes.named("owner")


def test_headings_and_empty_lines_are_no_notes():
    board = Board()
    _mine(board).write(_mine(board).today(), "# Monday\n\n- one\n   \ntwo without a newline")
    assert _entries(board) == ["one", "two without a newline"]


def test_all_notes_come_once_and_in_order_whatever_the_batches_and_restarts():
    numbers = Numbers(5)
    board = Board()
    said, found = [], []
    for at in range(60):
        said.append("%d %s" % (at, "y" * numbers.below(60)))
        _mine(board).note(said[-1])
        if not numbers.below(4):
            board.now += DAY
        if not numbers.below(5):
            found += _read(board, chars=50 + numbers.below(300))
        if not numbers.below(9):
            board.restart()
    while board.note_retention.waiting():
        found += _read(board)
    assert [note[6:].strip() for note in found] == [content.strip() for content in said]


def test_a_cut_of_its_file_at_any_byte_costs_no_note():
    board = Board()
    _mine(board).note("one")
    _read(board)
    path = board.place + "/memory/daily.json"
    whole = files.read(path, 4096)
    assert whole
    for length in range(0, len(whole), 7):
        files.write(path, whole[:length])
        board.restart()
        assert _entries(board) in (["14:13 one"], [])


def test_marks_that_are_in_the_log_only_count_after_a_cut():
    board = Board()
    _mine(board).note("one")
    batch = _batch(board)
    draft = board.records.draft("one is a number", ["n"])
    board.records.keep((draft,), ([("op", "distilled"), ("marks", batch.marks)],))
    board.restart()
    assert board.note_retention.waiting() == {}


def test_the_time_since_the_last_one_survives_a_restart():
    board = Board()
    board.note_retention.note_over()
    board.now += 5000
    board.restart()
    assert board.note_retention.since() == 5000


def test_of_too_many_bytes_notes_that_were_distilled_leave_before_others():
    board = Board(notes_bytes=16384)
    for at in range(6):
        _mine(board).note("note %d" % at)
        board.now += DAY
        if at == 2:
            for _ in range(3):
                if board.note_retention.waiting():
                    _read(board)
    _mine(board).write(_mine(board).yesterday(), "- of yesterday")
    finish(board.note_retention.tidying())
    waiting = [note for _, note in _batch(board).entries]
    assert "14:13 note 3" in waiting and "14:13 note 4" in waiting
