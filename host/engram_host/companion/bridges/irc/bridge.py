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
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from engram_host.companion.bridges.connections import host_and_port, run_until_one_ends, tls_context
from engram_host.companion.bridges.errors import BridgeUnavailable, NetworkAway, SendFailed
from engram_host.companion.bridges.irc.lines import CODES, Line, NickMask, lines_of, lower, pasted, room_for, said
from engram_host.companion.bridges.irc.login import Login
from engram_host.companion.bridges.irc.session import IrcSession
from engram_host.companion.bridges.marks import with_marks
from engram_host.companion.bridges.mentions import without_mention
from engram_host.companion.bridges.network import BridgeHost, Chat, Features, Incoming, utf8_bytes
from engram_host.companion.bridges.quotes import split_quotes

log = logging.getLogger(__name__)

MOST_CHANNELS = 50
LONGEST_PAUSE = 10
MOST_BYTES = 1500  # four lines, which are sent at once
KNOWN_SECONDS = 60.0  # lifetime of the server's answer about a nickname
SEEN_SECONDS = 3600.0  # the same for people of a shared channel, who are seen to leave
MOST_KNOWN = 500  # limit for known nicknames, and for messages whose sender is kept
_NICKNAME = re.compile(r"[A-Za-z\[\]\\`_^{|}][A-Za-z0-9\[\]\\`_^{|}-]*")
_CHANNEL = re.compile(r"[#&+!][^\s,\x00-\x1f:]+")
_PAUSE = re.compile(r"\d{1,2}(?:\.\d{1,3})?")
_STATUS_SIGNS = "~&@%+"
_LOGINS = ("sasl", "nickserv", "none")
_ACCOUNT = "account:"

Value = TypeVar("Value")


def connect(values: Mapping[str, str]) -> "IrcNetwork":
    """Create the connection of a nickname, or raise BridgeUnavailable for an invalid setting."""
    is_tls = values["tls"] != "off"
    channels = values["channels"].split()
    if not _NICKNAME.fullmatch(values["nickname"]):
        raise BridgeUnavailable(f'"{values["nickname"]}" is no nickname of IRC.')
    for channel in channels:
        if not _CHANNEL.fullmatch(channel):
            raise BridgeUnavailable(f'"{channel}" is no channel: write "#name".')
    if len(channels) > MOST_CHANNELS:
        raise BridgeUnavailable(f"at most {MOST_CHANNELS} channels can be joined.")
    if values["login"] not in _LOGINS:
        raise BridgeUnavailable(f'"{values["login"]}" is no way to sign in: write one of {", ".join(_LOGINS)}.')
    if values["login"] != "none" and not (values["password"] and is_tls):
        raise BridgeUnavailable("signing in needs a password, and TLS to send it over.")
    if any(sign in values["account"] + values["password"] for sign in "\r\n\0"):
        raise BridgeUnavailable("an account or a password has signs that IRC cannot send.")
    host, port = host_and_port(values["server"], 6697 if is_tls else 6667)
    context = tls_context(values["authority"]) if is_tls else None
    login = Login(host, port, context, values["nickname"], values["login"], values["account"], values["password"])
    return IrcNetwork(login, channels, _pause(values["pause"]))


def _pause(value: str) -> float:
    if not _PAUSE.fullmatch(value) or float(value) > LONGEST_PAUSE:
        raise BridgeUnavailable(f'"{value}" is no pause between lines: write seconds, 0 to {LONGEST_PAUSE}.')
    return float(value)


