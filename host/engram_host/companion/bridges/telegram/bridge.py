"""Telegram, over its Bot API: long polls, in private chats, groups and topics.

A poll confirms the updates of the one before, which the engine has by then.
"""

import asyncio
import contextlib
import functools
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from telegram import Bot, BotCommand, LinkPreviewOptions, ReplyParameters
from telegram.constants import ChatAction, ParseMode
from telegram.error import BadRequest, TelegramError

from engram.channels.telegram.markup import to_html
from engram.text import part
from engram_host.companion.bridges.errors import BridgeUnavailable, FileNotFetched, SendFailed
from engram_host.companion.bridges.network import (
    Attachment,
    BridgeHost,
    Chat,
    Features,
    FileFetch,
    Incoming,
    edit_id,
    utf16_units,
)
from engram_host.companion.bridges.telegram.client import (
    UNREADABLE,
    get_updates,
    is_address,
    make_bot,
    not_telegram,
    poll_errors,
    says,
    send_errors,
)
from engram_host.companion.bridges.telegram.words import (
    HELD,
    NAMED,
    forwarded_from,
    full_name,
    quoted_in,
    without_blockquotes,
)

LONGEST_TEXT = 4096  # UTF-16 units of a message
_POLL_SECONDS = 50
_AT_ONCE = 50
_MOST_COMMANDS = 100
_COMMAND_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_")
_DESCRIPTION = 256
_MESSAGE, _EDITED = "message", "edited_message"
_ALBUM_SECONDS = 1.0  # wait for the rest of an album, whose messages come one after the other

_log = logging.getLogger(__name__)


def connect(values: Mapping[str, str]) -> "Telegram":
    token, url = values["token"].strip(), values["url"].rstrip("/")
    if not is_address(url):
        raise BridgeUnavailable("the address of Telegram's Bot API is https:// and a host.")
    number, _, secret = token.partition(":")
    if not number.isdecimal() or not secret.replace("-", "").replace("_", "").isalnum() or not token.isascii():
        raise BridgeUnavailable("a token of Telegram is a number, a colon and a secret: copy all of it.")
    return Telegram(token, url)


