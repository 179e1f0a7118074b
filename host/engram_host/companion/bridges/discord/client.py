"""Discord's client, its messages, and the library's errors as errors of a bridge."""

import asyncio
import contextlib
import logging
import time
from collections import deque
from collections.abc import Iterator
from typing import Any

import aiohttp
import discord

from engram_host.companion.bridges.errors import (
    BridgeUnavailable,
    FileNotFetched,
    NetworkAway,
    SendFailed,
    SendRefused,
    SendUncertain,
    SignInRefused,
    SlowDown,
)
from engram_host.companion.bridges.network import Attachment, Chat, Incoming, edit_id
from engram_host.companion.bridges.texts import SOMEBODY, mark_quoted_rest, split_quotes

_WAITING = 1000  # messages queued for the engine; beyond it the bridge restarts from its mark
LONGEST_TEXT = 2000  # characters of a message
# More breaks within these seconds are an outage, since the library retries without a pause.
_BREAKS, _BREAK_SECONDS = 5, 60.0
_READY_SECONDS = 1.0
_TAKEN_TYPES = (discord.MessageType.default, discord.MessageType.reply)
_NO_INTENT = (
    "Discord refuses to give the bot messages: switch on its message content intent in the developer portal, under Bot, "
    "Privileged Gateway Intents."
)

logging.getLogger("discord").addHandler(logging.NullHandler())
logging.getLogger("discord").propagate = False  # what matters of it comes as an error


class Client(discord.Client):
    """Client that puts what happens into a queue."""

    def __init__(self) -> None:
        intents = discord.Intents(guilds=True, guild_messages=True, dm_messages=True, message_content=True)
        super().__init__(
            intents=intents,
            max_messages=None,
            member_cache_flags=discord.MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            guild_ready_timeout=_READY_SECONDS,
            allowed_mentions=discord.AllowedMentions.none(),
            max_ratelimit_timeout=30.0,
        )
        self.events: asyncio.Queue[tuple[str, Any]] = asyncio.Queue(_WAITING)
        self._failed = asyncio.Event()
        self._failure = ""
        self._breaks: deque[float] = deque(maxlen=_BREAKS)

    def put(self, kind: str, value: Any = None) -> None:
        try:
            self.events.put_nowait((kind, value))
        except asyncio.QueueFull:
            self.fail("more messages came than could be taken.")

    def fail(self, problem: str) -> None:
        self._failure = problem
        self._failed.set()

    async def fails(self) -> None:
        await self._failed.wait()
        raise NetworkAway(self._failure)

    async def on_connect(self) -> None:
        self.put("connect")

    async def on_resumed(self) -> None:
        self.put("resumed")

    async def on_ready(self) -> None:
        self.put("ready")

    async def on_message(self, message: discord.Message) -> None:
        self.put("message", message)

    async def on_raw_message_edit(self, payload: discord.RawMessageUpdateEvent) -> None:
        if payload.message.edited_at is not None:  # not only a preview of a link that was added
            self.put("edit", payload.message)

    async def on_disconnect(self) -> None:
        now = time.monotonic()
        self._breaks.append(now)
        if len(self._breaks) == _BREAKS and now - self._breaks[0] < _BREAK_SECONDS:
            self.fail("Discord ends the connection again and again.")


# --- incoming messages


def incoming_of(message: discord.Message, client: discord.Client, *, is_edit: bool = False) -> Incoming | None:
    me = client.user
    if me is None or message.author.bot or message.webhook_id or message.type not in _TAKEN_TYPES:
        return None
    passed_on = message.message_snapshots[0] if message.message_snapshots else None
    files = [*message.attachments, *(passed_on.attachments if passed_on else ())]
    text, quoted = split_quotes(mark_quoted_rest(message.content))
    if not text and passed_on is not None:
        text, quoted, forwarded = passed_on.content, "", _origin(message, client)
        is_named = False
    else:
        quoted = "\n".join(part for part in (_answered(message), passed_on and passed_on.content, quoted) if part)
        forwarded, is_named = "", f"<@{me.id}>" in text or f"<@!{me.id}>" in text
    attachments = tuple(map(_attachment, files))
    if not (text or quoted or attachments):
        return None
    is_group, own_id = message.guild is not None, str(message.id)
    return Incoming(
        id=edit_id(own_id, message.edited_at, message.content) if is_edit else own_id,
        chat=_chat_of(message.channel, is_group=is_group),
        sender=str(message.author.id),
        sender_name=message.author.display_name,
        text=text if forwarded else _without_mention(text, message, me.id),
        is_mentioned=not is_group or is_named or _replies_to(message, me.id),
        attachments=attachments,
        at=int(message.created_at.timestamp()),
        forwarded=forwarded,
        quoted=_named(quoted, message),
        edits=own_id if is_edit else "",
    )


