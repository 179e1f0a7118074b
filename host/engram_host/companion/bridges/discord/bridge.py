"""Discord, over its gateway and REST API: private chats, guild channels, threads and slash commands.

After a long break, messages since the mark are fetched, up to a number in each channel.
"""

import asyncio
import contextlib
import hashlib
import logging
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Mapping
from typing import Any

import aiohttp
import discord
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import INTERNAL_API_VERSION, Route

from engram_host.companion.bridges.discord.client import Client, chat_of, connect_errors, incoming_of, send_errors
from engram_host.companion.bridges.discord.marks import escaped, rendered
from engram_host.companion.bridges.errors import BridgeUnavailable, NetworkAway, SendFailed
from engram_host.companion.bridges.network import BridgeHost, Chat, Features, Incoming

_URL = "https://discord.com/api"
_MOST_UNITS = 1900  # leaves room for marks that Discord does not know, which become longer ones
_CAUGHT_UP_CHANNELS = 50
# Limit for channels, and for messages of each channel, fetched after a break.
_CAUGHT_UP_MESSAGES = 100
# Newest private chats kept in the mark, since Discord gives bots no list of them.
_PRIVATE_CHATS = 60
_OPEN_COMMANDS = 100
_COMMAND_SECONDS = 14 * 60  # Discord accepts a command's token for 15 minutes
_ACKNOWLEDGE_SECONDS = 2.0  # Discord wants an acknowledgement within 3 seconds
_MOST_COMMANDS = 100
# Allows commands in the bot's guilds and private chats only.
_WHERE: Mapping[str, Any] = {"contexts": [0, 1], "integration_types": [0]}

_log = logging.getLogger(__name__)


def connect(values: Mapping[str, str]) -> "Discord":
    """Create the connection of a bridge."""
    token, url = values["token"].strip(), values["url"].rstrip("/")
    if not url.startswith(("https://", "http://")):
        raise BridgeUnavailable("the address of Discord's API begins with https://.")
    if not token.isascii() or not token.isprintable() or " " in token:
        raise BridgeUnavailable("a token of Discord has letters, digits, dots, - and _ only: copy all of it.")
    return Discord(token, url)


