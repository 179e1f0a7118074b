"""Sends and edits the messages of one bot, as fast as Telegram lets it: a chat that has to wait keeps no other one waiting."""

from collections import namedtuple

from engram import diag
from engram.channels.telegram.bot_api import BotError
from engram.channels.telegram.markup import to_html
from engram.clock import Timeout
from engram.compat import const, sleep_ms
from engram.text import printable

_PATIENCE = const(3)  # times that a message is tried where Telegram asks to wait
_PAUSED = const(16)  # chats of which Telegram wants nothing for a while: if there are more, the whole bot waits
_EVERY_CHAT = const(0)
_LONGEST_PAUSE_S = const(86400)  # what ticks can count
_MOVED = const(8)  # groups that became supergroups while the board runs
_HOPS = const(3)  # times that a call is changed as its refusal asks: to another chat, to no topic
# What Telegram says of a chat to which nothing can be sent any more, besides 403.
_NEVER = const((
    "chat not found", "user not found", "peer_id_invalid", "deactivated", "blocked", "was kicked", "no rights to send",
    "not enough rights", "administrator rights", "_forbidden", "channel_private", "chat_restricted", "topic_closed",
))  # fmt: skip
_NO_TOPIC = const(("thread not found", "topic_deleted"))
# What is not about the text of an edit: it would be refused without marks, too.
_NOT_MODIFIED = const("message is not modified")
_NOT_THE_TEXT = const((
    _NOT_MODIFIED, "message to edit not found", "message can't be edited", "message_id_invalid",
))  # fmt: skip
_SHORT_WAIT_MS = const(3000)  # is waited for in any case
_LOOK_MS = const(100)
_CHANNEL = const("telegram")

LONGEST_WAIT_MS = const(60_000)
"""What a message waits at most if Telegram asks for that: one that has to wait longer is delivered again later."""

Place = namedtuple("Place", "chat topic reply_to is_group edit")
"""Where messages go: the chat, its topic or 0, and the message that they answer, 0 for none; `edit` is the number of the update
that edited it, 0 for the message as it came.
"""


def place_of(address: str) -> Place:
    """The Place of a message's id, telegram:CHAT:ID or telegram:CHAT:ID:TOPIC, where ID is followed by a dot and the update for
    an edit; or of a room, telegram CHAT or with a TOPIC.
    """
    parts = address.replace(":", " ").split(" ")
    chat = int(parts[1])
    is_message = ":" in address
    topic = parts[2 + is_message :]
    message, _, edit = parts[2].partition(".") if is_message else ("0", "", "")
    return Place(chat, int(topic[0]) if topic else 0, int(message), chat < 0, int(edit or 0))


def room_of(place: Place) -> str:
    """The room of a Place."""
    return "%s %d" % (_CHANNEL, place.chat) + (" %d" % place.topic if place.topic else "")


def message_of(place: Place) -> str:
    """The id, for the journal, of the message that a Place answers."""
    edit = ".%d" % place.edit if place.edit else ""
    return "%s:%d:%d%s" % (_CHANNEL, place.chat, place.reply_to, edit) + (":%d" % place.topic if place.topic else "")


def edited_message_of(place: Place) -> str:
    """The id of the message that a Place's message corrects, "" if it is no edit."""
    return message_of(Place(*(place[:4] + (0,)))) if place.edit else ""


def is_final(error: BotError) -> bool:
    """Whether Telegram will never take anything there: the chat has gone, or the person has blocked the bot."""
    return error.code == 403 or (error.code == 400 and _says_any(error, _NEVER))


def is_refused(error: BotError) -> bool:
    """Whether Telegram does not take this text, which is the board's fault, though it may take another one."""
    return error.code == 400 and not is_final(error) and not error.moved_to and not _says_any(error, _NOT_THE_TEXT)


def _says_any(error: BotError, phrases) -> bool:
    return any(error.says(phrase) for phrase in phrases)


