"""Talks with people over Telegram: each message is admitted and answered, and the answer streams back.

With PSRAM a long poll waits at the service over a link of its own. Without it, short polls and all else share one link, which
is closed while the model has its own (see engram.llm.http.one_link): the answer is sent when the turn is over.
"""

import gc

from engram import diag
from engram.channels.inbox import Message
from engram.channels.people import LET_IN
from engram.channels.telegram.bot_api import BotError
from engram.channels.telegram.poller import AT_ONCE, LONG_POLL_S, Poller
from engram.channels.telegram.reply import AGAIN, MOST_COPIES, Reply
from engram.channels.telegram.sender import (
    LONGEST_WAIT_MS,
    Place,
    Sender,
    edited_message_of,
    is_final,
    is_refused,
    message_of,
    place_of,
    room_of,
)
from engram.channels.telegram.updates import part
from engram.clock import Moment, Timeout
from engram.compat import const, sleep_ms
from engram.errors import EngramError
from engram.interrupt import start_task

NAME = "telegram"

_LOOK_MS = const(50)
_RETRY_MS = const(10_000)  # before an answer that was not delivered is tried again
_TRIES = const(3)  # of a message
_SAYINGS = const(3)  # times that a sentence of which nothing is kept is sent, until one arrives
_SAY_AGAIN_MS = const(2000)
_TRIED_MS = const(600_000)  # for so long a command that reads is done again, if nothing of its answer arrives
_GIVEN_UP = const("%s was not answered, or the answer may not have arrived: say it again.")
_MESSAGE = const("A message")
_COUNTED = const(16)  # answers whose copies may have arrived: more than the outbox has
_SAID = const(4)  # kept replies with what was said beside them, up to a message of it each
_TOO_LARGE = const("This message is too large for me: send it in parts.")
_NAMED = const(8)  # closed groups that the log names
_MENU_LONGEST = const(256)  # characters of a command's description
_NOT_IN_MENU = const(("json",))
_GREETING = const("Hello! Write to me, and I answer; what you want me to keep, I remember. /help lists the commands.")


