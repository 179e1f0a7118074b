"""The answer to one message: it streams into a message of Telegram by edits, goes on in further ones, and ends with an edit.

How much Telegram has of it is noted (see Inbox.progress): after a power cut the same message is edited on, also if the answer
has to be made again. Where nobody knows whether a message arrived, it is sent again with a mark, never without, and a third
time only if the outbox is gone through; then it is given up.
"""

from engram import diag
from engram.channels.inbox import ChannelSink
from engram.channels.telegram.bot_api import BotError
from engram.channels.telegram.sender import LONGEST_WAIT_MS, is_final, is_refused
from engram.channels.telegram.split import LIMIT, Splitter, split
from engram.clock import Timeout
from engram.compat import const, sleep_ms
from engram.interrupt import start_task

EDIT_MS = 1500
"""Between two edits in a private chat."""

_GROUP_TIMES = const(3)  # longer in a group, where Telegram takes 20 messages and edits a minute
_TYPING_MS = const(4500)  # Telegram shows it for 5 seconds
_LOOK_MS = const(50)
_AGAIN_MS = const(1000)  # before what the link lost is sent again
_ATTEMPTS = const(2)
MOST_COPIES = const(3)
"""Of a part of an answer that may all have arrived: then it is given up."""
_ROOM = LIMIT - 200  # UTF-16 units of text in a message: the rest is for what stands above it
_MOST_PARTS = const(8)  # messages of a command's answer: an export would flood the chat
_MOST_PART = const(255)  # that an outbox can note
UNDER_WAY = const(0xFFFFFFFF)
"""Is noted in place of a message's id while nobody knows whether it arrived: no message has it."""
AGAIN = const("(Sent again: this may have arrived before.)\n")
_LATE = const("(An answer from %s ago.)\n")
_CUT = const("(It broke off here.)")
_REFUSED = const("(Telegram does not take this answer: the console shows it, and /telegram says why.)")
_TOO_LONG = const("(The rest is left out: the console shows all of it.)")


class _Stream:
    """A text that grows, and the messages that show it."""

    def __init__(self, is_marked: bool):
        self.is_marked = is_marked
        self.full = []
        """Its parts that are complete and not shown to their end."""
        self.part = 0
        """How many are."""
        self.message = 0
        """The id of the message that shows the present part, 0 before it was sent."""
        self.chat = 0
        """The chat where that is, 0 where the answer was asked for: groups become supergroups."""
        self.shown = ""
        self.heading = ""
        self.is_doubtful = False
        """Whether the present part may have arrived."""
        self.is_empty = True
        self._parts = Splitter(_ROOM)

    def feed(self, piece: str) -> None:
        self.is_empty = self.is_empty and not piece
        self.full.extend(self._parts.feed(piece))

    def rest(self) -> str:
        return self._parts.rest()

    def go_on(self, place: int, is_repeat: bool) -> None:
        """Show it in a message that was noted, or in a new one with a mark if that may have arrived before."""
        self.message = 0 if place == UNDER_WAY else place
        self.is_doubtful = place == UNDER_WAY or (not place and is_repeat)

    def headed(self, text: str) -> str:
        """A part with what stands above it."""
        return self.heading + (AGAIN if self.is_doubtful else "") + text

    def end_part(self) -> None:
        self.full.pop(0)
        self.part += 1
        self.message = 0
        self.shown = self.heading = ""
        self.is_doubtful = False