class Telegram:
    def __init__(self, token: str, url: str):
        self._token = token
        self._url = url
        self._bot: Bot | None = None
        self._me: dict[str, Any] = {}

    @property
    def features(self) -> Features:
        return Features(LONGEST_TEXT, utf16_units, edit_seconds=1.5)

    async def check(self) -> str:
        async with self._signed_in():
            return self._account

    async def run(self, host: BridgeHost) -> None:
        async with self._signed_in() as bot:
            self._bot = bot
            await self._set_menu(bot, host)
            await host.claim(str(self._me["id"]))
            host.connected(self._account)
            offset = 0
            while True:
                found = await self._updates(bot, offset)
                for updates in _by_album(found):
                    await self._take(updates, host)
                # After a poll without updates all are confirmed, and Telegram may begin with lower numbers.
                offset = max(map(_number, found), default=-1) + 1

    async def send(self, chat: Chat, text: str, key: str, reply_to: str = "", is_plain: bool = False) -> str:
        fields = _text(text, is_plain) | _topic(chat)
        if reply_to:
            fields["reply_parameters"] = ReplyParameters(int(reply_to), allow_sending_without_reply=True)
        bot = self._connected()
        with send_errors(self._token, is_plain):
            return str((await bot.send_message(chat_id=int(chat.id), **fields)).message_id)

    async def edit(self, chat: Chat, message: str, text: str, is_plain: bool = False) -> None:
        bot, fields = self._connected(), _text(text, is_plain)
        with send_errors(self._token, is_plain):
            try:
                await bot.edit_message_text(chat_id=int(chat.id), message_id=int(message), **fields)
            except BadRequest as error:
                if not says(error, "message is not modified"):
                    raise

    async def show_typing(self, chat: Chat, is_typing: bool) -> None:
        if not is_typing or self._bot is None:
            return  # the sign goes by itself, with the next message or after five seconds
        with contextlib.suppress(TelegramError, *UNREADABLE):
            await self._bot.send_chat_action(int(chat.id), ChatAction.TYPING, **_topic(chat))

    # --- the connection

    @property
    def _account(self) -> str:
        return "@" + part(self._me, "username", str)

    @contextlib.asynccontextmanager
    async def _signed_in(self) -> AsyncIterator[Bot]:
        bot = make_bot(self._url, self._token)
        try:
            with poll_errors(self._token):
                await bot.initialize()
                self._me = bot.bot.to_dict()
            if not part(self._me, "id", int):
                raise not_telegram()
            yield bot
        finally:
            self._bot = None
            await bot.shutdown()

    async def _set_menu(self, bot: Bot, host: BridgeHost) -> None:
        menu = [
            BotCommand(command.name, command.description[:_DESCRIPTION])
            for command in host.menu
            if set(command.name) <= _COMMAND_CHARACTERS
        ]
        try:
            await bot.set_my_commands(menu[:_MOST_COMMANDS])
        except (TelegramError, *UNREADABLE) as error:
            _log.info("Telegram did not take the menu of commands (%s)", type(error).__name__)

    async def _updates(self, bot: Bot, offset: int) -> list[Any]:
        found = await self._poll(bot, offset, _POLL_SECONDS)
        if found and _album(found[-1]):
            await asyncio.sleep(_ALBUM_SECONDS)
            found = await self._poll(bot, _number(found[0]), 0)
        return found

    async def _poll(self, bot: Bot, offset: int, wait_seconds: int) -> list[Any]:
        with poll_errors(self._token):
            found = await get_updates(bot, offset, _AT_ONCE, wait_seconds, [_MESSAGE, _EDITED])
        if not isinstance(found, list) or not all(_number(update) > 0 for update in found):
            raise not_telegram()
        return found

    async def _take(self, updates: list[Any], host: BridgeHost) -> None:
        pieces: list[Incoming] = []
        for update in updates:
            message = part(update, _MESSAGE, dict) or part(update, _EDITED, dict)
            incoming = _incoming(message, self._me, lambda file: functools.partial(self._fetch, file))
            if incoming is not None and _EDITED in update:
                new_id = edit_id(incoming.id, part(message, "edit_date", int), incoming.text)
                incoming = replace(incoming, id=new_id, edits=incoming.id)
            if incoming is not None:
                pieces.append(incoming)
        if pieces:
            await host.receive(
                replace(
                    pieces[0],
                    text="\n".join(each.text for each in pieces if each.text),
                    is_mentioned=any(each.is_mentioned for each in pieces),
                    attachments=tuple(file for each in pieces for file in each.attachments),
                )
            )

    async def _fetch(self, name: str, most: int) -> bytes:
        if self._bot is None:
            raise FileNotFetched("the bridge is not connected to Telegram now: send it again.")
        try:
            file = await self._bot.get_file(name)
            if (file.file_size or 0) > most:
                raise FileNotFetched(f"it has more than {most} bytes.")
            return bytes(await file.download_as_bytearray())
        except (TelegramError, *UNREADABLE) as error:
            # Not the error's text: it may have the address, and so the token.
            raise FileNotFetched(f"Telegram does not give it ({type(error).__name__}): send it again.") from None

    def _connected(self) -> Bot:
        if self._bot is None:
            raise SendFailed("the bridge is not connected to Telegram now.")
        return self._bot


# --- incoming messages: a field of a wrong type counts as absent