class Telegram:
    """One bot. make_api(wait_s) gives a BotApi, find_people() the People, commands() what the menu lists.

    `is_live` lets answers stream, which takes two links beside the model's.
    """

    def __init__(self, config, clock, folder: str, inbox, find_people, make_api, commands, is_live: bool):
        policy = config.get("telegram.policy")
        self._policy = config.get("people.policy") if policy == "people" else policy
        self._clock = clock
        self._inbox = inbox
        self._find_people = find_people
        self._commands = commands
        self._is_live = is_live
        self._api = make_api(0)
        self.sender = Sender(self._api, self._may_wait, self._call_failed, self._group_moved)
        # Files come over the link of the polls, which are short meanwhile: the answers to others go on.
        polls = self._polls = make_api(LONG_POLL_S) if is_live else self._api
        self.poller = Poller(polls, clock, folder, is_live, self._pass_over, self.sender.move)
        self._tasks = []  # of messages that are being answered
        self._places = []  # of these, in their order
        self._is_owing = True  # whether the outbox may have answers for Telegram
        self._is_redelivering = False
        self._has_strangers = False  # whether somebody may have a code
        self._retry = Timeout()
        self._waiting = []  # chats that have to wait, and have kept answers: later ones do not overtake
        self._failed = []  # chats to which an answer was not delivered meanwhile: others have their turn
        self._copies = {}  # by its turn or its message's Place, (part of an answer, how many of it may have arrived)
        self.said = {}
        """By its turn, what was said beside a reply that is kept; the oldest gives way."""
        self._fault = ()  # the newest for the owner, such as an answer that Telegram did not take
        self._named = []  # closed groups that the log has named
        inbox.add_channel(NAME, self._open_sink, self._is_let_in)

    # --- running

    async def run(self) -> None:
        """Poll and answer, until Telegram refuses the bot."""
        poller = self.poller
        try:
            while not poller.is_stopped:
                try:
                    if not poller.bot.id:
                        await poller.connect()
                        await self._register_commands()
                    await self._reap()
                    await self._deliver_owed()
                    self._api.tidy()
                    # An answer under way may turn out to be kept for later: no long poll is to delay that.
                    is_waiting = self._is_owing or self._busy() or self._has_strangers
                    found = await poller.poll(self._busy, _RETRY_MS // 1000 if is_waiting else LONG_POLL_S)
                    await self._welcome()
                    for said, place in found:
                        await self._begin(self._answer, said, place)
                except BotError as error:
                    poller.failed(error)
                    if error.code == 429:
                        self.sender.pause(0, error.retry_after)
                    await poller.pause()
        finally:
            # Ctrl-C may drop the tasks without their ends.
            while self._tasks:
                self._tasks.pop().cancel()
            self._places.clear()
            self._is_redelivering = False
            self._is_owing = True
            poller.reopen()

    async def _begin(self, work, *arguments) -> None:
        """Do some work: beside others if answers stream, else at once."""
        if self._is_live:
            self._tasks.append(start_task(work, *arguments))
        else:
            await work(*arguments)

    async def _reap(self) -> None:
        """Raise what has ended a task."""
        for task in [task for task in self._tasks if task.done()]:
            self._tasks.remove(task)
            await task

    def _busy(self) -> int:
        """How many messages are being answered."""
        return sum(1 for task in self._tasks if not task.done())

    async def _register_commands(self) -> None:
        menu = []
        for name, _, purpose in self._commands():
            if name not in _NOT_IN_MENU:
                menu.append({"command": name, "description": purpose[:_MENU_LONGEST]})
        try:
            await self._api.call("setMyCommands", commands=menu)
        except BotError as error:
            if error.code == 401:
                raise
            diag.info(NAME, "no menu of commands: %s" % error)

    def _call_failed(self, error: BotError) -> None:
        if error.code == 401:
            self.poller.failed(error)

    def _group_moved(self, chat: int, new: int) -> None:
        """A group became a supergroup, which has another number: it stays as open as it was."""
        diag.info(NAME, "the group %d is a supergroup now: %d" % (chat, new))
        try:
            self._find_people().move_group("%s:%d" % (NAME, chat), "%s:%d" % (NAME, new))
        except EngramError as error:
            diag.error(NAME, "open the group %d by its new number: %s" % (new, error))

    # --- messages

    async def _answer(self, said, place) -> None:
        """Answer a message, if who says it may talk here. What fails is tried again; in the end its sender is to repeat it."""
        self._places.append(place)
        for _ in range(_TRIES):
            try:
                admission = self._admit(said.sender, place, said.is_mentioned, said.name)
                if admission.caller:
                    await self._converse(said, place, admission.caller)
                elif admission.reply:
                    self._has_strangers = True
                    await self._say(place, admission.reply)
                elif place.is_group and said.is_mentioned:
                    self._name_group(place.chat)
                break
            except (EngramError, MemoryError) as error:
                gc.collect()
                diag.error(NAME, "a message failed: %s" % error)
            await sleep_ms(_RETRY_MS)
        else:
            if said.is_mentioned or not place.is_group:
                await self._say(place, _GIVEN_UP % _MESSAGE)
        self._places.remove(place)
        self.poller.confirm(place, False)

    async def _welcome(self) -> None:
        """Tell strangers whom the owner has let in."""
        if self._has_strangers:
            people = self._find_people()
            self._has_strangers = bool(people.waiting())
            for sender in people.take_let_in(NAME):
                await self._begin(self._say, place_of("%s %s" % (NAME, sender)), LET_IN)

    def _admit(self, sender: int, place, is_mentioned: bool, name: str):
        kind = "group" if place.is_group else "direct"
        topic = str(place.topic or "")
        people = self._find_people()
        return people.admit(NAME, str(sender), kind, str(place.chat), is_mentioned, topic, name, self._policy)

    async def _pass_over(self, large) -> None:
        """Tell of a message that is too large: the owner, and its sender if it would have been answered."""
        self._note_fault("too large ", "a message of the chat %d" % large.chat)
        if not large.chat or not large.sender:
            return
        place = Place(large.chat, 0, large.message_id, large.chat < 0, 0)
        admission = self._admit(large.sender, place, large.names(self.poller.bot.username), "")
        sentence = _TOO_LARGE if admission.caller else admission.reply
        if sentence:
            await self._begin(self._say, place, sentence)

    def _name_group(self, chat: int) -> None:
        """Tell the owner, once, the number of a group in which the bot was mentioned though it is closed."""
        ref = "%s:%d" % (NAME, chat)
        if ref not in self._find_people().groups and ref not in self._named and len(self._named) < _NAMED:
            self._named.append(ref)
            diag.info(NAME, "somebody asked in a closed group: /people group %s mention opens it" % ref)

    async def _converse(self, said, place, caller) -> None:
        sentence = said.refusal or (_GREETING if said.is_command and said.text.startswith("/start") else "")
        if sentence:
            await self._say(place, sentence)
            return
        file = (said.file.name, said.file.bytes, lambda: self._open_file(said.file.id)) if said.file else None
        edits = edited_message_of(place)
        message = Message(
            message_of(place), caller, said.text, said.is_command, file, said.forwarded, said.quoted, edits
        )
        doubts = 0  # tries of which nobody knows what arrived
        end = Timeout()
        end.begin(_TRIED_MS)
        while True:
            reply = Reply(self, place, self._is_live, is_repeat=doubts > 0)
            if not self._is_live:
                await self.sender.show_typing(place)
            # What is redelivered may be an earlier message of the room that is answered only now.
            while self._earlier(place) or self._is_redelivering:
                await sleep_ms(_LOOK_MS)
            try:
                await self._inbox.take(message, reply)
            finally:
                reply.is_over = True
            if reply.is_taken or reply.is_delivered:
                self.poller.confirm(place, True)
                return
            # Nothing is kept of it, such as of a command that reads: it is done again, since nobody has seen what came of it.
            doubts += reply.may_have_arrived
            is_doubted = doubts >= _SAYINGS or reply.copies >= MOST_COPIES
            if is_doubted or end.is_over or not await self._pause(place.chat):
                await self._give_up(said, place, caller)
                return

    async def _pause(self, chat: int) -> bool:
        """Wait before something is tried again; false if its chat has to wait too long, or something else needs its place."""
        pause = Timeout()
        pause.begin(_RETRY_MS)
        while not pause.is_over:
            wait_ms = self.sender.wait_ms(chat)
            if wait_ms > LONGEST_WAIT_MS or (wait_ms and not self._may_wait(chat)):
                return False
            await sleep_ms(_LOOK_MS)
        return True

    def _may_wait(self, chat: int) -> bool:
        """Whether a message may wait as Telegram wants for its chat: no other one, of this chat or of any, needs its place."""
        if not self._is_live or self._busy() >= AT_ONCE or self.is_behind(chat):
            return False
        return sum(1 for place in self._places if place.chat == chat) <= 1

    def is_behind(self, chat: int) -> bool:
        """Whether earlier answers of a chat are kept until it has to wait no more."""
        return chat in self._waiting

    async def _give_up(self, said, place, caller) -> None:
        """Say, as soon as that is possible, that something was not answered of which nothing is kept."""
        diag.warning(NAME, "a command is given up")
        name = said.text.partition(" ")[0] if said.is_command else _MESSAGE
        task = self._inbox.push(caller, _GIVEN_UP % name)
        if task:
            await task
            self._owe()
        self.poller.confirm(place, True)

    def _earlier(self, place) -> bool:
        """Whether an earlier message of the same room is not answered yet."""
        for other in self._places:
            if other == place:
                return False
            if other.chat == place.chat and other.topic == place.topic:
                return True
        return False

    async def _open_file(self, file_id: str):
        found = await self._api.call("getFile", file_id=file_id)
        return await self._polls.open_file(part(found, "file_path", str))

    async def _say(self, place, sentence: str) -> None:
        """Say something of which nothing is kept: it is lost if the link stays down."""
        for _ in range(_SAYINGS):
            try:
                await self.sender.send(place, sentence, False)
                return
            except BotError as error:
                diag.info(NAME, "a sentence was not sent: %s" % error)
                if is_refused(error):
                    self.note_refused(error)
                if is_final(error) or error.code in (400, 401):
                    return
                if error.is_unknown and not sentence.startswith(AGAIN):
                    sentence = AGAIN + sentence
            await sleep_ms(_SAY_AGAIN_MS)

    # --- what a Reply tells

    def confirm(self, place) -> None:
        """A message is on flash."""
        self.poller.confirm(place, True)

    def note_progress(self, turn: str, part: int, message: int) -> None:
        """Telegram has this number of parts of an answer, and this message of the next one."""
        self._inbox.progress(turn, part, message)

    def note_copy(self, key, part: int) -> int:
        """A part of the answer to a turn, or to the message of a Place, may have arrived; how many copies of it may have."""
        before, count = self._copies.pop(key, (part, 0))
        if len(self._copies) >= _COUNTED:
            self._copies.popitem()
        count = count + 1 if before == part else 1
        self._copies[key] = part, count
        return count

    def note_given_up(self, turn: str) -> None:
        """The answer to a turn is sent no more, though nobody knows whether it arrived: tell the owner."""
        self._copies.pop(turn, None)
        words = "the answer to %s, which may have arrived; the console shows it" % turn
        diag.error(NAME, "given up: " + words)
        self._note_fault("given up  ", words)

    def note_refused(self, error: BotError) -> None:
        """Telegram does not take an answer, which is the board's fault: tell the owner."""
        diag.error(NAME, "an answer is not taken: %s" % error)
        self._note_fault("refused   ", str(error))

    def _note_fault(self, name: str, words: str) -> None:
        self._fault = name, Moment(self._clock), words

    def note_undelivered(self, turn: str, place, said) -> None:
        """The answer to a turn is not delivered at a Place, or not known to be: it is kept for later, and the streams of what
        was `said` beside the reply until a restart, if that is little.
        """
        if said and not (said[0].full or said[1].full):
            if len(self.said) >= _SAID:
                self.said.pop(min(self.said, key=lambda turn: int(turn[1:])))
            self.said[turn] = said
        if self._is_redelivering:
            self._failed.append(place.chat)
        if self.sender.wait_ms(place.chat):
            self._waiting.append(place.chat)
        diag.warning(NAME, "an answer was not delivered and is kept: %s" % (turn or "a command's"))
        self._owe()

    def _owe(self) -> None:
        """Look through the outbox again in a while."""
        self._is_owing = True
        self._retry.begin(_RETRY_MS)

    # --- what was not delivered, and what the board begins

    async def _deliver_owed(self) -> None:
        if self._is_owing and self._retry.is_over and not self._is_redelivering:
            self._is_owing = False  # an answer that fails again sets it again
            self._is_redelivering = True
            await self._begin(self._redeliver)

    async def _redeliver(self) -> None:
        self._waiting.clear()
        try:
            # It ends at what fails, which may be the fault of one chat: that one is then passed over.
            failed = -1
            while failed < len(self._failed):
                failed = len(self._failed)
                if not await self._inbox.redeliver(NAME):
                    self.said.clear()  # such as of what was forgotten
        finally:
            self._is_redelivering = False
            self._failed.clear()

    def _open_sink(self, address: str) -> tuple:
        place = place_of(address)
        if place.chat in self._waiting or place.chat in self._failed or self.sender.wait_ms(place.chat):
            self._waiting.append(place.chat)
            self._owe()
            return None, room_of(place)
        # It waits for nothing: meanwhile no other chat would get its answer.
        return Reply(self, place, self._is_live, longest_ms=0), room_of(place)

    def _is_let_in(self, caller) -> bool:
        place = place_of(caller.room)
        people = self._find_people()
        return people.is_let_in(NAME, caller.principal, str(place.chat), place.is_group, self._policy)

    # --- status

    def unhook(self) -> None:
        """Remove a webhook before the next poll."""
        self.poller.wants_no_webhook = True

    def short(self, since: str = "") -> str:
        """In a few words how it is."""
        poller = self.poller
        if not poller.problem:
            return "connected as @%s%s" % (poller.bot.username, since)
        return ("stopped%s: %s" if poller.is_stopped else "not connected%s: %s") % (since, poller.problem)

    def status_lines(self):
        """Yield lines on how it is."""
        poller = self.poller
        yield self.short(" " + poller.since.since() if poller.since else "")
        if poller.next_try_s and not poller.is_stopped:
            yield "  next try in %d s" % poller.next_try_s
        yield "  policy    " + self._policy
        yield "  newest    " + (poller.newest.when() if poller.newest else "no message since the start")
        if self._fault:
            name, moment, words = self._fault
            yield "  %s%s, %s" % (name, moment.when(), words)
        if self._places:
            yield "  answering %d" % len(self._places)
        if self._is_owing:
            yield "  answers that were not delivered are kept"
