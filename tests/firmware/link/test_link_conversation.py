"""People talk to a board over the link: each message is answered once, whoever may not speak is refused, and what is lost on
the way is sent again.
"""

import asyncio

import linked_talk
from board import Board, Script
from channel import push
from engram import text
from engram.agent.agent import Sink
from engram.channels.message import BufferedSink
from engram.compat import sleep_ms, wait_for_ms
from engram.errors import ArgumentError, NetError, StoreError
from engram.link import conversation, inbound_messages
from engram.link.conversation import caller_of
from engram.link.rpc import NoAnswer
from engram.memory.access import OWNER, Caller
from linked import Met
from linked_talk import head_of
from samples import Numbers
from support import change, raises, wait_until

inbound_messages._LOOK_MS = inbound_messages._FIRST_PAUSE_MS = inbound_messages._SAVED_MS = 2
inbound_messages._SPARE_MS = 30
conversation._ROOM_MS = 50


def _newest(board):
    """The newest line of a board's journal."""
    return next(board.journal.entries.lines_backwards())


class Talking(linked_talk.Talking):
    """A board whose people say something."""

    async def talk(self, *said):
        """Let people say something, until all is answered."""
        for at, each in enumerate(said):
            self.companion.say(head_of(mid="m%d" % at, **each))
        task = asyncio.create_task(self.inbound.run())
        await wait_until("all is answered", lambda: not self.companion.waiting)
        self.exchange.close(NetError("the test is over"))
        await task
        await self.inbound.stop()
        return [self.companion.told("m%d" % at) for at in range(len(said))]


def _board(*steps, **settings):
    return Board().serve(Script(*steps), **settings)


async def test_a_message_is_answered_in_pieces_and_ends():
    board = _board("Hello, Ann.")
    (told,) = await Talking(board).talk({"text": "hi"})
    assert told == [["text", "Hello, Ann."], ["end", "t3"]]
    line = list(board.journal.entries.lines_backwards())[1]
    assert (line["mid"], line["text"], line["scope"]) == ("link:m0", "hi", "user:ann")


async def test_lines_of_an_imported_file_take_no_room_in_the_journal_and_are_stored_once():
    board = _board()
    line = {"text": '/import {"content":"Ann drinks tea"}', "command": True}
    told = await Talking(board).talk(line, line)
    assert list(board.journal.entries.lines_backwards()) == []
    assert '"counts":{"there already":1}' in dict(told[1])["report"]


async def test_pieces_of_any_length_come_whole_over_a_faulty_way():
    for seed in range(6):
        numbers = Numbers(seed)
        pieces = ["piece %d " % number + "é" * numbers.below(700) for number in range(12)]
        board = _board(pieces)
        (told,) = await Talking(board, Numbers(seed + 20)).talk({"text": "hi"})
        assert "".join([content for kind, content in told if kind == "text"]).strip() == "".join(pieces).strip()
        assert board.model.asked == 1


async def test_nobody_speaks_for_the_owner_without_being_allowed():
    board = _board("Hello.")
    linked = Talking(board, mode="others")
    (told,) = await linked.talk({"text": "hi", "principal": "owner"})
    assert [kind for kind, _ in told] == ["problem", "end"] and "/setting companion.chat owner" in told[0][1]
    assert board.model.asked == 0 and not list(board.journal.entries.lines_backwards())


async def test_what_the_model_was_shown_of_the_memory_is_reported_before_the_answer():
    board = _board("In the attic.")
    board.records.store("the blue tin is in the attic", ["tin"], Caller("ann", "link phone", False, ""))
    linked = Talking(board)
    (told,) = await linked.talk({"text": "where is the blue tin?"})
    assert [kind for kind, _ in told] == ["report", "text", "end"]
    report = text.loads(told[0][1])
    assert isinstance(report, dict)
    ((ref, sure),) = report["recalled"]
    assert ref == "m1" and 0 < sure <= 1000


def test_who_may_be_spoken_for():
    assert caller_of(head_of(), "others")[:3] == ("ann", "link phone", False)
    assert caller_of(head_of(group=True), "others").group
    assert caller_of(head_of(principal="owner"), "owner")[:2] == ("owner", "link phone")
    for head, mode in (
        (head_of(principal="owner"), "others"),
        (head_of(principal="owner"), "off"),
        (head_of(principal="Owner "), "owner"),
        (head_of(principal='a"b'), "owner"),
        (head_of(principal="x" * 40), "owner"),
        (head_of(room="x" * 70), "owner"),
        (head_of(workspace="a b"), "owner"),
    ):
        with raises(ArgumentError):
            caller_of(head, mode)


async def test_a_link_that_breaks_leaves_the_answer_in_the_journal_and_it_is_given_again():
    board = Board()
    linked = Talking(board.serve(Script()))

    def cut(_request):
        linked.exchange.close(NetError("it broke"))

    board.model.steps.append(["one ", cut, "two ", "three"])
    linked.companion.say(head_of(text="hi"))
    await linked.inbound.run()
    await wait_until("the answer is over", lambda: not linked.inbound.conversation)
    assert board.model.asked == 1 and linked.companion.waiting
    linked.connect()
    task = asyncio.create_task(linked.inbound.run())
    await wait_until("it is answered", lambda: not linked.companion.waiting)
    told = linked.companion.told("a")
    assert "".join([content for kind, content in told if kind == "text"]) == "one two three" and board.model.asked == 1
    linked.exchange.close(NetError("the test is over"))
    await task


