"""The state of a delivery: each transition, cut by a lost link, a refusal or a power failure.

Nothing is lost, and nothing that may have arrived twice is sent a third time.
"""

from board import Board, Script
from channel import PowerFailure, message
from engram import diag, files
from engram.channels.deliveries import MAYBE_DELIVERED, QUEUED, Delivery, Outbox
from engram.channels.message import ChannelSink
from engram.memory.access import Caller
from support import folder

NET = Caller("ann", "net 1", False, "")
MARK = "(perhaps for the second time) "
ARRIVED, LOST, UNKNOWN, CUT = True, False, None, "cut"
"""What becomes of a sending: CUT is a power failure during it."""

FATES = (
    # (what becomes of each sending, whether each has the mark): after the last one it has arrived, or is given up
    ((ARRIVED,), (0,)),
    ((LOST, ARRIVED), (0, 0)),
    ((LOST, LOST, LOST, ARRIVED), (0, 0, 0, 0)),
    ((UNKNOWN, ARRIVED), (0, 1)),
    ((UNKNOWN, LOST, ARRIVED), (0, 1, 1)),
    ((LOST, UNKNOWN, LOST, LOST, ARRIVED), (0, 0, 1, 1, 1)),
    ((CUT, ARRIVED), (0, 1)),
    ((CUT, LOST, ARRIVED), (0, 1, 1)),
    ((LOST, CUT, ARRIVED), (0, 0, 1)),
    ((UNKNOWN, UNKNOWN), (0, 1)),
    ((UNKNOWN, CUT), (0, 1)),
    ((CUT, UNKNOWN), (0, 1)),
    ((CUT, CUT), (0, 1)),
    ((UNKNOWN, LOST, CUT), (0, 1, 1)),
)

diag.level = diag.ERROR + 1


class Sending(ChannelSink):
    """Sends an answer as a whole; `fates` are those of the next sendings, `sent` what was sent."""

    is_confirming = True

    def __init__(self, fates, sent):
        self._fates = fates
        self._sent = sent
        self._content = ""

    async def text(self, piece):
        self._content += piece

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
        board.inbox.deliveries.add_channel("net", open_sink)
        work = board.inbox.deliveries.redeliver("net")
    assert await work == 0 and not fates
    return sent


async def test_each_answer_arrives_or_is_given_up_after_two_sendings_that_may_have_arrived():
    for fates, marks in FATES:
        assert await _sent(fates) == [(MARK if mark else "") + "Hello." for mark in marks], fates


def test_an_answer_that_is_made_anew_after_a_part_of_it_arrived_may_have_arrived():
    delivery = Delivery(3, 2, QUEUED)
    delivery.restart()
    assert (delivery.arrived, delivery.state) == (0, MAYBE_DELIVERED)


async def test_each_change_is_on_flash():
    place, seen = folder(), []
    outbox = Outbox(place)
    delivery = outbox.add(7, "net 1")
    outbox.add(8, "net 1")

    def look():
        kept = Outbox(place).find(7)
        seen.append((kept.arrived, kept.state))

    class Looking(ChannelSink):
        async def end(self, outcome):
            look()
            delivery.advance()
            look()
            return False

    await delivery.attempt(Looking(), None)
    look()
    assert seen == [(0, MAYBE_DELIVERED), (1, MAYBE_DELIVERED), (1, QUEUED)]


def test_a_damaged_file_is_told_and_counts_as_empty():
    place = folder()
    outbox = Outbox(place)
    outbox.add(7, "net 1")
    outbox.add(8, "net 1")
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
