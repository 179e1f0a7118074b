"""Copying the logs: whatever the way does to the messages, and the board to its logs, in the end the copy is the log."""

import os

from board import Board
from engram.compat import finish
from engram.errors import NetError
from engram.link import messages, replication
from engram.link.rpc import NoAnswer
from engram.memory.access import OWNER
from linked import SOON, Linked
from samples import Numbers
from support import raises, rounds


def _talk(board, count, start=0):
    for number in range(start, start + count):
        board.journal.add(OWNER, "user", "owner", "turn %d " % number + "x" * (number * 37 % 600))


async def test_after_a_restart_nothing_is_sent_that_is_there():
    board = Board()
    _talk(board, 30)
    linked = Linked(board)
    await linked.copy()
    board.open()
    linked.connect()
    linked.companion.counts.clear()
    await linked.copy()
    linked.check()
    assert linked.companion.counts == {"hello": 1}


async def test_while_a_compaction_is_under_way_no_line_is_read():
    board = Board()
    _talk(board, 80)
    linked = Linked(board)
    await linked.copy()
    board.journal.redact("t9", OWNER)
    work = board.journal.compacting()
    next(work)
    linked.companion.counts.clear()
    await linked.sync._greet()
    assert not await linked.sync._step()
    assert linked.companion.counts == {"hello": 1}
    for _ in work:
        pass
    await linked.copy()
    linked.check()


async def test_a_log_of_another_epoch_is_copied_again():
    board = Board()
    _talk(board, 10)
    linked = Linked(board)
    await linked.copy()
    old = board.journal.entries.epoch
    board.close()
    os.remove(board.place + "/journal/journal.jsonl")
    board.open()
    _talk(board, 3)
    linked.connect()
    await linked.copy()
    assert board.journal.entries.epoch != old
    linked.check()


async def test_a_copy_with_other_lines_is_found_by_the_crc_and_mended():
    board = Board()
    _talk(board, 40)
    linked = Linked(board)
    await linked.copy()
    copy = linked.companion.copy("journal")
    other = copy.lines[12]
    copy.lines[12] = copy.lines[13]
    copy.lines[copy.have] = other
    linked.companion.counts.clear()
    await linked.copy()
    linked.check()
    assert linked.companion.counts["check"] > 2 and linked.companion.counts["lines"] == 2


async def test_what_is_never_answered_ends_the_link():
    board = Board()
    linked = Linked(board)
    replication._ANSWER_MS = SOON
    linked.companion.answers = lambda data: []
    with raises(NetError) as caught:
        await linked.sync.run()
    assert "did not answer in time" in str(caught.error)
    assert not linked.exchange._questions


async def test_answers_to_another_board_of_the_name_are_passed_over():
    board = Board()
    linked = Linked(board)
    replication._ANSWER_MS = SOON
    held = {"records": [9, "", 0], "journal": [9, "", 0], "archived": 0, "asks": False, "told": ""}
    held.update({"notes": "", "senses": ""})
    theirs = messages.encode("welcome", "0123", linked.known.link, 1, **held)
    linked.companion.answers = lambda data: [theirs]
    with raises(NoAnswer):
        await linked.sync._greet()


async def test_lines_wait_while_a_message_is_answered():
    board = Board()
    linked = Linked(board)
    await linked.copy()
    _talk(board, 1)
    linked.is_busy = True
    assert not await linked.sync._step() and linked.companion.copy("journal").have < board.journal.newest
    linked.is_busy = False
    assert await linked.sync._step()
    linked.check()


class Life:
    """Does something to a board at each call, by chance."""

    def __init__(self, linked, numbers):
        self.linked = linked
        self.numbers = numbers
        self.count = 0
        self.left = 0

    def act(self):
        board, numbers = self.linked.board, self.numbers
        self.count += 1
        what = numbers.below(40)
        if what < 24:
            text = "turn %d " % self.count + "y" * numbers.below(500)
            board.journal.add(OWNER, "user", "owner", text)
        elif what < 30:
            board.records.store("the number %d is %d" % (self.count, numbers.below(1000)), ["a"])
        elif what < 34 and board.records.count():
            board.records.forget(next(board.records.newest())["id"])
        elif what < 36:
            board.journal.redact("t%d" % board.journal.newest, OWNER) if board.journal.turn(board.journal.newest) else 0
        elif what == 36:
            finish(board.journal.compacting())
        elif what == 37:
            finish(board.records.compacting())
        elif what == 38:
            board.journal_store.drop_oldest()

    def act_now_and_then(self):
        # Not without end: else the log would grow faster than it is copied.
        if self.left and self.numbers.below(6) == 0:
            self.left -= 1
            self.act()


async def _live(seed):
    numbers = Numbers(seed)
    linked = Linked(Board(), None, numbers)
    life = Life(linked, numbers)
    for _ in range(6):
        for _ in range(15):
            life.act()
        life.left = 12
        linked.way.each = life.act_now_and_then
        await linked.copy()
        if numbers.below(3) == 0:
            linked.board.open()
            linked.connect()
        if numbers.below(4) == 0:
            linked.companion.copies.clear()
    linked.way.numbers = linked.way.each = None
    linked.connect()
    await linked.copy()
    linked.check()


async def test_over_a_faulty_way_the_copy_becomes_the_log():
    for seed in rounds((1, 22, 333), (1,)):
        await _live(seed)


def test_what_is_known_of_the_link_fits_where_no_erase_is_needed():
    board = Board()
    linked = Linked(board)
    for raw in (raw for _, raw in linked.logs):
        assert raw.store.epoch < 1 << 30
    linked.known.acknowledged("records", 12345678)
    linked.known.acknowledged("journal", 12345678)
    linked.known.save()
    assert os.stat(board.place + "/memory/link.json")[6] <= 128


def test_a_link_has_a_higher_number_than_all_before_it():
    board = Board()
    linked = Linked(board)
    first = linked.known.link
    linked.connect()
    assert linked.known.link > first
    board.now += 1000
    linked.connect()
    assert linked.known.link >= first + 1000


def test_another_chip_is_another_board():
    from engram.link import link_state

    board = Board()
    was = Linked(board).known.board
    chip, link_state.chip = link_state.chip, lambda: "01234567"
    try:
        assert Linked(board).known.board != was
    finally:
        link_state.chip = chip
