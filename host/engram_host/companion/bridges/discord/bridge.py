"""Discord, over its gateway and REST API: private chats, guild channels and threads.

After a long break, messages since the mark are fetched, up to a number in each channel.
"""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import AsyncIterator, Mapping
from typing import Any

import aiohttp
import discord
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import INTERNAL_API_VERSION, Route

from engram_host.companion.bridges.connections import run_until_one_ends
from engram_host.companion.bridges.discord.client import LONGEST_TEXT, Client, connect_errors, incoming_of, send_errors
from engram_host.companion.bridges.errors import BridgeUnavailable, NetworkAway, SendFailed
from engram_host.companion.bridges.network import BridgeHost, Chat, Features

_URL = "https://discord.com/api"
_CAUGHT_UP_CHANNELS = 50
# Limit for channels, and for messages of each channel, fetched after a break.
_CAUGHT_UP_MESSAGES = 100
# Newest private chats kept in the mark, since Discord gives bots no list of them.
_PRIVATE_CHATS = 60

_log = logging.getLogger(__name__)


def connect(values: Mapping[str, str]) -> "Discord":
    token, url = values["token"].strip(), values["url"].rstrip("/")
    if not url.startswith(("https://", "http://")):
        raise BridgeUnavailable("the address of Discord's API begins with https://.")
    if not token.isascii() or not token.isprintable() or " " in token:
        raise BridgeUnavailable("a token of Discord has letters, digits, dots, - and _ only: copy all of it.")
    return Discord(token, url)


class Discord:
    def __init__(self, token: str, url: str):
        self._token = token
        self._url = url
        self._client: Client | None = None

    @property
    def features(self) -> Features:
        return Features(LONGEST_TEXT, edit_seconds=1.5, command_signs="/!")

    async def check(self) -> str:
        async with self._signed_in() as client:
            return str(client.user)

    async def run(self, host: BridgeHost) -> None:
        async with self._signed_in() as client:
            self._client = client
            if client.user is not None:
                await host.claim(str(client.user.id))
            mark = _Mark(await host.load_mark())
            try:
                with connect_errors():
                    await run_until_one_ends(
                        client.connect(reconnect=False), self._take_events(client, host, mark), client.fails()
                    )
                raise NetworkAway("Discord has ended the connection.")
            finally:
                self._client = None

    async def send(self, chat: Chat, text: str, key: str, reply_to: str = "", is_plain: bool = False) -> str:
        target = self._open_client().get_partial_messageable(int(chat.thread or chat.id))
        more: dict[str, Any] = {}
        if reply_to:
            more["reference"] = discord.MessageReference(
                message_id=int(reply_to), channel_id=target.id, fail_if_not_exists=False
            )
        with send_errors():
            return str((await target.send(_content(text, is_plain), suppress_embeds=True, **more)).id)

    async def edit(self, chat: Chat, message: str, text: str, is_plain: bool = False) -> None:
        target = self._open_client().get_partial_messageable(int(chat.thread or chat.id))
        with send_errors():
            await target.get_partial_message(int(message)).edit(content=_content(text, is_plain))

    async def show_typing(self, chat: Chat, is_typing: bool) -> None:
        if not is_typing or self._client is None:
            return  # the sign goes by itself, with the next message or after ten seconds
        with contextlib.suppress(discord.DiscordException, aiohttp.ClientError, OSError):
            await self._client.get_partial_messageable(int(chat.thread or chat.id)).typing()

    # --- the connection

    @contextlib.asynccontextmanager
    async def _signed_in(self) -> AsyncIterator[Client]:
        Route.BASE = f"{self._url}/v{INTERNAL_API_VERSION}"  # the library has one address for all its clients
        client = Client()
        try:
            with connect_errors():
                async with client:
                    await client.login(self._token)
                    if self._url != _URL:
                        _shards, gateway, _limit = await client.http.get_bot_gateway()
                        DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(gateway)
                    yield client
        finally:
            # The library keeps waiting for guilds after it is closed.
            if (waiting := getattr(client._connection, "_ready_task", None)) is not None:
                waiting.cancel()
                await asyncio.gather(waiting, return_exceptions=True)

    def _open_client(self) -> Client:
        if self._client is None:
            raise SendFailed("the bridge is not connected to Discord now.")
        return self._client

    async def _take_events(self, client: Client, host: BridgeHost, mark: "_Mark") -> None:
        while True:
            kind, value = await client.events.get()
            if kind in ("connect", "resumed"):
                host.connected(str(client.user))
                if kind == "connect":
                    mark.begin_session()
            elif kind == "ready":
                await self._catch_up(client, host, mark)
            else:
                await self._take(value, client, host, mark, is_edit=kind == "edit")
                await mark.save(host)

    async def _take(
        self, message: discord.Message, client: Client, host: BridgeHost, mark: "_Mark", *, is_edit: bool = False
    ) -> None:
        incoming = incoming_of(message, client, is_edit=is_edit)
        if incoming is not None:
            await host.receive(incoming)
        mark.add(message)

    async def _catch_up(self, client: Client, host: BridgeHost, mark: "_Mark") -> None:
        since = mark.at_start
        for place in self._places_since(client, since, mark) if since else ():
            count = 0
            try:
                after = discord.Object(since)
                async for message in place.history(limit=_CAUGHT_UP_MESSAGES, after=after, oldest_first=True):
                    await self._take(message, client, host, mark)
                    count += 1
            except (discord.Forbidden, discord.NotFound):
                continue  # a channel that the bot may not read, or that has gone
            if count == _CAUGHT_UP_MESSAGES:
                _log.warning("%d messages or more came while the bridge was away: later ones are left", count)
        mark.is_caught_up = True
        await mark.save(host)

    def _places_since(self, client: Client, since: int, mark: "_Mark") -> list[Any]:
        found = [
            place
            for guild in client.guilds
            for place in (*guild.text_channels, *guild.threads)
            if (place.last_message_id or 0) > since
        ]
        found.sort(key=lambda place: place.last_message_id or 0, reverse=True)
        private = [client.get_partial_messageable(number) for number in mark.private_chats]
        return [*private, *found[:_CAUGHT_UP_CHANNELS]]


class _Mark:
    def __init__(self, saved: str):
        numbers = [int(part) for part in saved.split() if part.isdecimal()]
        self.at_start = self._newest = numbers[0] if numbers else 0
        self.private_chats: deque[int] = deque(numbers[1:], _PRIVATE_CHATS)
        self.is_caught_up = not self.at_start
        self._saved = saved

    def begin_session(self) -> None:
        if self.is_caught_up:
            self.at_start, self.is_caught_up = self._newest, not self._newest

    def add(self, message: discord.Message) -> None:
        self._newest = max(self._newest, message.id)
        if message.guild is None and not message.author.bot:
            with contextlib.suppress(ValueError):
                self.private_chats.remove(message.channel.id)
            self.private_chats.append(message.channel.id)

    async def save(self, host: BridgeHost) -> None:
        newest = self._newest if self.is_caught_up else self.at_start
        mark = " ".join(map(str, (newest, *self.private_chats)))
        if mark != self._saved and newest:
            await host.save_mark(mark)
            self._saved = mark


def _content(text: str, is_plain: bool) -> str:
    """Return a text as Discord shows it; unchanged if escapes would make it too long."""
    escaped = discord.utils.escape_markdown(text) if is_plain else text
    return escaped if len(escaped) <= LONGEST_TEXT else text
