"""What the channel does with messages: who is answered, what is tried again, what comes again after a stop."""

import asyncio

from board import Board, Script
from engram import diag
from engram.channels.telegram import channel as channels
from engram.channels.telegram.bot_api import BotError
from engram.channels.telegram.channel import Telegram
from engram.channels.telegram.reply import AGAIN
from engram.channels.telegram.updates import Bot, Incoming
from engram.compat import sleep_ms
from engram.errors import StoreError
from engram.memory.access import Caller
from support import let_others_run, raises

AWAY = BotError(0, "no network")
UNKNOWN = BotError(502, "cut", is_unknown=True)
NO_ANSWER = "No answer of yours is being made here."
SORRY = "Your message was not answered, or the answer may not have arrived: say it again."
diag.level = diag.ERROR + 1


async def _at_once(_ms):
    await sleep_ms(0)


channels.sleep_ms = _at_once  # its pauses are constants


class Service:
    """A bot's service: it takes every message, or raises the next of `errors`; None stands for none."""

    def __init__(self, *errors):
        self.client = self
        self.errors = list(errors)
        self.texts = []
        self.on_send = lambda: None

    def __call__(self, _wait_s):
        return self

    def tidy(self):
        pass

    async def call(self, method, fields, is_repeatable=True):
        error = self.errors.pop(0) if self.errors and method == "sendMessage" else None
        if method == "sendMessage":
            self.texts.append(fields["text"])
            self.on_send()
            await sleep_ms(0)
        if error:
            raise error
        return {"id": 99, "username": "engram_bot"}


def _update(text="hi", number=11):
    message = {
        "message_id": 5,
        "text": text,
        "chat": {"id": 7, "type": "private"},
        "from": {"id": 7, "first_name": "Ann"},
    }
    return {"update_id": number, "message": message}


def _channel(*errors, board=None, find_people=None):
    board = board or Board().serve(Script("Hello."))
    service = Service(*errors)
    channel = Telegram(board.clock, board.inbox, find_people or board.find_people, service, lambda: ())
    if find_people is None:
        board.find_people().approve("telegram:7", "ann")
    channel.poller._next, channel.poller.problem = 1, ""
    return channel, service


def _cancel(number):
    return Incoming(_update("/cancel", number), Bot(99, "engram_bot"))


async def _answer(channel, text):
    said = Incoming(_update(text), Bot(99, "engram_bot"))
    channel.poller._open.append(11)
    await channel._answer(said)
    assert channel.poller._open == [] and not channel.answering


async def test_an_answer_of_which_nothing_is_on_flash_is_tried_until_it_arrives_twice_at_most_where_nobody_knows():
    for errors, texts in (
        ((), ["full mode"]),
        ((AWAY,) * 4, ["full mode"] * 5),
        ((UNKNOWN,), ["full mode", AGAIN + "full mode"]),
        ((UNKNOWN, AWAY), ["full mode", AGAIN + "full mode", AGAIN + "full mode"]),
        ((UNKNOWN, UNKNOWN), ["full mode", AGAIN + "full mode", SORRY]),
        ((BotError(403, "Forbidden: bot was blocked by the user"),), ["full mode"]),
    ):
        channel, service = _channel(*errors)
        await _answer(channel, "/mode")
        await let_others_run()
        assert service.texts == texts, (errors, service.texts)


async def test_a_command_is_told_later_where_its_chat_has_to_wait():
    channel, service = _channel(BotError(429, "Too Many Requests", retry_after=40))
    await _answer(channel, "/mode")
    await let_others_run()
    channel.sender._pauses.clear()
    await channel._redeliver()
    assert service.texts == ["full mode", SORRY]


async def test_an_answer_that_was_not_delivered_is_delivered_before_later_ones_of_its_chat():
    board = Board().serve(Script("One.", "Two."))
    channel, service = _channel(AWAY, board=board)
    await _answer(channel, "one")
    said = Incoming(_update("two", 12), Bot(99, "engram_bot"))
    said.mid = "telegram:7:6"
    await channel._answer(said)
    assert service.texts == ["One."] and channel._inbox.deliveries.has_undelivered("telegram")
    await channel._redeliver()
    assert service.texts == ["One.", "One.", "Two."] and not channel._inbox.deliveries.has_undelivered("telegram")


async def test_who_wrote_a_message_that_cannot_be_read_is_asked_to_say_it_again():
    def find_people():
        if asked.pop():
            raise StoreError("people.json is damaged")
        return board.find_people()

    board, asked = Board().serve(Script("Hello.")), [False, True]
    channel, service = _channel(board=board, find_people=find_people)
    await _answer(channel, "hi")
    assert service.texts == [SORRY]


async def test_what_a_channel_was_answering_when_it_was_stopped_comes_again():
    channel, _ = _channel()
    begun, offered = asyncio.Event(), [_update()]

    async def hang(message, sink):
        begun.set()
        await asyncio.Event().wait()

    async def poll(busy, longest_s):
        if not offered:
            await asyncio.Event().wait()
        return [channel.poller._message(offered.pop())]

    channel._inbox.handle = hang
    channel.poller.poll = poll
    task = asyncio.create_task(channel.run())
    await begun.wait()
    assert channel._tasks and channel.poller._next == 12
    task.cancel()
    with raises(asyncio.CancelledError):
        await task
    assert not channel._tasks and not channel.answering
    assert channel.poller._next == 11 and channel.poller._message(_update())


async def test_a_person_cancels_the_answer_that_is_being_made_and_gets_what_came_of_it():
    class Slow(Script):
        async def stream(self, request, on_text, on_retry=None):
            await on_text("Once")
            begun.set()
            await asyncio.Event().wait()
            raise AssertionError

    begun = asyncio.Event()
    board = Board().serve(Slow())
    channel, service = _channel(board=board)
    caller = Caller("ann", "telegram 7", False, "")
    await channel._answer(_cancel(10))
    said = Incoming(_update("tell me a story"), Bot(99, "engram_bot"))
    task = asyncio.create_task(channel._answer(said))
    await begun.wait()
    service.on_send = lambda: owed.append(channel._inbox.deliveries.has_undelivered("telegram"))
    owed = []
    await channel._answer(_cancel(12))
    await task
    assert service.texts == [NO_ANSWER, "Once", "(The answer was cancelled.)"]
    assert owed == [False, False] and not channel.answering
    lines = [board.journal.turn(seq) for seq in board.journal.window(board.journal.current(caller), 9)]
    assert [(line["text"], line.get("cut", False)) for line in lines] == [("tell me a story", False), ("Once", True)]


async def test_an_answer_that_is_being_sent_is_not_cancelled():
    channel, service = _channel()
    cancels = []
    service.on_send = lambda: None if cancels else cancels.append(asyncio.create_task(channel._answer(_cancel(12))))
    await channel._answer(Incoming(_update(), Bot(99, "engram_bot")))
    await cancels[0]
    assert service.texts == ["Hello.", NO_ANSWER] and not channel._inbox.deliveries.has_undelivered("telegram")
