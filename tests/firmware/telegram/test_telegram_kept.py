"""What was said beside a reply that is kept until its chat may be written to again: in RAM, and bounded."""

from board import Board, Script
from engram import diag
from engram.channels.telegram.channel import Telegram
from engram.channels.telegram.reply import _Stream
from engram.channels.telegram.sender import Place

ANN = Place(7, 0, 5, False)
diag.level = diag.ERROR + 1


def _channel():
    board = Board().serve(Script())
    parts = board.config, board.clock, board.folder, board.inbox, board.find_people
    return Telegram(*parts, lambda wait_s: None, lambda: (), True)


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