def _chat_of(channel: Any, *, is_group: bool) -> Chat:
    if isinstance(channel, discord.Thread):
        return Chat(str(channel.parent_id), str(channel.id), is_group)
    return Chat(str(channel.id), "", is_group)


def _origin(message: discord.Message, client: discord.Client) -> str:
    channel = client.get_channel(message.reference.channel_id) if message.reference else None
    name = getattr(channel, "name", "")
    return f"the channel {name}" if name else SOMEBODY


def _answered(message: discord.Message) -> str:
    replied = message.reference.resolved if message.reference else None
    if not isinstance(replied, discord.Message):
        return ""
    held = [f"[{_attachment(one).kind}]" for one in replied.attachments]
    return _named(" ".join([*held, replied.content]).strip(), replied)


def _without_mention(text: str, message: discord.Message, me: int) -> str:
    for own in (f"<@{me}>", f"<@!{me}>"):
        if text.startswith(own):
            text = text[len(own) :].lstrip(" ,:\n") or f"@{message.guild.me.name if message.guild else ''}"
    return _named(text, message)


def _named(text: str, message: discord.Message) -> str:
    for user in message.mentions:
        text = text.replace(f"<@{user.id}>", f"@{user.display_name}").replace(f"<@!{user.id}>", f"@{user.display_name}")
    return text


def _replies_to(message: discord.Message, me: int) -> bool:
    replied = message.reference.resolved if message.reference else None
    return isinstance(replied, discord.Message) and replied.author.id == me


def _attachment(file: discord.Attachment) -> Attachment:
    kinds = {"image": "photo", "audio": "audio", "video": "video"}
    kind: Any = kinds.get((file.content_type or "").partition("/")[0], "file")

    async def fetch(_most: int) -> bytes:
        try:
            return await file.read()
        except (discord.DiscordException, aiohttp.ClientError, OSError, TimeoutError) as error:
            raise FileNotFetched(f"Discord does not give it ({type(error).__name__}): send it again.") from None

    return Attachment(kind, file.filename, file.size, fetch)


# --- errors


@contextlib.contextmanager
def connect_errors() -> Iterator[None]:
    try:
        yield
    except discord.LoginFailure:
        raise SignInRefused("Discord does not know the bot: set its token again.") from None
    except discord.PrivilegedIntentsRequired:
        raise BridgeUnavailable(_NO_INTENT) from None
    except discord.ConnectionClosed as error:
        if error.code == 4004:
            raise SignInRefused("Discord does not know the bot: set its token again.") from None
        if error.code in (4013, 4014):
            raise BridgeUnavailable(_NO_INTENT) from None
        raise NetworkAway(f"Discord has ended the connection (code {error.code}).") from None
    except discord.HTTPException as error:
        raise NetworkAway(f"Discord answers {error.status}.") from None
    except (discord.DiscordException, aiohttp.ClientError, OSError, TimeoutError) as error:
        raise NetworkAway(f"Discord cannot be reached: {type(error).__name__}.") from None


@contextlib.contextmanager
def send_errors() -> Iterator[None]:
    try:
        yield
    except discord.RateLimited as error:
        raise SlowDown(error.retry_after) from None
    except discord.HTTPException as error:
        said = f"Discord refuses the message: {error.text or error.status}."
        if error.status == 429:
            raise SlowDown(float(getattr(error.response, "headers", {}).get("Retry-After", 60))) from None
        if error.status == 401:
            raise SendFailed("Discord does not know the bot any more.") from None
        if error.status >= 500:
            raise SendUncertain("nobody knows whether the message arrived: Discord is in trouble.") from None
        raise SendRefused(said) from None
    except aiohttp.ClientConnectorError:
        raise SendFailed("Discord cannot be reached.") from None
    except (discord.DiscordException, aiohttp.ClientError, OSError, TimeoutError) as error:
        raise SendUncertain(f"nobody knows whether the message arrived: {type(error).__name__}.") from None