async def test_an_answer_is_cancelled_and_what_came_of_it_is_kept():
    begun = asyncio.Event()

    async def endless(request, on_text, on_retry=None):
        await on_text("the beginning")
        begun.set()
        while True:
            await sleep_ms(1)

    board = _board()
    board.model.stream = endless
    linked = Talking(board)
    linked.companion.say(head_of(text="hi"))
    task = asyncio.create_task(linked.inbound.run())
    await begun.wait()
    linked.companion.cancelled.append("a")
    await wait_until("it is answered", lambda: not linked.companion.waiting)
    told = linked.companion.told("a")
    assert [kind for kind, _ in told] == ["text", "problem", "end"]
    assert _newest(board)["text"] == "the beginning"
    linked.exchange.close(NetError("the test is over"))
    await task
    await linked.inbound.stop()


async def test_a_message_that_finds_the_board_busy_with_as_many_as_it_takes_waits_for_its_turn():
    may_go_on = asyncio.Event()

    class Slow(Sink):
        async def text(self, piece):
            await may_go_on.wait()

    board = _board()
    others = [asyncio.create_task(board.agent.turn(OWNER, "hi", Slow())) for _ in range(4)]
    linked = Talking(board)
    linked.companion.say(head_of(text="hello"))
    task = asyncio.create_task(linked.inbound.run())
    await wait_until("the board asks while it waits", lambda: linked.companion.counts.get("listen", 0) > 2)
    conversation = linked.inbound.conversation
    assert (conversation.mid, conversation.turn, linked.companion.replies) == ("a", "", {})
    may_go_on.set()
    await wait_until("it is answered", lambda: not linked.companion.waiting)
    assert linked.companion.told("a") == [["text", "ok"], ["end", _turn_of(board, "link:a")]]
    for other in others:
        await other
    linked.exchange.close(NetError("the test is over"))
    await task


def _turn_of(board, mid):
    """The id of the turn that a message with an id has made."""
    for line in board.journal.entries.lines_backwards():
        if line.get("mid") == mid:
            return "t%d" % line["seq"]
    raise AssertionError(mid)


async def test_an_answer_does_not_wait_long_for_a_link_that_stands_still():
    change(conversation, wait_for_ms=lambda waiting, ms: wait_for_ms(waiting, ms // 100))
    board = _board(["x" * 800] * 8)
    linked = Talking(board)
    replies = []

    def _keep(head, body):
        replies.append(head)
        return []

    linked.companion._reply = _keep
    linked.companion.say(head_of(text="hi"))
    task = asyncio.create_task(linked.inbound.run())
    await wait_until("something was sent", lambda: replies)
    await wait_until("the whole answer is kept", lambda: _newest(board)["text"] == "x" * 6400)
    linked.exchange.close(NetError("the test is over"))
    await task
    await linked.inbound.stop()


async def test_what_the_board_says_by_itself_is_pushed_once():
    board = _board()
    linked = Talking(board)

    def open_sink(room):
        send, room = linked.inbound.find_send(room)
        return BufferedSink(send), room

    board.inbox.deliveries.add_channel("link", open_sink)
    linked.companion.at = (linked.exchange.link, 0)
    linked.companion.board = linked.exchange.board
    caller = caller_of(head_of(), "others")
    assert await push(board.inbox, caller, "it rains")
    assert linked.companion.pushes == {"push:%d:t3" % linked.sync.copies[1].epoch: ("phone", "it rains")}
    linked.way.is_cut = True
    assert not await push(board.inbox, caller, "it snows")
    linked.way.is_cut = False
    assert await board.inbox.deliveries.redeliver("link") == 0
    assert sorted(content for _, content in linked.companion.pushes.values()) == ["it rains", "it snows"]


async def test_a_reply_that_is_given_again_over_the_link_tells_its_age():
    board = _board("Hello.")
    linked = Talking(board)
    await linked.talk({"text": "hi"})
    board.now += 7200
    linked.connect()
    (told,) = await linked.talk({"text": "hi"})
    assert told == [["text", "(from 2 h ago) Hello."], ["end", "t3"]]


class Failing(Talking):
    """A board that fails to answer twice."""

    tries = 0

    async def answer(self, mid, caller, content, is_command, origin, sink):
        self.tries += 1
        if self.tries < 3:
            raise StoreError("the flash is away.") if self.tries == 1 else MemoryError
        await super().answer(mid, caller, content, is_command, origin, sink)


async def test_a_message_that_could_not_be_answered_is_offered_again():
    linked = Failing(_board("Hello."))
    (told,) = await linked.talk({"text": "hi"})
    assert told == [["text", "Hello."], ["end", "t3"]] and linked.tries == 3


class Broken:
    """A transport that connects, and then gives nothing to read."""

    is_closed = False

    async def open(self):
        pass

    async def send(self, head, body=None):
        await sleep_ms(0)

    async def run(self):
        raise MemoryError

    def close(self):
        self.is_closed = True


async def test_a_message_that_does_not_fit_the_heap_ends_the_link_and_not_the_task():
    own = Met(Board().serve(companion_url="http://127.0.0.1:9")).own
    own._transport = own._exchange.transport = transport = Broken()
    assert await own._connect() > 0 and transport.is_closed
    assert own._problem == "not enough memory for what the companion sent"


class Silent(Broken):
    """A transport to a companion that answers nothing."""

    async def open(self):
        raise NoAnswer("no answer came in time")


async def test_a_companion_that_does_not_answer_is_told_with_advice():
    own = Met(Board().serve(companion_url="http://127.0.0.1:9")).own
    own._transport = Silent()
    await own._connect()
    assert "is `engram serve` running" in next(own.status_lines())


async def test_what_the_companion_tells_the_owner_is_in_the_status():
    own = Met(Board().serve(companion_url="http://127.0.0.1:9")).own
    own._sync.message = "update the board."
    assert list(own.status_lines())[-1] == "it said: update the board."
