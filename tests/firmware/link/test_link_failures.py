"""What fails between board and companion while the link lasts: it is tried again, later each time, and ends nothing else."""

import asyncio

import linked_talk
from board import Board, Script
from channel import push
from engram import diag
from engram.channels.message import buffered
from engram.compat import sleep_ms
from engram.errors import NetError, StoreError
from engram.link import conversation, inbound_messages
from engram.link.companion import Companion
from engram.link.conversation import caller_of
from engram.link.messages import encode
from engram.net import backoff
from linked import Linked
from linked_talk import HEAD, head_of
from support import wait_until


class Longest:
    """A chance that shortens no pause."""

    def getrandbits(self, count):
        return (1 << count) - 1


inbound_messages._LOOK_MS = inbound_messages._SAVED_MS = 2
inbound_messages._SPARE_MS = 60_000
conversation._ROOM_MS = 50
backoff.random = Longest()
diag.level = diag.ERROR + 1

begun = []
"""Milliseconds between two redeliveries, each time that they begin."""

pauses = []
"""Milliseconds of each pause of the task that listens, which takes none of them."""


async def _sleep(milliseconds):
    pauses.append(milliseconds)
    await sleep_ms(0)


inbound_messages.sleep_ms = _sleep


class Redelivery:
    """In place of the time between two redeliveries: it is over when a test says so."""

    is_over = True

    def begin(self, milliseconds):
        begun.append(milliseconds)
        Redelivery.is_over = False


inbound_messages.Timeout = Redelivery


class Talking(linked_talk.Talking):
    """A board that listens to its companion; each of `failures` is raised in place of an answer, None stands for none."""

    def __init__(self, board, *failures):
        self.failures = list(failures)
        self.redeliveries = []  # what is raised by each, None for nothing
        self.redelivered = 0
        self.task = None
        Redelivery.is_over = True
        begun.clear()
        pauses.clear()
        super().__init__(board)

    def connect(self):
        super().connect()
        self.companion.board, self.companion.at = self.exchange.board, (self.exchange.link, 0)
        self.board.inbox.deliveries.add_channel("link", buffered(self.inbound.find_send))

    async def answer(self, mid, caller, content, is_command, origin, sink):
        failure = self.failures.pop(0) if self.failures else None
        if failure:
            raise failure
        await super().answer(mid, caller, content, is_command, origin, sink)

    async def redeliver(self):
        self.redelivered += 1
        failure = self.redeliveries.pop(0) if self.redeliveries else None
        if failure:
            raise failure
        await self.board.inbox.deliveries.redeliver("link")

    def say(self, mid):
        self.companion.say(head_of(mid=mid, text="hi"))

    async def hear(self, *mids):
        """Let people say something, and wait until all of it is answered."""
        for mid in mids:
            self.say(mid)
        self.task = self.task or asyncio.create_task(self.inbound.run())
        await wait_until("all is answered", lambda: not self.companion.waiting)

    async def end(self):
        self.exchange.close(NetError("the test is over"))
        assert self.task
        await self.task
        await self.inbound.stop()


def _board(*steps):
    return Board().serve(Script(*steps))


def _long():
    """The pauses after failures."""
    return [pause for pause in pauses if pause >= 1000]


# --- messages that fail


async def test_after_a_message_that_was_answered_the_pause_is_short_again():
    failure = StoreError("the flash is away.")
    linked = Talking(_board("Hello.", "Hello."), failure, MemoryError(), failure, None, failure)
    await linked.hear("a", "b")
    assert _long() == [1000, 2000, 4000, 1000]
    await linked.end()


# --- what the board says by itself


async def test_a_push_that_was_refused_is_sent_again_a_minute_later_while_the_link_lasts():
    board = _board()
    linked = Talking(board)
    take = linked.companion._push

    def refuse(head, body):
        return [encode("refused", head["board"], head["link"], head["n"], why="the database is away", again=0)]

    linked.companion._push = refuse
    assert not await push(board.inbox, caller_of(HEAD, "others"), "it rains")
    await linked.hear("a")
    assert begun == [60000] and linked.redelivered == 1 and not linked.companion.pushes
    linked.companion._push = take
    board.now += 180
    Redelivery.is_over = True
    await wait_until("it is sent", lambda: linked.companion.pushes)
    assert list(linked.companion.pushes.values()) == [("phone", "(from 3 min ago) it rains")]
    await linked.end()


async def test_a_reply_that_is_given_again_over_the_link_tells_its_age_in_a_notice():
    board = _board("Hello.")
    linked = Talking(board)
    await linked.hear("a")
    board.now += 7200
    linked.companion.replies.clear()
    await linked.hear("a")
    assert linked.companion.told("a") == [["text", "Hello."], ["notice", "the answer is from 2 h ago."], ["end", "t3"]]
    await linked.end()


# --- errors that are none of the link's


class Broken:
    """A transport that connects, and then gives nothing to read."""

    def __init__(self, error):
        self.error = error
        self.is_closed = False

    async def open(self):
        pass

    async def send(self, head, body=None):
        await sleep_ms(0)

    listen = send

    async def run(self):
        raise self.error

    def close(self):
        self.is_closed = True


def _companion(board, transport):
    linked = Linked(board)
    own = Companion(board.config, board.clock, linked.logs, linked.known, **linked.parts())
    own._transport = own._exchange.transport = transport
    return own


async def test_a_message_that_does_not_fit_the_heap_ends_the_link_and_not_the_task():
    transport = Broken(MemoryError())
    own = _companion(Board().serve(companion_url="http://127.0.0.1:9"), transport)
    assert await own._connect() > 0 and transport.is_closed
    assert own._problem == "not enough memory for what the companion sent"
