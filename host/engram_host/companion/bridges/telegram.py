"""Telegram, over its Bot API: long polls for messages, in private chats, groups and topics.

Telegram forgets an update when a later one is asked for: that is done once the engine has it. The mark is the number of the
next update. A group that becomes a supergroup gets another id: what is still to be sent goes there, and as a place where people
talk it is a new group.
"""

import contextlib
import logging
import time
from collections.abc import AsyncIterator, Mapping
from typing import Any, Literal

from aiogram import Bot
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.exceptions import (
    AiogramError,
    ClientDecodeError,
    TelegramAPIError,
    TelegramBadRequest,
    TelegramConflictError,
    TelegramForbiddenError,
    TelegramMigrateToChat,
    TelegramNetworkError,
    TelegramNotFound,
    TelegramRetryAfter,
    TelegramUnauthorizedError,
)
from aiogram.types import BotCommand, LinkPreviewOptions, Message, MessageEntity, ReplyParameters, Update, User
from aiogram.utils.token import TokenValidationError
from aiohttp import ClientConnectorError
from pydantic import ValidationError

from engram.channels.telegram.markup import to_html
from engram_host.companion.bridges.errors import (
    BridgeError,
    BridgeUnavailable,
    MarksRefused,
    NetworkAway,
    SendFailed,
    SendRefused,
    SendUncertain,
    SignInRefused,
    SlowDown,
)
from engram_host.companion.bridges.network import Attachment, BridgeHost, Chat, Features, Incoming, utf16_units

LONGEST_TEXT = 4096
"""UTF-16 units of a message."""
POLL_SECONDS = 50
_PATIENCE_SECONDS = 20
"""The longest silence of Telegram, besides the wait of a long poll."""
_RECENT = 1000
"""Updates before the mark that count as known; numbers that are further back are new ones."""
_FORGOTTEN_SECONDS = 6 * 86_400
"""After a week without an update Telegram chooses other numbers."""
_MOST_COMMANDS = 100
_COMMAND_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_")
_DESCRIPTION = 256
_NO_LINK_PREVIEW = LinkPreviewOptions(is_disabled=True)
_MARKS_REFUSED = ("can't parse entities", "is empty", "must be non-empty")

_log = logging.getLogger(__name__)


def connect(values: Mapping[str, str]) -> "Telegram":
    """The connection of a bridge to Telegram."""
    if not values["url"].startswith(("https://", "http://")):
        raise BridgeUnavailable("the address of Telegram's Bot API begins with https://.")
    return Telegram(values["token"], values["url"])


