"""Forgetting goes down to the bytes: after it nothing shows the text, after a compaction no file has it."""

from board import Board
from engram.compat import finish
from engram.memory import catalog
from engram.memory.access import OWNER
from engram.memory.records import fields
from engram.store.index import merge_policy

SECRET = "zanzibar"
TAG = "quagga"
KEYWORD = "xylophone"
FILLING = "The kettle in the kitchen was descaled again and the shopping list has bread, milk and number %d on it."


def _filled(board, count, start=0):
    for number in range(start, start + count):
        board.journal.add(OWNER, "user", "ann", FILLING % number)
        board.remember(FILLING % (1000 + number), ["home"])


def _told(board):
    """A record and the turn that it came from, updated once; (record's id, turn's id)."""
    turn = "t" + str(board.journal.add(OWNER, "user", "ann", "the password is " + SECRET))
    ref = board.records.store("the password was " + SECRET, ["note", TAG], turns=[turn], keywords=[KEYWORD]).id
    board.records.update(ref, {"content": "the password is " + SECRET})
    return ref, turn


def _busy(around=25):
    """A board with some segments and tables, where what is to be forgotten stands in the middle."""
    board = Board(segment_bytes=4000)
    _filled(board, around)
    ref, turn = _told(board)
    _filled(board, around, around)
    return board, ref, turn


def _finish(board):
    while board.records.entries.tick() or board.journal.entries.tick():
        pass


def _shown(board, word):
    """Where a word can still be met."""
    found = []
    if any(word in str(item.fields if hasattr(item, "fields") else item) for item in board.find(word, OWNER)):
        found.append("recall")
    if word in board.block("the password " + word, OWNER, 600):
        found.append("prompt")
    if any(word in str(record) for record in board.records.newest()):
        found.append("list")
    if any(word in str(list(fields.pairs(record))) for record in board.records.newest()):
        found.append("export")
    if word in str(catalog.ranked(board.records, OWNER)):
        found.append("catalog")
    turns = board.journal.window(board.journal.current(OWNER), 100)
    if any(word in str(board.journal.turn(seq)) for seq in turns):
        found.append("history")
    return found


def test_a_forgotten_text_is_shown_nowhere_from_then_on():
    board, ref, _ = _busy()
    board.forgetting.forget(ref, with_turns=True)
    for _ in range(2):
        assert [_shown(board, word) for word in (SECRET, TAG, KEYWORD)] == [[], [], []]
        board.restart()


def test_after_a_compaction_a_forgotten_text_stands_in_no_file():
    board, ref, _ = _busy()
    board.forgetting.forget(ref, with_turns=True)
    board.compact()
    _finish(board)
    assert not [word for word in (SECRET, TAG, KEYWORD) if board.holds(word)]


def test_a_compaction_that_is_cut_when_the_lines_are_gone_is_ended_after_the_restart():
    board, ref, _ = _busy()
    board.forgetting.forget(ref, with_turns=True)
    finish(board.journal.compacting())
    index = board.records_store.index
    step, merge_policy.step = merge_policy.step, lambda *_: False  # what is cut before it begins
    work = board.records.compacting()
    try:
        while not merge_policy.untidy(index):
            next(work)
        work.close()
        assert board.holds(TAG)
    finally:
        merge_policy.step = step
    board.restart()
    _finish(board)
    assert not board.holds(TAG)


def test_a_text_in_bytes_that_were_set_aside_leaves_the_files_at_the_next_compaction():
    board, ref, _ = _busy()
    path = board.place + "/journal/journal.bad"
    with open(path, "w") as file:
        file.write('{"seq":7,"text":"the password is ' + SECRET)
    board.forgetting.forget(ref, with_turns=True)
    board.compact()
    _finish(board)
    assert not board.holds(SECRET)