class IrcNetwork:
    """Connection of one nickname to one network."""

    features = Features(MOST_BYTES, utf8_bytes, has_typing=False, command_signs="/!", heading_end=" ")

    def __init__(self, login: Login, channels: Sequence[str], pause: float):
        self._login = login
        self._pause = pause
        self._channels = channels
        self._session: IrcSession | None = None
        self._nicknames: OrderedDict[str, tuple[str, float]] = OrderedDict()
        self._accounts: OrderedDict[str, tuple[str, float]] = OrderedDict()
        self._askers: OrderedDict[str, str] = OrderedDict()
        self._numbers = itertools.count(1)
        self._begin = f"{time.time_ns():x}"

    async def run(self, host: BridgeHost) -> None:
        session = IrcSession(self._login, self._pause, self._forget)
        try:
            await session.open()
            self._session = session
            await run_until_one_ends(session.listen(), self._pass_on(session, host), self._stay(session, host))
        finally:
            self._session = None
            await session.close()

    async def check(self) -> str:
        session = IrcSession(self._login, self._pause, self._forget)
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
            message = await self._incoming(session, line)
            if message is not None:
                await host.receive(message)

    async def _incoming(self, session: IrcSession, line: Line) -> Incoming | None:
        mask, target = line.source, line.parameter(0)
        text = said(line.parameter(-1))
        is_bot = "bot" in line.tags or "draft/bot" in line.tags
        if not text or not mask.userhost or is_bot or lower(mask.nick) == lower(session.nickname):
            return None
        channel = target.lstrip(_STATUS_SIGNS) if target.lstrip(_STATUS_SIGNS).startswith("#") else target
        is_group = not _is_private(target, session)
        sender = await self._sender(session, line)
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
            _keep(self._askers, f"{chat.id} {message_id}", mask.nick)
        at = _seconds(line.tags.get("time", ""))
        return Incoming(message_id, chat, sender, mask.nick, text, is_mentioned, at=at, forwarded=forwarded)

    # --- identities

    async def _sender(self, session: IrcSession, line: Line) -> str:
        """Return the sender's lasting id: the account if the server names it, or else the mask."""
        if "account-tag" in session.capabilities:
            account = line.tags.get("account", "")
        else:
            seconds = KNOWN_SECONDS if _is_private(line.parameter(0), session) else SEEN_SECONDS
            account = await self._account(session, line.source, seconds)
        sender = _id(line.source, account)
        _keep(self._nicknames, sender, (line.source.nick, time.monotonic()))
        return sender

    async def _account(self, session: IrcSession, mask: NickMask, seconds: float) -> str:
        account, at = self._accounts.get(lower(mask), ("", 0.0))
        if at and time.monotonic() - at < seconds:
            return account
        person = await session.who_is(mask.nick)
        # A different mask means that somebody else has the nickname now: the sender is unknown.
        account = person.account if person is not None and lower(person.mask) == lower(mask) else ""
        _keep(self._accounts, lower(mask), (account, time.monotonic()))
        return account

    def _forget(self, nickname: str) -> None:
        for mask in [mask for mask in self._accounts if NickMask(mask).nick == lower(nickname)]:
            del self._accounts[mask]
        for sender in [sender for sender, (known, _) in self._nicknames.items() if lower(known) == lower(nickname)]:
            del self._nicknames[sender]

    async def _nickname_of(self, session: IrcSession, sender: str) -> str:
        """Return the person's current nickname by the server's word, or raise SendFailed."""
        guess = sender.removeprefix(_ACCOUNT) if sender.startswith(_ACCOUNT) else NickMask(sender).nick
        nickname, at = self._nicknames.get(sender, (guess, 0.0))
        if at and time.monotonic() - at < KNOWN_SECONDS:
            return nickname
        if not _NICKNAME.fullmatch(nickname):
            raise SendFailed(f'"{sender}" is nobody on IRC.')
        try:
            person = await session.who_is(nickname)
        except NetworkAway as error:
            raise SendFailed(str(error)) from None
        if person is None or sender not in (_id(person.mask, person.account), _id(person.mask, "")):
            raise SendFailed(f"{sender} is not on IRC now.")
        _keep(self._nicknames, sender, (nickname, time.monotonic()))
        return nickname

    def _id_of(self, line: Line) -> str:
        """Return msgid, or a hash of a played-back line (same each time), or a number of this connection."""
        if line.tags.get("msgid"):
            return line.tags["msgid"]
        if line.tags.get("time"):
            parts = (line.tags["time"], lower(line.source), lower(line.parameter(0)), line.parameter(-1))
            return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]
        return f"{self._begin}-{next(self._numbers)}"


def _is_private(target: str, session: IrcSession) -> bool:
    return lower(target) == lower(session.nickname) or _NICKNAME.fullmatch(target) is not None


def _id(mask: NickMask, account: str) -> str:
    return _ACCOUNT + lower(account) if account else str(lower(mask))


def _seconds(stamp: str) -> int:
    try:
        return int(datetime.fromisoformat(stamp).timestamp())
    except (ValueError, OverflowError):
        return 0


def _keep(kept: OrderedDict[str, Value], key: str, value: Value) -> None:
    kept[key] = value
    kept.move_to_end(key)
    if len(kept) > MOST_KNOWN:
        kept.popitem(last=False)