class Reply(ChannelSink):
    """Answers at a Place. `is_live` lets it stream, over a link beside the model's; else all is sent at the end.

    At its end it waits no longer than `longest_ms` if Telegram wants that. `is_repeat` marks what a command says as sent again.
    """

    is_confirming = True

    def __init__(self, channel, place, is_live: bool, longest_ms: int = LONGEST_WAIT_MS, is_repeat: bool = False):
        self._channel = channel
        self._sender = channel.sender
        self._place = place
        self._longest_ms = longest_ms
        self._pause_ms = EDIT_MS * (_GROUP_TIMES if place.is_group else 1)
        self._before = _Stream(False)  # what the board says before the reply
        self._before.is_doubtful = is_repeat
        self._text = _Stream(True)  # the reply
        self._after = _Stream(False)
        self._turn = ""
        self.is_over = self._is_cut = False
        """Whether nothing more comes of it."""
        self._next = Timeout()  # until something is shown again
        self.is_taken = self.is_delivered = False
        self.copies = 0
        """How many of the present part may have arrived, if its newest sending left that open."""
        self._task = start_task(self._live) if is_live else None

    @property
    def may_have_arrived(self) -> bool:
        """Whether Telegram has a part of the answer, or may have it."""
        streams = (self._before, self._text, self._after)
        return any(stream.part or stream.message or stream.is_doubtful for stream in streams)

    # --- what the inbox and the agent tell

    async def taken(self, turn: str) -> None:
        """The message is on flash: Telegram may forget it."""
        self._turn = turn
        self.is_taken = True
        self._channel.confirm(self._place)

    async def text(self, piece: str) -> None:
        """A piece of the reply; the time until it is shown begins with the first one."""
        if self._text.is_empty:
            piece = piece.lstrip()
            if piece:
                self._next.begin(self._pause_ms)
        if self._task:
            self._text.feed(piece)

    async def notice(self, line: str) -> None:
        """A line about the turn."""
        self._say("· " + line)

    async def line(self, line: str) -> None:
        """A line of a command's answer."""
        stream = self._before
        if len(stream.full) + stream.part < _MOST_PARTS:
            self._say(line)
        elif not self._is_cut:
            self._is_cut = True
            self._after.feed(_TOO_LONG)

    async def problem(self, problem: str) -> None:
        """What went wrong."""
        self._say("! " + problem)

    async def refuse(self, problem: str) -> None:
        """Why there is no answer."""
        self._say(problem)

    def _say(self, line: str) -> None:
        stream = self._before if self._text.is_empty else self._after
        if stream.is_empty:
            self._next.begin(self._pause_ms)
        stream.feed(line + "\n")

    async def kept(self, reply) -> None:
        """Go on with a reply of which Telegram may have a part."""
        self._turn = reply.turn
        stream = self._text
        stream.full = list(split(reply.text, _ROOM))[reply.part :]
        stream.is_empty = not stream.full
        stream.part = reply.part
        stream.go_on(reply.place, reply.is_repeat)
        if reply.age and not reply.part and not reply.place:
            stream.heading = _LATE % reply.age
        said = self._channel.said.pop(reply.turn, None)
        if said:
            # The journal has the reply only. A line on what was dropped is said already, and stands below it.
            notice = self._before.rest()
            self._before, self._after = said
            self._after.feed(notice)
        if reply.is_cut and self._after.is_empty:
            self._say(_CUT)

    async def begun(self, part: int, place: int) -> None:
        """Write an answer that is made again into the message in which its former beginning is shown."""
        # Behind earlier messages it begins once more: the mark tells that, and they stay as they are.
        self._text.go_on(place, False)
        if part:
            self._text.is_doubtful = True
            self._channel.note_progress(self._turn, 0, place)

    async def end(self, outcome):
        """Send what is left; whether Telegram has all of it, or will never take it, None if nobody knows."""
        self.is_over = True
        if self._task:
            await self._task
        elif outcome and self._text.is_empty:
            self._text.feed(outcome.reply)
        self.is_delivered = await self._send_rest()
        stream = self._text
        if self.is_delivered:
            return True
        # Only a reply is kept: what else was begun is made again.
        said = self._turn and not stream.is_empty and (self._before, self._after)
        self._channel.note_undelivered(self._turn, self._place, said)
        return None if stream.is_doubtful and not stream.message else False

    def _is_behind(self) -> bool:
        """Whether earlier answers of the chat are kept, and this one is none of them."""
        return self._longest_ms > 0 and self._channel.is_behind(self._place.chat)

    async def _send_rest(self) -> bool:
        if self._is_behind():
            return False
        for attempt in range(_ATTEMPTS):
            try:
                for stream in (self._before, self._text, self._after):
                    await self._show(stream, True)
                return True
            except BotError as error:
                diag.info("telegram", "an answer: %s" % error)
                if is_final(error):
                    diag.warning("telegram", "a chat takes nothing any more: %s" % error)
                    return True
                if is_refused(error):
                    return await self._tell_refused(error)
                if self.copies >= MOST_COPIES and self._turn:
                    self._channel.note_given_up(self._turn)
                    return True
                if error.code == 429 or self.copies >= _ATTEMPTS or attempt == _ATTEMPTS - 1:
                    return False
            await sleep_ms(_AGAIN_MS)
        return False

    async def _tell_refused(self, error: BotError) -> bool:
        """Tell the owner, and who is answered, that Telegram does not take an answer; whether that is told."""
        self._channel.note_refused(error)
        try:
            await self._sender.send(self._place, _REFUSED, False, self._longest_ms)
        except BotError as again:
            return is_final(again) or is_refused(again)
        return True

    # --- what Telegram shows

    async def _live(self) -> None:
        """Show what there is until the answer is over."""
        sign = Timeout()
        while not self.is_over:
            if self._text.is_empty and sign.is_over:
                sign.begin(_TYPING_MS)
                await self._sender.show_typing(self._place)
            elif self._next.is_over and self._may_show():
                await self._try_to_show()
            await sleep_ms(_LOOK_MS)

    def _may_show(self) -> bool:
        return not (self.copies or self._is_behind() or self._sender.wait_ms(self._place.chat))

    async def _try_to_show(self) -> None:
        """Show what is new; what fails is shown later."""
        self._next.begin(self._pause_ms)
        try:
            await self._show(self._before, False)
            await self._show(self._text, False)
        except BotError as error:
            diag.info("telegram", "an answer is shown later: %s" % error)

    async def _show(self, stream: _Stream, is_last: bool) -> None:
        while stream.full:
            await self._show_part(stream, stream.full[0], True)
            stream.end_part()
        rest = stream.rest()
        if rest:
            await self._show_part(stream, rest, is_last)

    async def _show_part(self, stream: _Stream, text: str, is_last: bool) -> None:
        longest_ms = self._longest_ms if is_last else 0
        shown = stream.headed(text)
        if shown == stream.shown:
            return
        if stream.message and not await self._edit(stream, shown, longest_ms):
            stream.message, stream.is_doubtful = 0, True
            shown = stream.headed(text)
        if not stream.message:
            # Before the answer is over, nothing else tells after a power cut that this may have arrived.
            self._note(stream, 0 if self.is_over else UNDER_WAY)
            try:
                sent = await self._sender.send(self._place, shown, stream.is_marked, longest_ms)
                stream.message, stream.chat = sent
            except BotError as error:
                if error.is_unknown:
                    stream.is_doubtful = True
                    self.copies = self._channel.note_copy(self._turn or self._place, stream.part)
                if not stream.is_doubtful:
                    self._note(stream, 0)
                raise
            self.copies = 0
            self._note(stream, stream.message)
        stream.shown = shown

    async def _edit(self, stream: _Stream, text: str, longest_ms: int) -> bool:
        """Edit the message of a part; false if it was deleted, or stays behind in a group that has become a supergroup."""
        chat = stream.chat or self._place.chat
        if self._sender.chat_of(self._place.chat) != chat:
            return False
        try:
            return await self._sender.edit(self._place, stream.message, text, stream.is_marked, longest_ms)
        except BotError as error:
            if not error.moved_to:
                raise
            return False

    def _note(self, stream: _Stream, place: int) -> None:
        """Note on flash how much of the reply Telegram has."""
        if self._turn and stream is self._text and stream.part <= _MOST_PART:
            self._channel.note_progress(self._turn, stream.part, place)
