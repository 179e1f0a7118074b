"""A line that comes while a log is compacted, at any of its steps, stays."""

from board import ANN, Board

LINES = 6


def _add_at(step, board, part, add):
    """Compact a part of a board, and add a line after so many steps; whether there were so many."""
    done = -1
    for done, _ in enumerate(part.compacting()):
        if done == step:
            add(board)
    return done >= step


def _texts(store, field):
    return [line[field] for line in store.lines_backwards() if field in line]


def _try_each_step(fill, part_of, add, store_of, field):
    """How many steps there were: after each the line is there once, and all before it, also after a restart."""
    step = 0
    while True:
        board = Board()
        for number in range(LINES):
            fill(board, number)
        if not _add_at(step, board, part_of(board), add):
            return step
        for _ in range(2):
            texts = _texts(store_of(board), field)
            assert texts.count("what came meanwhile") == 1 and len(texts) == LINES + 1, (step, texts)
            board.restart()
        step += 1


def test_a_turn_that_comes_at_any_step_of_a_compaction_stays():
    steps = _try_each_step(
        lambda board, number: board.journal.add(ANN, "user", "ann", "number %d was said" % number),
        lambda board: board.journal,
        lambda board: board.journal.add(ANN, "user", "ann", "what came meanwhile"),
        lambda board: board.journal_store,
        "text",
    )
    assert steps > 3


def _spoil_before(path, part):
    """Put a byte before the line that has a part, as a gap in the file would."""
    with open(path, "rb") as file:
        raw = file.read()
    at = raw.rfind(b"\n", 0, raw.find(part)) + 1
    with open(path, "wb") as file:
        file.write(raw[:at] + b"\x00" + raw[at:])


def test_a_turn_that_cannot_be_read_where_it_stands_stays_with_its_text():
    board = Board()
    board.journal.add(ANN, "user", "ann", "before it")
    seq = board.journal.add(ANN, "user", "ann", "what was said")
    board.journal.add(ANN, "user", "ann", "after it")
    _spoil_before(board.folder + "/journal/journal.jsonl", b"what was said")
    board.compact()
    assert board.journal.turn(seq)["text"] == "what was said"
