"""The state of a delivery: each transition, cut by a lost link, a refusal or a power failure.

Nothing is lost, and nothing that may have arrived twice is sent a third time.
"""

from board import Board, Script
from channel import message
from engram import diag, files
from engram.channels.message import ChannelSink
from engram.channels.outbox import FAILED, MAYBE_DELIVERED, QUEUED, SENT_AGAIN, Delivery, Outbox
from engram.memory.access import Caller
from support import folder

NET = Caller("ann", "net 1", False, "")
MARK = "(perhaps for the second time) "
ARRIVED, LOST, UNKNOWN, CUT = True, False, None, "cut"
"""What becomes of a sending: CUT is a power failure during it."""

FATES = (
    # (what becomes of each sending, whether each has the mark, whether the answer arrives)
    ((ARRIVED,), (0,), True),
    ((LOST, ARRIVED), (0, 0), True),
    ((LOST, LOST, LOST, ARRIVED), (0, 0, 0, 0), True),
    ((UNKNOWN, ARRIVED), (0, 1), True),
    ((UNKNOWN, LOST, ARRIVED), (0, 1, 1), True),
    ((LOST, UNKNOWN, LOST, LOST, ARRIVED), (0, 0, 1, 1, 1), True),
    ((CUT, ARRIVED), (0, 1), True),
    ((CUT, LOST, ARRIVED), (0, 1, 1), True),
    ((LOST, CUT, ARRIVED), (0, 0, 1), True),
    ((UNKNOWN, UNKNOWN), (0, 1), False),
    ((UNKNOWN, CUT), (0, 1), False),
    ((CUT, UNKNOWN), (0, 1), False),
    ((CUT, CUT), (0, 1), False),
    ((UNKNOWN, LOST, CUT), (0, 1, 1), False),
)

diag.level = diag.ERROR + 1


class PowerFailure(Exception):
    pass


class Sending(ChannelSink):
    """Sends an answer as a whole; `fates` are those of the next sendings, `sent` what was sent."""

    is_confirming = True

    def __init__(self, fates, sent):
        self._fates = fates
        self._sent = sent
        self._content = ""

    async def text(self, piece):
        self._content += piece

    def give_up(self, words):
        self._sent.append("given up: " + words)

    async def end(self, outcome):
        self._sent.append(self._content)
        fate = self._fates.pop(0)
        if fate == CUT:
            raise PowerFailure
        return fate


async def _sent(fates) -> list:
    """What is sent of one answer whose sendings have these fates, until nothing is left to do."""
    board, fates, sent = Board().serve(Script("Hello.")), list(fates), []

    def open_sink(_address):
        return Sending(fates, sent), NET.room

    work = board.inbox.handle(message("net:1:1", "hi", NET), Sending(fates, sent))
    for _ in range(len(fates) + 2):
        try:
            await work
        except PowerFailure:
            board.restart()
            board.serve(Script())
        board.inbox.add_channel("net", open_sink)
        work = board.inbox.redeliver("net")
    assert await work == 0 and not fates
    return sent


async def test_each_answer_arrives_or_is_given_up_after_two_sendings_that_may_have_arrived():
    for fates, marks, arrives in FATES:
        *sent, last = await _sent(fates) + [""]
        sent, given_up = (sent[:-1], sent[-1:]) if not arrives else (sent, [])
        assert sent == [(MARK if mark else "") + "Hello." for mark in marks], (fates, sent)
        assert all(words.startswith("given up: the answer to t3") for words in given_up) and not last
        assert len(given_up) == (not arrives), fates


def test_the_state_before_and_after_each_event():
    for state, event, after in (
        (QUEUED, "start", MAYBE_DELIVERED),
        (MAYBE_DELIVERED, "start", SENT_AGAIN),
        (SENT_AGAIN, "start", FAILED),
        (FAILED, "start", FAILED),
        (MAYBE_DELIVERED, LOST, QUEUED),
        (SENT_AGAIN, LOST, MAYBE_DELIVERED),
        (MAYBE_DELIVERED, UNKNOWN, MAYBE_DELIVERED),
        (SENT_AGAIN, UNKNOWN, FAILED),
        (SENT_AGAIN, "advance", MAYBE_DELIVERED),
        (QUEUED, "restart", QUEUED),
        (SENT_AGAIN, "restart", SENT_AGAIN),
    ):
        delivery = Delivery(3, 0, state)
        if isinstance(event, str):
            getattr(delivery, event)()
        else:
            delivery.settle(event)
        assert delivery.state == after, (state, event, delivery.state)


def test_an_answer_that_is_made_anew_after_a_part_of_it_arrived_may_have_arrived():
    delivery = Delivery(3, 2, QUEUED)
    delivery.restart()
    assert (delivery.arrived, delivery.state) == (0, MAYBE_DELIVERED)


def test_each_change_is_on_flash():
    place = folder()
    outbox = Outbox(place)
    delivery = outbox.add(7, "net 1")
    outbox.add(8, "net 1")
    for change, arrived, state in (
        (delivery.start, 0, MAYBE_DELIVERED),
        (delivery.advance, 1, MAYBE_DELIVERED),
        (lambda: delivery.settle(False), 1, QUEUED),
    ):
        change()
        kept = Outbox(place).find(7)
        assert (kept.arrived, kept.state) == (arrived, state)


def test_a_damaged_file_is_told_and_counts_as_empty():
    place = folder()
    outbox = Outbox(place)
    outbox.add(7, "net 1")
    outbox.add(8, "net 1").start()
    assert [each.seq for each in Outbox(place).deliveries] == [7, 8]
    data = files.read(place + "/outbox.bin", 200)
    for damaged in (data[:-1], b"x" + data[1:], data[1:], b"x", bytes(5)):
        files.write(place + "/outbox.bin", damaged)
        assert Outbox(place).deliveries == []


def test_an_answer_overtakes_no_earlier_one_of_its_room_that_waits():
    outbox = Outbox(folder())
    first, other, second = outbox.add(3, "net 1"), outbox.add(5, "net 2"), outbox.add(7, "net 1")
    assert outbox.is_behind(second) and not outbox.is_behind(other) and not outbox.is_behind(first)
    first.is_in_progress = True
    assert not outbox.is_behind(second)


def test_an_answer_of_which_nothing_is_kept_waits_for_no_other_one():
    place = folder()
    Outbox(place).add(3, "net 1")
    assert not Outbox(place).is_behind(Delivery())
