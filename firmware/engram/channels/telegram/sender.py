"""Sends and edits the messages of one bot, as fast as Telegram lets it."""

from collections import namedtuple

from engram import diag
from engram.channels.telegram.bot_api import BotError
from engram.channels.telegram.markup import to_html
from engram.clock import Timeout
from engram.compat import const, sleep_ms
from engram.text import printable

_PATIENCE = const(3)  # times that a message waits as Telegram asks it to
_LONGEST_WAIT = const(60)  # seconds: who asks for more gets the message when it is delivered again
_LOOK_MS = const(100)
_CHANNEL = const("telegram")

Place = namedtuple("Place", "chat topic reply_to is_group")
"""Where messages go: the chat, its topic or 0, and the message that they answer, 0 for none."""


def place_of(address: str) -> Place:
    """The Place of a message's id, telegram:CHAT:ID or telegram:CHAT:ID:TOPIC, or of a room, telegram CHAT or with a TOPIC."""
    parts = address.replace(":", " ").split(" ")
    chat = int(parts[1])
    is_message = ":" in address
    topic = parts[2 + is_message :]
    return Place(chat, int(topic[0]) if topic else 0, int(parts[2]) if is_message else 0, chat < 0)


def room_of(place: Place) -> str:
    """The room of a Place."""
    return "%s %d" % (_CHANNEL, place.chat) + (" %d" % place.topic if place.topic else "")


def message_of(place: Place) -> str:
    """The id, for the journal, of the message that a Place answers."""
    return "%s:%d:%d" % (_CHANNEL, place.chat, place.reply_to) + (":%d" % place.topic if place.topic else "")


def is_final(error: BotError) -> bool:
    """Whether Telegram will never take this: the chat has gone, or the person has blocked the bot."""
    return error.code in (400, 403)


class Sender:
    """Sends over one BotApi. on_error(error) gets what failed: it may be what stops the channel."""

    def __init__(self, api, on_error):
        self._api = api
        self._on_error = on_error
        self._pause = Timeout()
        """Before its end Telegram wants nothing."""

    @property
    def must_wait(self) -> bool:
        """Whether Telegram has asked to wait: what can be left out is."""
        return not self._pause.is_over

    async def show_typing(self, place: Place) -> None:
        """Show that an answer comes, if that can be shown now."""
        if self.must_wait:
            return
        try:
            await self._called("sendChatAction", _to(place, action="typing"))
        except BotError as error:
            diag.info(_CHANNEL, str(error))

    async def send(self, place: Place, text: str, is_marked: bool) -> int:
        """Send a message, and wait if Telegram wants that; its id."""
        fields = _to(place, link_preview_options={"is_disabled": True})
        if place.reply_to and place.is_group:
            fields["reply_parameters"] = {"message_id": place.reply_to, "allow_sending_without_reply": True}
        return await self._patiently("sendMessage", fields, text, is_marked)

    async def edit(self, place: Place, message: int, text: str, is_marked: bool, is_last: bool) -> None:
        """Let a message show another text; only the last edit waits if Telegram wants that."""
        fields = {"chat_id": place.chat, "message_id": message, "link_preview_options": {"is_disabled": True}}
        try:
            await (self._patiently if is_last else self._marked)("editMessageText", fields, text, is_marked)
        except BotError as error:
            if error.says("not modified"):
                return
            if not error.says("message to edit not found") and not error.says("can't be edited"):
                raise
            diag.info(_CHANNEL, "a message that was to be edited has gone")

    async def _patiently(self, method: str, fields: dict, text: str, is_marked: bool) -> int:
        patience = _PATIENCE
        while True:
            while self.must_wait:
                await sleep_ms(_LOOK_MS)
            try:
                return await self._marked(method, fields, text, is_marked)
            except BotError as error:
                patience -= 1
                if error.code != 429 or error.retry_after > _LONGEST_WAIT or not patience:
                    raise

    async def _marked(self, method: str, fields: dict, text: str, is_marked: bool) -> int:
        """Call with the text as HTML, and as it is if Telegram refuses that."""
        text = printable(text)
        if is_marked:
            try:
                return await self._called(method, dict(fields, text=to_html(text), parse_mode="HTML"))
            except BotError as error:
                if error.code != 400 or not (error.says("parse entities") or error.says("is empty")):
                    raise
                diag.info(_CHANNEL, "Telegram refused the marks of a message, which goes without them")
        return await self._called(method, dict(fields, text=text))

    async def _called(self, method: str, fields: dict) -> int:
        try:
            return await self._api.send(method, **fields)
        except BotError as error:
            if error.code == 429:
                self._pause.begin(1000 * max(1, error.retry_after))
            self._on_error(error)
            raise


def _to(place: Place, **fields) -> dict:
    fields["chat_id"] = place.chat
    if place.topic:
        fields["message_thread_id"] = place.topic
    return fields