class Sender:
    """Sends over one BotApi. may_wait(chat) tells whether a message may wait for its chat, since nothing needs its place.

    on_error(error) gets what failed: it may be what stops the channel; on_moved(chat, new) the group that has become a
    supergroup.
    """

    def __init__(self, api, may_wait, on_error, on_moved):
        self._api = api
        self._may_wait = may_wait
        self._on_error = on_error
        self._on_moved = on_moved
        self._moved = {}
        """The supergroups that groups became, by the group's number."""
        self._pauses = {}
        """By the number of a chat, a Timeout before whose end Telegram wants nothing there."""

    def pause(self, chat: int, seconds: int) -> None:
        """Send nothing to a chat for some seconds, as Telegram asks; to no chat at all if `chat` is 0."""
        for other in [each for each in self._pauses if self._pauses[each].is_over]:
            self._pauses.pop(other)
        if chat not in self._pauses and len(self._pauses) >= _PAUSED:
            chat = _EVERY_CHAT
        pause = self._pauses[chat] = self._pauses.get(chat) or Timeout()
        pause.begin(max(pause.left_ms, 1000 * min(max(1, seconds), _LONGEST_PAUSE_S)))

    def wait_ms(self, chat: int) -> int:
        """How long Telegram has asked to wait before something is sent to a chat, 0 if it has not."""
        pauses = [self._pauses[each].left_ms for each in (chat, _EVERY_CHAT) if each in self._pauses]
        return max(pauses) if pauses else 0

    def move(self, chat: int, new: int) -> None:
        """Send to the supergroup that a group has become."""
        if self._moved.get(chat) == new:
            return
        if len(self._moved) >= _MOVED:
            self._moved.popitem()
        self._moved[chat] = new
        self._on_moved(chat, new)

    def chat_of(self, chat: int) -> int:
        """The chat to which messages for a chat go: a group may have become a supergroup."""
        return self._moved.get(chat, chat)

    async def show_typing(self, place: Place) -> None:
        """Show that an answer comes, if that can be shown now."""
        if self.wait_ms(place.chat):
            return
        try:
            await self._called("sendChatAction", _to(place, action="typing"))
        except BotError as error:
            diag.info(_CHANNEL, str(error))

    async def send(self, place: Place, text: str, is_marked: bool, longest_ms: int = LONGEST_WAIT_MS) -> tuple:
        """Send a message, and wait no longer than that if Telegram wants it; its id, and the chat that has it."""
        fields = _to(place, link_preview_options={"is_disabled": True})
        if place.reply_to and place.is_group:
            fields["reply_parameters"] = {"message_id": place.reply_to, "allow_sending_without_reply": True}
        return await self._patiently("sendMessage", fields, text, is_marked, longest_ms)

    async def edit(self, place: Place, message: int, text: str, is_marked: bool, longest_ms: int) -> bool:
        """Let a message show another text, and wait no longer than that if Telegram wants it; false if it has gone.

        BotError with moved_to if the message stays behind in a group that has become a supergroup.
        """
        fields = {"chat_id": place.chat, "message_id": message, "link_preview_options": {"is_disabled": True}}
        try:
            await self._patiently("editMessageText", fields, text, is_marked, longest_ms)
        except BotError as error:
            if error.code != 400 or not _says_any(error, _NOT_THE_TEXT):
                raise
            if not error.says(_NOT_MODIFIED):
                diag.info(_CHANNEL, "an edited message has gone")
                return False
        return True

    async def _patiently(self, method: str, fields: dict, text: str, is_marked: bool, longest_ms: int) -> tuple:
        patience = _PATIENCE
        end = Timeout()
        end.begin(longest_ms)
        while True:
            await self._wait(fields["chat_id"], end.left_ms)
            try:
                return await self._marked(method, fields, text, is_marked)
            except BotError as error:
                patience -= 1
                if error.code != 429 or not patience:
                    raise

    async def _wait(self, chat: int, longest_ms: int) -> None:
        """Wait until something may be sent to a chat; BotError if that takes too long."""
        while True:
            wait_ms = self.wait_ms(chat)
            if not wait_ms:
                return
            if wait_ms > longest_ms or (wait_ms > _SHORT_WAIT_MS and not self._may_wait(chat)):
                raise BotError(429, "Telegram takes nothing for this chat for %d s" % (wait_ms // 1000 + 1))
            await sleep_ms(_LOOK_MS)

    async def _marked(self, method: str, fields: dict, text: str, is_marked: bool) -> tuple:
        """Call with the text as HTML, and as it is if Telegram refuses that."""
        text = printable(text)
        if is_marked:
            try:
                return await self._called(method, dict(fields, text=to_html(text), parse_mode="HTML"))
            except BotError as error:
                if not is_refused(error):
                    raise
                diag.info(_CHANNEL, "a message goes without its marks: %s" % error)
        return await self._called(method, dict(fields, text=text))

    async def _called(self, method: str, fields: dict) -> tuple:
        chat = fields["chat_id"]
        hops = _HOPS
        while True:
            if chat in self._moved:
                fields["chat_id"] = self._moved[chat]
                fields.pop("reply_parameters", None)  # there another message has that number
            try:
                return await self._api.send(method, **fields), fields["chat_id"]
            except BotError as error:
                hops -= 1
                if error.code == 429:
                    self.pause(chat, error.retry_after)
                elif hops and self._mend(error, method, chat, fields):
                    continue
                self._on_error(error)
                raise

    def _mend(self, error: BotError, method: str, chat: int, fields: dict) -> bool:
        """Change a call that was refused as its refusal says; whether it may be made again."""
        if error.moved_to:
            self.move(chat, error.moved_to)
            return method != "editMessageText"  # the supergroup does not have that message
        if "message_thread_id" in fields and _says_any(error, _NO_TOPIC):
            diag.info(_CHANNEL, "a topic has gone: its answer goes to the chat")
            fields.pop("message_thread_id")
            return True
        return False


def _to(place: Place, **fields) -> dict:
    fields["chat_id"] = place.chat
    if place.topic:
        fields["message_thread_id"] = place.topic
    return fields
