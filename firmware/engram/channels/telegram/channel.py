"""The Telegram channel: admits and answers messages, over one link for the long poll and one for answers."""

import asyncio

from engram import diag, tables
from engram.channels.deliveries import FAILED
from engram.channels.message import Message
from engram.channels.telegram.bot_api import NAME, BotError, destination_of, room_of
from engram.channels.telegram.poller import LONG_POLL_S, Poller
from engram.channels.telegram.reply import Reply
from engram.channels.telegram.sender import Sender
from engram.clock import Timeout
from engram.compat import sleep_ms
from engram.errors import EngramError
from engram.interrupt import start_task

_LOOK_MS = const(50)
_RETRY_S = const(10)  # before an answer that was not delivered is tried again
_TRIED_MS = const(600_000)  # time for retries of an answer that is not on flash
_FAILED, _CANCELLED, _NONE, _GREETING = tables.rows("channels/telegram/channel")
_LOGGED = const(8)  # closed groups that the log names


class Telegram:
    """One bot; make_api(wait_s) gives a BotApi, find_people() the People."""

    def __init__(self, clock, inbox, find_people, make_api, commands):
        self._clock = clock
        self._inbox = inbox
        self._find_people = find_people
        self._commands = commands
        self._api = make_api(0)
        self.sender = Sender(self._api, self._move_group)
        self._polls = make_api(LONG_POLL_S)
        self.poller = Poller(self._polls, clock, self._move_group)
        self._tasks = []
        self.answering = []
        self._is_redelivering = False
        self._retry = Timeout()
        self._logged_groups = []
        inbox.deliveries.add_channel(NAME, self._open_sink, self._is_let_in)

    # --- running

    async def run(self) -> None:
        poller = self.poller
        try:
            while not poller.is_stopped:
                try:
                    if not poller.bot.id:
                        await poller.connect()
                        await self._register_commands()
                    for task in [task for task in self._tasks if task.done()]:
                        self._tasks.remove(task)
                        await task
                    self._redeliver_owed()
                    self._api.client.tidy()  # a link that idles
                    # An answer under way may turn out to be kept for later: no long poll is to delay that.
                    is_waiting = self._tasks or self._inbox.deliveries.has_undelivered(NAME)
                    found = await poller.poll(len(self._tasks), _RETRY_S if is_waiting else LONG_POLL_S)
                    for said in found:
                        self._begin(self._answer, said)
                except BotError as error:
                    pause_ms = poller.failed(error)
                    if error.code == 429:
                        self.sender.pause(0, error.retry_after)
                    await sleep_ms(0 if poller.is_stopped else pause_ms)
        finally:
            # Ctrl-C may drop the tasks without their ends.
            while self._tasks:
                self._tasks.pop().cancel()
            self.answering.clear()
            self._is_redelivering = False
            poller.reopen()

    def _begin(self, work, *arguments) -> None:
        self._tasks.append(start_task(work, *arguments))

    async def _register_commands(self) -> None:
        menu = [{"command": name, "description": purpose} for name, _, purpose in self._commands()]
        menu.append({"command": "cancel", "description": "cancel the answer that is being made"})
        try:
            await self._api.call("setMyCommands", {"commands": menu})
        except BotError as error:
            diag.info(NAME, "no menu of commands: %s" % error)

    def _move_group(self, chat: int, new: int) -> None:
        diag.info(NAME, "the group %d is a supergroup now: %d" % (chat, new))
        try:
            self._find_people().move_group("%s:%d" % (NAME, chat), "%s:%d" % (NAME, new))
        except EngramError as error:
            diag.error(NAME, "open the group %d by its new number: %s" % (new, error))

    # --- messages

    async def _answer(self, said) -> None:
        self.answering.append(said)
        where = said.destination
        try:
            admission = self._admit(said)
            if admission.caller:
                await self._converse(said, admission.caller)
            elif admission.reply:
                await self._say(where, admission.reply)
            elif where.is_group and said.is_mentioned:
                self._log_group(where.chat)
        except (EngramError, MemoryError) as error:
            diag.error(NAME, "a message failed: %s" % error)
            if said.is_mentioned or not where.is_group:
                await self._say(where, _FAILED)
        self.answering.remove(said)
        self.poller.confirm(said)

    def _admit(self, said):
        where = said.destination
        kind = "group" if where.is_group else "direct"
        thread = str(where.topic or "")
        return self._find_people().admit(
            NAME, str(said.sender), kind, str(where.chat), said.is_mentioned, thread, said.name
        )

    def _log_group(self, chat: int) -> None:
        """Report, once, the number of a closed group that mentioned the bot."""
        ref = "%s:%d" % (NAME, chat)
        logged = self._logged_groups
        if ref not in self._find_people().groups and ref not in logged and len(logged) < _LOGGED:
            logged.append(ref)
            diag.info(NAME, "somebody asked in a closed group: /people group %s mention opens it" % ref)

    async def _converse(self, said, caller) -> None:
        sentence = said.refusal or (_GREETING if said.is_command and said.text.startswith("/start") else "")
        if said.is_command and said.text == "/cancel":
            if self._cancel(said):
                return
            sentence = _NONE
        if sentence:
            await self._say(said.destination, sentence)
            return
        message = Message(said.mid, caller, said.text, said.is_command, said.forwarded, said.quoted, said.edits)
        reply = Reply(self, said.destination, said)
        start_task(reply.show_typing)
        said.work, said.reply = start_task(self._handle, said, message, reply), reply
        try:
            await said.work
        except asyncio.CancelledError:
            if said.work:
                raise
            await reply.line(_CANCELLED)
            await reply.end(None)  # with what came of it
            return
        finally:
            reply.is_over = True
        if not reply.delivery.seq and not await self._deliver_unkept(reply):
            self._inbox.deliveries.push(caller, _FAILED)

    async def _handle(self, said, message: Message, reply) -> None:
        # The redelivered answer may be of an earlier message in the room.
        while self._is_redelivering or self._has_earlier(said):
            await sleep_ms(_LOOK_MS)
        await self._inbox.handle(message, reply)

    def _cancel(self, said) -> bool:
        """Cancel a person's answers in a room; False if there are none."""
        room = room_of(said.destination)
        own = [other for other in self.answering if other.work and not other.reply.is_over]
        own = [other for other in own if other.sender == said.sender and room_of(other.destination) == room]
        for other in own:
            # First, or the message is asked again while the end of its answer is sent.
            self._inbox.deliveries.outbox.remove(other.reply.delivery.seq)
            other.work.cancel()
            other.work = None
        return bool(own)

    def _has_earlier(self, said) -> bool:
        room = room_of(said.destination)
        return any(room_of(other.destination) == room for other in self.answering[: self.answering.index(said)])

    async def _say(self, destination, sentence: str) -> None:
        reply = Reply(self, destination)
        await reply.line(sentence)
        await reply.delivery.attempt(reply, None)
        await self._deliver_unkept(reply)

    async def _deliver_unkept(self, reply) -> bool:
        """Resend an answer that is not on flash; False if it is given up."""
        end = Timeout()
        end.begin(_TRIED_MS)
        while not reply.is_delivered:
            must_wait = self.sender.must_wait(reply.destination.chat)
            if end.is_over or self.poller.is_stopped or must_wait or reply.delivery.state == FAILED:
                diag.warning(NAME, "an answer is given up")
                return False
            await sleep_ms(1000 * _RETRY_S)
            if not self.poller.problem:
                await reply.delivery.attempt(reply, None)
        return True

    # --- undelivered answers, and messages of the board itself

    def _redeliver_owed(self) -> None:
        is_ready = self._retry.is_over and not (self._is_redelivering or self.poller.problem)
        if is_ready and self._inbox.deliveries.has_undelivered(NAME):
            self._is_redelivering = True
            self._begin(self._redeliver)

    async def _redeliver(self) -> None:
        try:
            await self._inbox.deliveries.redeliver(NAME)
        finally:
            self._is_redelivering = False
            self._retry.begin(1000 * _RETRY_S)

    def _open_sink(self, address: str) -> tuple:
        destination = destination_of(address)
        sink = None if self.sender.must_wait(destination.chat) else Reply(self, destination)
        return sink, room_of(destination)

    def _is_let_in(self, caller) -> bool:
        where = destination_of(caller.room)
        return self._find_people().is_let_in(NAME, caller.principal, str(where.chat), where.is_group)

    # --- status

    def short(self) -> str:
        poller = self.poller
        since = " " + poller.since.since() if poller.since else ""
        if not poller.problem:
            return "connected as @%s%s" % (poller.bot.username, since)
        return ("stopped%s: %s" if poller.is_stopped else "not connected%s: %s") % (since, poller.problem)