class Telegram:
    """One bot."""

    def __init__(self, token: str, url: str):
        self._token = token
        self._api = TelegramAPIServer.from_base(url)
        self._bot: Bot | None = None
        self._me = User(id=0, is_bot=True, first_name="")

    @property
    def features(self) -> Features:
        return Features(LONGEST_TEXT, utf16_units, edit_seconds=1.5)

    async def check(self) -> str:
        async with self._signed_in():
            return f"@{self._me.username}"

    async def run(self, host: BridgeHost) -> None:
        async with self._signed_in() as bot:
            await self._set_menu(bot, host)
            host.connected(f"@{self._me.username}")
            mark = await host.load_mark()
            known = int(mark) if mark.isdigit() else 0
            offset, newest_at = 0, time.monotonic()
            while True:
                if time.monotonic() - newest_at > _FORGOTTEN_SECONDS:
                    offset = 0
                updates, following = await self._poll(bot, offset)
                for update in updates:
                    is_known = known - _RECENT <= update.update_id < known or update.update_id < offset
                    incoming = None if is_known else _incoming(update.message, self._me)
                    if incoming is not None:
                        await host.receive(incoming)
                if following:
                    offset, newest_at = following, time.monotonic()
                    await host.save_mark(str(offset))

    async def send(self, chat: Chat, text: str, key: str, reply_to: str = "", is_plain: bool = False) -> str:
        bot = self._open_bot()
        replied = ReplyParameters(message_id=int(reply_to), allow_sending_without_reply=True) if reply_to else None
        with _send_errors():
            sent = await self._following_migration(
                chat,
                lambda chat_id: bot.send_message(
                    chat_id,
                    message_thread_id=int(chat.thread) if chat.thread else None,
                    reply_parameters=replied,
                    link_preview_options=_NO_LINK_PREVIEW,
                    request_timeout=_PATIENCE_SECONDS,
                    **_marked(text, is_plain=is_plain),
                ),
            )
        return str(sent.message_id)

    async def edit(self, chat: Chat, message: str, text: str, is_plain: bool = False) -> None:
        bot = self._open_bot()
        with _send_errors():
            try:
                await bot.edit_message_text(
                    chat_id=int(chat.id),
                    message_id=int(message),
                    link_preview_options=_NO_LINK_PREVIEW,
                    request_timeout=_PATIENCE_SECONDS,
                    **_marked(text, is_plain=is_plain),
                )
            except TelegramBadRequest as error:
                if "not modified" not in error.message:
                    raise

    async def show_typing(self, chat: Chat, is_typing: bool) -> None:
        if not is_typing or self._bot is None:
            return  # the sign goes by itself, with the next message or after five seconds
        topic = int(chat.thread) if chat.thread else None
        with contextlib.suppress(AiogramError):
            await self._bot.send_chat_action(
                int(chat.id), "typing", message_thread_id=topic, request_timeout=_PATIENCE_SECONDS
            )

    @contextlib.asynccontextmanager
    async def _signed_in(self) -> AsyncIterator[Bot]:
        try:
            bot = Bot(self._token, session=AiohttpSession(api=self._api))
        except TokenValidationError:
            raise BridgeUnavailable("a token of Telegram is a number, a colon and a secret: copy all of it.") from None
        try:
            with _poll_errors(self._api):
                self._me = await bot.get_me(request_timeout=_PATIENCE_SECONDS)
            self._bot = bot
            yield bot
        finally:
            self._bot = None
            await bot.session.close()

    def _open_bot(self) -> Bot:
        if self._bot is None:
            raise SendFailed("the bridge is not connected to Telegram now.")
        return self._bot

    async def _set_menu(self, bot: Bot, host: BridgeHost) -> None:
        menu = [
            BotCommand(command=command.name, description=command.description[:_DESCRIPTION])
            for command in host.menu
            if set(command.name) <= _COMMAND_CHARACTERS
        ]
        try:
            await bot.set_my_commands(menu[:_MOST_COMMANDS], request_timeout=_PATIENCE_SECONDS)
        except AiogramError as error:
            _log.info("Telegram did not take the menu of commands: %s", _reason(error))

    async def _poll(self, bot: Bot, offset: int) -> tuple[list[Update], int]:
        """The next updates, and the number after them, 0 if there are none."""
        with _poll_errors(self._api):
            try:
                updates = await bot.get_updates(
                    offset=offset,
                    timeout=POLL_SECONDS,
                    allowed_updates=["message"],
                    request_timeout=POLL_SECONDS + _PATIENCE_SECONDS,
                )
            except ClientDecodeError as error:
                return _readable(error)
        return updates, updates[-1].update_id + 1 if updates else 0

    async def _following_migration(self, chat: Chat, send: Any) -> Message:
        try:
            return await send(int(chat.id))
        except TelegramMigrateToChat as moved:
            return await send(moved.migrate_to_chat_id)


# --- what comes in


def _readable(error: ClientDecodeError) -> tuple[list[Update], int]:
    """Those updates of an answer that the library can read: one that it cannot would else come again for ever."""
    answer = error.data
    result = answer.get("result") if isinstance(answer, dict) else None
    if not isinstance(result, list):
        raise NetworkAway("what answers is not Telegram's Bot API: check the bridge's url.")
    updates, numbers = [], [0]
    for one in result:
        number = one.get("update_id") if isinstance(one, dict) else None
        numbers.append(number + 1 if isinstance(number, int) else 0)
        try:
            updates.append(Update.model_validate(one))
        except ValidationError:
            _log.warning("update %s of Telegram cannot be read, and is passed over", number)
    if max(numbers) == 0:
        raise NetworkAway("Telegram's updates have no numbers: check the bridge's url.")
    return updates, max(numbers)


def _incoming(message: Message | None, me: User) -> Incoming | None:
    """The message of a person; None for what is none, or is for another bot."""
    if message is None or message.from_user is None or message.from_user.is_bot:
        return None
    is_group = message.chat.type in ("group", "supergroup")
    attachments = _attachments(message)
    written = message.text or message.caption or ""
    if not (is_group or message.chat.type == "private") or not (written or attachments):
        return None
    topic = str(message.message_thread_id) if message.is_topic_message and message.message_thread_id else ""
    text, is_named = _addressed(written, message.entities or message.caption_entities or [], me)
    if text is None:
        return None
    return Incoming(
        id=str(message.message_id),
        chat=Chat(str(message.chat.id), topic, is_group),
        sender=str(message.from_user.id),
        sender_name=message.from_user.full_name,
        text=text,
        is_mentioned=not is_group or is_named or _replies_to(message, me),
        attachments=attachments,
        at=int(message.date.timestamp()),
    )


