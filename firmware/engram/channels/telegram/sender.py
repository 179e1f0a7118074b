"""Sends a bot's messages within Telegram's limits; a paused chat does not delay others."""

from engram import diag
from engram.channels.telegram.bot_api import NAME, BotError, Destination
from engram.channels.telegram.markup import to_html
from engram.clock import Timeout
from engram.compat import sleep_ms
from engram.text import printable

_TRIES = const(4)  # of a call that is changed as its refusal asks, or waits a little
_PAUSED = const(16)  # paused chats; beyond that the whole bot pauses
_EVERY_CHAT = const(0)
_LONGEST_PAUSE_S = const(86400)  # what ticks can count
# Telegram's descriptions of chats that are gone, besides 403.
_NEVER = const((
    "chat not found", "user not found", "peer_id_invalid", "deactivated", "blocked", "was kicked", "no rights to send",
    "not enough rights", "administrator rights", "_forbidden", "channel_private", "chat_restricted", "topic_closed",
))  # fmt: skip
_NO_TOPIC = const(("thread not found", "topic_deleted"))

_SHORT_WAIT_MS = const(3000)  # what a message waits for its chat: with more it is delivered later


def is_final(error: BotError) -> bool:
    """True if the chat is gone or has blocked the bot."""
    return error.code == 403 or (error.code == 400 and error.says_any(_NEVER))


def is_refused(error: BotError) -> bool:
    """True if Telegram refuses this text but may accept another."""
    return error.code == 400 and not is_final(error) and not error.moved_to


class Sender:
    """A sender over one BotApi; on_moved(chat, new) reports a group that became a supergroup."""

    def __init__(self, api, on_moved):
        self._api = api
        self._on_moved = on_moved
        self._moved = {}  # new ids of groups, as reported since the start
        self._pauses = {}
        """By chat the Timeout that Telegram demands."""

    def pause(self, chat: int, seconds: int) -> None:
        """Pause a chat for some seconds, or all chats if it is 0."""
        for other in [each for each in self._pauses if self._pauses[each].is_over]:
            self._pauses.pop(other)
        if chat not in self._pauses and len(self._pauses) >= _PAUSED:
            chat = _EVERY_CHAT
        pause = self._pauses[chat] = self._pauses.get(chat) or Timeout()
        pause.begin(max(pause.left_ms, 1000 * min(max(1, seconds), _LONGEST_PAUSE_S)))

    def wait_ms(self, chat: int) -> int:
        """Return the remaining pause of a chat, 0 without one."""
        return max([self._pauses[each].left_ms for each in (chat, _EVERY_CHAT) if each in self._pauses] + [0])

    def must_wait(self, chat: int) -> bool:
        """True if messages to a chat have to be delivered later."""
        return self.wait_ms(chat) > _SHORT_WAIT_MS

    async def show_typing(self, destination: Destination) -> None:
        """Show that an answer comes, if that can be shown now."""
        if self.wait_ms(destination.chat):
            return
        try:
            await self._call("sendChatAction", destination, {"action": "typing"})
        except BotError as error:
            diag.info(NAME, str(error))

    async def send(self, destination: Destination, text: str, is_marked: bool) -> None:
        """Send a message as HTML, or as plain text if Telegram refuses that."""
        text = printable(text)
        fields = {"link_preview_options": {"is_disabled": True}}
        if destination.reply_to and destination.is_group:
            fields["reply_parameters"] = {"message_id": destination.reply_to, "allow_sending_without_reply": True}
        if is_marked:
            try:
                more = {"text": to_html(text), "parse_mode": "HTML"}
                await self._call("sendMessage", destination, dict(fields, **more))
                return
            except BotError as error:
                if not is_refused(error):
                    raise
                diag.info(NAME, "a message goes without its marks: %s" % error)
        await self._call("sendMessage", destination, dict(fields, text=text))

    async def _call(self, method: str, destination: Destination, fields: dict) -> None:
        chat = destination.chat
        if destination.topic:
            fields["message_thread_id"] = destination.topic
        for tries in range(_TRIES, 0, -1):
            await self._wait(chat)
            fields["chat_id"] = self._moved.get(chat, chat)
            if fields["chat_id"] != chat:
                fields.pop("reply_parameters", None)  # there another message has that number
            try:
                await self._api.call(method, fields, is_repeatable=False)
                return
            except BotError as error:
                if not self._mend(error, chat, fields) or tries == 1:
                    raise

    async def _wait(self, chat: int) -> None:
        """Wait for a short pause of a chat; BotError if it is longer."""
        if self.must_wait(chat):
            raise BotError(429, "Telegram takes nothing for this chat for %d s" % (self.wait_ms(chat) // 1000 + 1))
        await sleep_ms(self.wait_ms(chat))

    def _mend(self, error: BotError, chat: int, fields: dict) -> bool:
        """Adapt a refused call; True if it may be repeated."""
        if error.code == 429:
            self.pause(chat, error.retry_after)
        elif error.moved_to:
            self._moved[chat] = error.moved_to
            self._on_moved(chat, error.moved_to)
        elif "message_thread_id" in fields and error.says_any(_NO_TOPIC):
            diag.info(NAME, "a topic has gone: its answer goes to the chat")
            fields.pop("message_thread_id")
        else:
            return False
        return True
