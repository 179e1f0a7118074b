"""IRC: channels and private messages, on any network.

A nickname proves nothing: a person's id is the account that the server names ("account:ann"), or
else the whole mask ("ann!~ann@host.example"), so that whoever changes the host has to pair again.
"""

import asyncio
import hashlib
import itertools
import logging
import re
import time
from collections.abc import Mapping, Sequence
from datetime import datetime

from engram_host.companion.bridges.connections import host_and_port, run_until_one_ends, tls_context
from engram_host.companion.bridges.errors import BridgeUnavailable, NetworkAway, SendFailed
from engram_host.companion.bridges.irc.lines import CODES, Line, NickMask, lines_of, lower, pasted, room_for, said
from engram_host.companion.bridges.irc.session import IrcSession, Login
from engram_host.companion.bridges.network import BridgeHost, Chat, Features, Incoming, utf8_bytes
from engram_host.companion.bridges.texts import split_quotes, with_marks, without_mention
from engram_host.companion.types import BoundedDict

log = logging.getLogger(__name__)

MOST_CHANNELS = 50
LONGEST_PAUSE = 10
MOST_BYTES = 1500  # four lines, which are sent at once
MOST_KNOWN = 500  # limit for known nicknames, and for messages whose sender is kept
_NICKNAME = re.compile(r"[A-Za-z\[\]\\`_^{|}][A-Za-z0-9\[\]\\`_^{|}-]*")
_CHANNEL = re.compile(r"[#&+!][^\s,\x00-\x1f:]+")
_PAUSE = re.compile(r"\d{1,2}(?:\.\d{1,3})?")
_STATUS_SIGNS = "~&@%+"
_ACCOUNT = "account:"


def connect(values: Mapping[str, str]) -> "IrcNetwork":
    is_tls = values["tls"] != "off"
    channels = values["channels"].split()
    if not _NICKNAME.fullmatch(values["nickname"]):
        raise BridgeUnavailable(f'"{values["nickname"]}" is no nickname of IRC.')
    for channel in channels:
        if not _CHANNEL.fullmatch(channel):
            raise BridgeUnavailable(f'"{channel}" is no channel: write "#name".')
    if len(channels) > MOST_CHANNELS:
        raise BridgeUnavailable(f"at most {MOST_CHANNELS} channels can be joined.")
    if values["password"] and not is_tls:
        raise BridgeUnavailable("a password is sent over TLS only.")
    if any(sign in values["account"] + values["password"] for sign in "\r\n\0"):
        raise BridgeUnavailable("an account or a password has signs that IRC cannot send.")
    host, port = host_and_port(values["server"], 6697 if is_tls else 6667)
    context = tls_context(values["authority"]) if is_tls else None
    login = Login(host, port, context, values["nickname"], values["account"], values["password"])
    return IrcNetwork(login, channels, _pause(values["pause"]))


def _pause(value: str) -> float:
    if not _PAUSE.fullmatch(value) or float(value) > LONGEST_PAUSE:
        raise BridgeUnavailable(f'"{value}" is no pause between lines: write seconds, 0 to {LONGEST_PAUSE}.')
    return float(value)