class Discord:
    """Connection of one bot."""

    def __init__(self, token: str, url: str):
        self._token = token
        self._url = url
        self._client: Client | None = None
        # Slash commands without an answer yet, by id.
        self._commands: OrderedDict[str, tuple[float, Chat, discord.Interaction]] = OrderedDict()
        # Ids of the newest commands, which are not messages and cannot be replied to.
        self._asked: deque[str] = deque(maxlen=_OPEN_COMMANDS)

    @property
    def features(self) -> Features:
        return Features(_MOST_UNITS, edit_seconds=1.5, may_know_keys=True, command_signs="/!")

    async def check(self) -> str:
        async with self._signed_in() as client:
            return str(client.user)

    async def run(self, host: BridgeHost) -> None:
        async with self._signed_in() as client:
            self._client = client
            if client.user is not None:
                await host.claim(str(client.user.id))
            mark = _Mark(await host.load_mark())
            work = [
                asyncio.create_task(client.connect(reconnect=False)),
                asyncio.create_task(self._take_events(client, host, mark)),
                asyncio.create_task(self._take_commands(client, host)),
                asyncio.ensure_future(client.failure),
            ]
            try:
                with connect_errors():
                    await asyncio.wait(work, return_when=asyncio.FIRST_COMPLETED)
                    for task in work:
                        if task.done():
                            task.result()
                raise NetworkAway("Discord has ended the connection.")
            finally:
                self._client = None
                await _end(work)

    async def send(self, chat: Chat, text: str, key: str, reply_to: str = "", is_plain: bool = False) -> str:
        client = self._open_client()
        content = escaped(text) if is_plain else rendered(text)
        with send_errors():
            if (command := self._open_command(chat, reply_to)) is not None:
                sent = await self._answer_command(command, content)
                if sent:
                    return sent
            target = client.get_partial_messageable(int(chat.thread or chat.id))
            more: dict[str, Any] = {}
            if reply_to and reply_to not in self._asked:
                more["reference"] = discord.MessageReference(
                    message_id=int(reply_to), channel_id=target.id, fail_if_not_exists=False
                )
            # Discord drops a repeated nonce only "in the past few minutes", so not after every restart.
            nonce = hashlib.blake2s(key.encode(), digest_size=12).hexdigest()
            sent = await target.send(content, nonce=nonce, suppress_embeds=True, **more)
        return str(sent.id)

    async def edit(self, chat: Chat, message: str, text: str, is_plain: bool = False) -> None:
        client = self._open_client()
        with send_errors():
            target = client.get_partial_messageable(int(chat.thread or chat.id))
            content = escaped(text) if is_plain else rendered(text)
            await target.get_partial_message(int(message)).edit(content=content)

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
            client.failure.cancel()
            # The library keeps waiting for guilds after it is closed.
            await _end([task for task in (getattr(client._connection, "_ready_task", None),) if task is not None])

    def _open_client(self) -> Client:
        if self._client is None:
            raise SendFailed("the bridge is not connected to Discord now.")
        return self._client

    async def _take_events(self, client: Client, host: BridgeHost, mark: "_Mark") -> None:
        menu = asyncio.create_task(self._set_menu(client, host))
        try:
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
        finally:
            await _end([menu])

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

    # --- slash commands

    async def _set_menu(self, client: Client, host: BridgeHost) -> None:
        said = {"type": 3, "name": "text", "description": "what to give the command", "required": False}
        wanted = [
            {"name": one.name, "description": one.description[:100] or one.name, "type": 1, "options": [said], **_WHERE}
            for one in host.menu[:_MOST_COMMANDS]
        ]
        try:
            number = client.application_id or 0
            present = await client.http.get_global_commands(number)
            if sorted(map(_kept_of, present)) != sorted(map(_kept_of, wanted)):
                await client.http.bulk_upsert_global_commands(number, wanted)  # pyright: ignore[reportArgumentType]
        except (discord.DiscordException, aiohttp.ClientError, OSError) as error:
            _log.info("Discord did not take the menu of commands: %s", error)

    async def _take_commands(self, client: Client, host: BridgeHost) -> None:
        while True:
            await self._take_command(await client.commands.get(), host)

    async def _take_command(self, interaction: discord.Interaction, host: BridgeHost) -> None:
        data: Any = interaction.data or {}
        options = [str(one.get("value", "")) for one in data.get("options", []) if one.get("name") == "text"]
        # A chat between other people has no guild either.
        is_group = interaction.guild_id is not None or interaction.context.private_channel
        chat = chat_of(interaction.channel, interaction.channel_id, is_group=is_group)
        message = Incoming(
            id=str(interaction.id),
            chat=chat,
            sender=str(interaction.user.id),
            sender_name=interaction.user.display_name,
            text=" ".join([f"/{data.get('name', '')}", *options]).strip(),
            at=int(interaction.created_at.timestamp()),
        )
        self._commands[message.id] = (time.monotonic(), chat, interaction)
        self._asked.append(message.id)
        while len(self._commands) > _OPEN_COMMANDS:
            self._commands.popitem(last=False)
        keeping = asyncio.ensure_future(host.receive(message))
        try:
            await asyncio.wait((keeping,), timeout=_ACKNOWLEDGE_SECONDS)
            if keeping.done():
                keeping.result()
            with contextlib.suppress(discord.DiscordException, aiohttp.ClientError, OSError):
                await interaction.response.defer(thinking=True)
            await keeping
        finally:
            keeping.cancel()

    def _open_command(self, chat: Chat, reply_to: str) -> str | None:
        now = time.monotonic()
        for number, (since, _chat, _interaction) in list(self._commands.items()):
            if now - since > _COMMAND_SECONDS:
                del self._commands[number]
        found = [number for number, (_since, place, _) in self._commands.items() if place == chat]
        return next((number for number in found if reply_to in ("", number)), None)

    async def _answer_command(self, command: str, content: str) -> str:
        sent = ""
        with contextlib.suppress(discord.NotFound):
            sent = str((await self._commands[command][2].edit_original_response(content=content)).id)
        self._commands.pop(command, None)
        return sent


class _Mark:
    """Newest message up to which all were received, and private chats: NEWEST CHAT CHAT ..."""

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


def _kept_of(command: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(command.get(name)) for name in ("name", "description", *_WHERE))


async def _end(tasks: list[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