def _incoming(message: dict[str, Any], me: dict[str, Any], fetch_of: Callable[[str], FileFetch]) -> Incoming | None:
    chat, sender = part(message, "chat", dict), part(message, "from", dict)
    kind, number = part(chat, "type", str), part(message, "message_id", int)
    if kind not in ("private", "group", "supergroup") or not part(sender, "id", int) or number <= 0:
        return None
    if part(sender, "is_bot", bool) or message.get("sender_chat"):
        return None
    attachments = _attachments(message, fetch_of)
    written = part(message, "text", str) or part(message, "caption", str)
    thread = part(message, "message_thread_id", int) if part(message, "is_topic_message", bool) else 0
    forwarded, quoted = forwarded_from(message), quoted_in(message, thread)
    text, is_named = written, False
    if not forwarded:  # what others have written names no bot in the sender's name
        entities = part(message, "entities", list) or part(message, "caption_entities", list)
        own, block = without_blockquotes(written, entities)
        quoted = "\n".join(each for each in (quoted, block) if each)
        text, is_named = _addressed(own, entities, me)
    if text is None or not (text.strip() or quoted or attachments):
        return None
    is_group = kind != "private"
    return Incoming(
        id=str(number),
        chat=Chat(str(part(chat, "id", int)), str(thread or ""), is_group),
        sender=str(part(sender, "id", int)),
        sender_name=full_name(sender),
        text=text,
        is_mentioned=not is_group or is_named or _replies_to(message, thread, me),
        attachments=attachments,
        at=part(message, "date", int),
        forwarded=forwarded,
        quoted=quoted,
    )


def _number(update: Any) -> int:
    return part(update, "update_id", int)


def _album(update: Any) -> str:
    message = part(update, _MESSAGE, dict)
    group = part(message, "media_group_id", str)
    return f"{part(part(message, 'chat', dict), 'id', int)} {group}" if group else ""


def _by_album(updates: Iterable[Any]) -> list[list[Any]]:
    found: dict[str, list[Any]] = {}
    for update in updates:
        found.setdefault(_album(update) or f"update {_number(update)}", []).append(update)
    return list(found.values())


def _addressed(written: str, entities: list[Any], me: dict[str, Any]) -> tuple[str | None, bool]:
    """Return the text without the bot's name (None: for another bot), and True if it names the bot."""
    name = "@" + part(me, "username", str).lower()
    text, is_named = written, False
    for entity in entities:
        kind, at = part(entity, "type", str), part(entity, "offset", int)
        said = _utf16_slice(written, at, part(entity, "length", int))
        if kind == "bot_command" and "@" in said:
            command, _, to = said.partition("@")
            is_own = f"@{to.lower()}" == name
            if at == 0:
                text = command + written[len(said) :] if is_own else None
            is_named |= is_own
        elif (kind == "mention" and said.lower() == name) or part(part(entity, "user", dict), "id", int) == me["id"]:
            is_named = True
            if at == 0:
                text = written[len(said) :].lstrip(" ,:\n") or written
    return text, is_named


def _utf16_slice(text: str, at: int, length: int) -> str:
    data = text.encode("utf-16-le", "surrogatepass")
    return data[2 * at : 2 * (at + length)].decode("utf-16-le", "replace")


def _replies_to(message: dict[str, Any], thread: int, me: dict[str, Any]) -> bool:
    replied = part(message, "reply_to_message", dict)
    if thread and part(replied, "message_id", int) == thread:
        return False
    return part(part(replied, "from", dict), "id", int) == me["id"]


def _attachments(message: dict[str, Any], fetch_of: Callable[[str], FileFetch]) -> tuple[Attachment, ...]:
    for field, kind in HELD:
        if message.get(field):
            sizes = part(message, field, list)  # of a photo, the largest is the last
            held = sizes[-1] if sizes else part(message, field, dict)
            file = part(held, "file_id", str)
            fetch = fetch_of(file) if file else None
            return (Attachment(kind, part(held, "file_name", str), part(held, "file_size", int), fetch),)
    return tuple(Attachment("file", name) for name in NAMED if message.get(name))


# --- outgoing messages


def _text(text: str, is_plain: bool) -> dict[str, Any]:
    marked = {"text": text} if is_plain else {"text": to_html(text), "parse_mode": ParseMode.HTML}
    return {**marked, "link_preview_options": LinkPreviewOptions(is_disabled=True)}


def _topic(chat: Chat) -> dict[str, Any]:
    return {"message_thread_id": int(chat.thread)} if chat.thread else {}
