"""What the channel keeps in RAM: bounded, and only for who is let in."""

import asyncio

from board import Board, Script
from engram import diag
from engram.channels.telegram import channel as channels
from engram.channels.telegram.channel import Telegram
from engram.channels.telegram.reply import _Stream
from engram.channels.telegram.sender import Place, room_of
from engram.channels.telegram.updates import Incoming
from engram.compat import sleep_ms
from engram.errors import StoreError
from engram.memory.access import Caller
from support import raises

ANN = Place(7, 0, 5, False, 0)
UPDATE = {
    "update_id": 11,
    "message": {
        "message_id": 5,
        "text": "hi",
        "chat": {"id": 7, "type": "private"},
        "from": {"id": 7, "first_name": "Ann"},
    },
}
diag.level = diag.ERROR + 1


async def _at_once(_ms):
    await sleep_ms(0)


channels.sleep_ms = _at_once  # its pauses are constants


def _channel():
    board = Board().serve(Script())
    parts = board.config, board.clock, board.folder, board.inbox, board.find_people
    return Telegram(*parts, lambda wait_s: None, lambda: (), True)


def _incoming(text):
    return Incoming(7, "private", 0, 5, 7, "Eve", text, text[0] == "/", True, None, "", "", "", False, "")


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


class Answers:
    """A bot's service that takes every message."""

    def __init__(self):
        self.texts = []

    def __call__(self, _wait_s):
        return self

    def tidy(self):
        pass

    async def send(self, method, **fields):
        if method == "sendMessage":
            self.texts.append(fields["text"])
        return 1


def _failing(times):
    """A channel whose people cannot be read some times; what it sends; how often they were asked for."""
    board, service, asked = Board().serve(Script("Hello.")), Answers(), []

    def find_people():
        asked.append(1)
        if len(asked) <= times:
            raise StoreError("people.json is damaged")
        return board.find_people()

    parts = board.config, board.clock, board.folder, board.inbox, find_people
    return Telegram(*parts, service, lambda: (), True), service, asked


async def _answered(times):
    channel, service, asked = _failing(times)
    channel.poller._open.append((1, ANN))
    await channel._answer(_incoming("hi"), ANN)
    assert channel.poller._open == [] and not channel._places
    return service.texts, len(asked)


async def test_a_message_whose_admission_fails_for_a_while_is_answered():
    texts, asked = await _answered(2)
    assert asked == 3 and len(texts) == 1 and "not answered" not in texts[0]


async def test_who_wrote_a_message_that_cannot_be_read_is_asked_to_say_it_again():
    texts, asked = await _answered(3)
    assert asked == 3 and texts == ["A message was not answered, or the answer may not have arrived: say it again."]


async def test_what_a_channel_was_answering_when_it_was_stopped_comes_again():
    channel, _, _ = _failing(0)
    begun, offered = asyncio.Event(), [UPDATE]

    async def hang(_message, _sink):
        begun.set()
        await asyncio.Event().wait()

    async def poll(count_busy, longest_s):
        if not offered:
            await asyncio.Event().wait()
        return [channel.poller._message(offered.pop())]

    channel._inbox.take = hang
    channel._find_people().approve("telegram:7", "ann")
    channel._register_commands = channel.poller.connect = _nothing
    channel.poller.poll = poll
    channel._is_owing = False
    task = asyncio.create_task(channel.run())
    await begun.wait()
    assert channel._busy() and channel.poller._next == 12
    task.cancel()
    with raises(asyncio.CancelledError):
        await task
    assert not channel._tasks and not channel._places and not channel._busy()
    assert channel.poller._next == 11 and channel.poller._message(UPDATE)


async def _nothing():
    pass


def test_what_was_said_is_kept_for_replies_alone_and_the_oldest_gives_way():
    channel = _channel()
    channel.note_undelivered("", ANN, None)
    for number in (9, 10, 11, 12, 8):
        channel.note_undelivered("t%d" % number, ANN, _said("remembered"))
    assert sorted(channel.said) == ["t10", "t11", "t12", "t8"]


async def test_what_was_said_is_dropped_once_nothing_waits():
    channel = _channel()
    channel.note_undelivered("t1", ANN, _said("remembered"))
    await channel._redeliver()
    assert channel.said == {}