class IrcNetwork:
    features = Features(MOST_BYTES, utf8_bytes, has_typing=False, command_signs="/!", heading_end=" ")

    def __init__(self, login: Login, channels: Sequence[str], pause: float):
        self._login = login
        self._pause = pause
        self._channels = channels
        self._session: IrcSession | None = None
        self._nicknames: BoundedDict[str, str] = BoundedDict(MOST_KNOWN)
        self._askers: BoundedDict[str, str] = BoundedDict(MOST_KNOWN)
        self._numbers = itertools.count(1)
        self._begin = f"{time.time_ns():x}"

    async def run(self, host: BridgeHost) -> None:
        session = IrcSession(self._login, self._pause)
        try:
            await session.open()
            await host.claim(f"{self._login.host}:{self._login.port}")
            self._session = session
            await run_until_one_ends(session.listen(), self._pass_on(session, host), self._stay(session, host))
        finally:
            self._session = None
            await session.close()

    async def check(self) -> str:
        session = IrcSession(self._login, self._pause)
        try:
            await session.open()
            return session.nickname
        finally:
            await session.close()

    async def send(self, chat: Chat, text: str, key: str, reply_to: str = "", is_plain: bool = False) -> str:
        session = self._session
        if session is None:
            raise SendFailed("IRC is not connected now.")
        target = chat.id if chat.is_group else await self._nickname_of(session, chat.id)
        asker = self._askers.get(f"{chat.id} {reply_to}", "") if chat.is_group and reply_to else ""
        body = text if is_plain else with_marks(text, CODES)
        lines = lines_of(f"{asker}: {body}" if asker else body, room_for(session.nickname, target))
        await session.say(target, lines)
        return key

    async def edit(self, chat: Chat, message: str, text: str, is_plain: bool = False) -> None:
        raise SendFailed("IRC has no edits.")

    async def show_typing(self, chat: Chat, is_typing: bool) -> None:
        """Do nothing: IRC has no typing sign."""

    async def _stay(self, session: IrcSession, host: BridgeHost) -> None:
        try:
            closed = await session.join(self._channels)
        except TimeoutError:
            raise NetworkAway(f"{self._login.host} does not answer.") from None
        for channel in closed:
            log.warning("The channel %s cannot be joined.", channel)
        host.connected(session.nickname)
        await asyncio.Event().wait()

    async def _pass_on(self, session: IrcSession, host: BridgeHost) -> None:
        while True:
            line = await session.messages.get()
            message = self._incoming(session, line)
            if message is not None:
                await host.receive(message)

    def _incoming(self, session: IrcSession, line: Line) -> Incoming | None:
        mask, target = line.source, line.parameter(0)
        text = said(line.parameter(-1))
        is_bot = "bot" in line.tags or "draft/bot" in line.tags
        if not text or not mask.userhost or is_bot or lower(mask.nick) == lower(session.nickname):
            return None
        channel = target.lstrip(_STATUS_SIGNS) if target.lstrip(_STATUS_SIGNS).startswith("#") else target
        is_group = lower(target) != lower(session.nickname) and not _NICKNAME.fullmatch(target)
        sender = _id(mask, line.tags.get("account", ""))
        self._nicknames[sender] = mask.nick
        chat = Chat(lower(channel), is_group=True) if is_group else Chat(sender)
        is_mentioned, forwarded = True, ""
        if is_group:
            written = text
            text, is_mentioned = without_mention(written, session.nickname)
            if pasted(text)[0] or not split_quotes(text)[0]:
                is_mentioned = text != written  # others' words mention nobody
        if pasted(text)[0]:
            forwarded, text = pasted(text)
        message_id = self._id_of(line)
        if is_mentioned and is_group:
            self._askers[f"{chat.id} {message_id}"] = mask.nick
        at = _seconds(line.tags.get("time", ""))
        return Incoming(message_id, chat, sender, mask.nick, text, is_mentioned, at=at, forwarded=forwarded)

    # --- identities

    async def _nickname_of(self, session: IrcSession, sender: str) -> str:
        """Return the person's current nickname by the server's word, or raise SendFailed."""
        guess = sender.removeprefix(_ACCOUNT) if sender.startswith(_ACCOUNT) else NickMask(sender).nick
        nickname = self._nicknames.get(sender, guess)
        if not _NICKNAME.fullmatch(nickname):
            raise SendFailed(f'"{sender}" is nobody on IRC.')
        try:
            person = await session.who_is(nickname)
        except NetworkAway as error:
            raise SendFailed(str(error)) from None
        if person is None or sender not in (_id(person.mask, person.account), _id(person.mask, "")):
            raise SendFailed(f"{sender} is not on IRC now.")
        return nickname

    def _id_of(self, line: Line) -> str:
        """Return msgid, or a hash of a played-back line (same each time), or a number of this connection."""
        if line.tags.get("msgid"):
            return line.tags["msgid"]
        if line.tags.get("time"):
            parts = (line.tags["time"], lower(line.source), lower(line.parameter(0)), line.parameter(-1))
            return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]
        return f"{self._begin}-{next(self._numbers)}"


def _id(mask: NickMask, account: str) -> str:
    return _ACCOUNT + lower(account) if account else str(lower(mask))


def _seconds(stamp: str) -> int:
    try:
        return int(datetime.fromisoformat(stamp).timestamp())
    except (ValueError, OverflowError):
        return 0