def _addressed(written: str, entities: list[MessageEntity], me: User) -> tuple[str | None, bool]:
    """The text without the bot's name at its beginning, None if it is a command for another bot; whether it names this one."""
    name = f"@{(me.username or '').lower()}"
    text, is_named = written, False
    for entity in entities:
        part = entity.extract_from(written)
        if entity.type == "bot_command" and "@" in part:
            command, _at, to = part.partition("@")
            is_own = f"@{to.lower()}" == name
            if entity.offset == 0:
                text = command + written[len(part) :] if is_own else None
            is_named |= is_own
        elif (entity.type == "mention" and part.lower() == name) or (entity.user and entity.user.id == me.id):
            is_named = True
            if entity.offset == 0:
                text = written[len(part) :].lstrip(" ,:\n") or written
    return text, is_named


def _replies_to(message: Message, me: User) -> bool:
    """Whether a message replies to one of the bot. In a topic each one replies to what began the topic."""
    replied = message.reply_to_message
    if replied is None or (message.is_topic_message and replied.message_id == message.message_thread_id):
        return False
    return replied.from_user is not None and replied.from_user.id == me.id


def _attachments(message: Message) -> tuple[Attachment, ...]:
    if message.photo:
        return (Attachment("photo", "", message.photo[-1].file_size or 0),)
    held_kinds: tuple[tuple[Literal["video", "audio", "file"], Any], ...] = (
        ("video", message.video or message.animation or message.video_note),
        ("audio", message.audio or message.voice),
        ("file", message.document),
    )
    for kind, held in held_kinds:
        if held is not None:
            return (Attachment(kind, getattr(held, "file_name", None) or "", held.file_size or 0),)
    for name in ("sticker", "location", "contact", "poll", "dice", "game", "story", "checklist"):
        if getattr(message, name, None) is not None:
            return (Attachment("file", name),)
    return ()


# --- what goes out, and what goes wrong


def _marked(text: str, *, is_plain: bool) -> dict[str, Any]:
    return {"text": text} if is_plain else {"text": to_html(text), "parse_mode": "HTML"}


def _reason(error: AiogramError) -> str:
    """What a library's error says; it never has the token, which stands in the address."""
    return error.message if isinstance(error, TelegramAPIError | ClientDecodeError) else type(error).__name__


@contextlib.contextmanager
def _poll_errors(api: TelegramAPIServer) -> Any:
    """Signing in and polling: the library's errors as ours."""
    try:
        yield
    except (TelegramUnauthorizedError, TelegramNotFound):
        raise SignInRefused("Telegram does not know the bot: set its token again.") from None
    except TelegramConflictError as error:
        if "webhook" in error.message:
            raise BridgeUnavailable(
                "a webhook is set for this bot, so Telegram gives no messages: remove it with the Bot API's deleteWebhook, "
                "or take another bot."
            ) from None
        raise NetworkAway("another program polls this bot: stop it, or give the bridge a bot of its own.") from None
    except TelegramRetryAfter as error:
        raise NetworkAway(f"Telegram asks to wait {error.retry_after} seconds.") from None
    except ClientDecodeError:
        raise NetworkAway("what answers is not Telegram's Bot API, or it is in trouble.") from None
    except AiogramError as error:
        raise NetworkAway(f"Telegram cannot be reached: {_reason(error)}.") from None


@contextlib.contextmanager
def _send_errors() -> Any:
    """Sending: the library's errors as ours."""
    try:
        yield
    except AiogramError as error:
        raise _send_error(error) from None


def _send_error(error: AiogramError) -> BridgeError:
    if isinstance(error, TelegramRetryAfter):
        return SlowDown(error.retry_after)
    if isinstance(error, TelegramBadRequest):
        said = error.message.lower()
        if any(words in said for words in _MARKS_REFUSED):
            return MarksRefused(f"Telegram does not take the marks: {error.message}.")
        return SendRefused(f"Telegram refuses the message: {error.message}.")
    if isinstance(error, TelegramForbiddenError | TelegramMigrateToChat):
        return SendRefused(f"Telegram refuses the message: {_reason(error)}.")
    if isinstance(error, TelegramUnauthorizedError | TelegramNotFound):
        return SendFailed("Telegram does not know the bot any more.")
    if isinstance(error, TelegramNetworkError) and isinstance(error.__cause__, ClientConnectorError):
        return SendFailed("Telegram cannot be reached.")
    return SendUncertain(f"nobody knows whether the message arrived: {_reason(error)}.")
