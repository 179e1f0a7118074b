"""What the channel keeps in RAM: bounded, and only for who is let in."""

from board import Board, Script
from engram import diag
from engram.channels.telegram.channel import Telegram
from engram.channels.telegram.reply import _Stream
from engram.channels.telegram.sender import Place, room_of
from engram.channels.telegram.updates import Incoming
from engram.memory.access import Caller

ANN = Place(7, 0, 5, False)
diag.level = diag.ERROR + 1


def _channel():
    board = Board().serve(Script())
    parts = board.config, board.clock, board.folder, board.inbox, board.find_people
    return Telegram(*parts, lambda wait_s: None, lambda: (), True)


def _incoming(text):
    return Incoming(7, "private", 0, 5, 7, "Eve", text, text[0] == "/", True, None, "")


def _said(line):
    before, after = _Stream(False), _Stream(False)
    after.feed(line)
    return before, after


def test_it_is_kept_for_a_few_replies():
    channel = _channel()
    for number in range(12):
        channel.note_undelivered("t%d" % number, ANN, _said("remembered (m%d)" % number))
    assert len(channel.said) == 4 and channel.said["t11"][1].rest() == "remembered (m11)"


def test_more_than_a_message_of_it_is_not_kept():
    channel = _channel()
    channel.note_undelivered("t1", ANN, _said("x" * 5000))
    assert channel.said == {}


async def test_nothing_is_said_to_who_was_blocked_while_a_command_was_tried():
    channel = _channel()
    people = channel._find_people()
    people.approve("telegram:7", "eve")
    people.block("eve")
    channel.poller._open.append((1, ANN))
    await channel._give_up(_incoming("/stats"), ANN, Caller("eve", room_of(ANN), False, ""))
    assert channel.poller._open == []
    assert list(channel._inbox.deliveries()._journal.entries.lines_backwards()) == []
