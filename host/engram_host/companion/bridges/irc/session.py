"""Connection to an IRC server and signing in, over asyncio's streams.

The library's own asyncio client lacks SASL, ignores failed writes and reads without a bound: only
its parser is used.
"""

import asyncio
import base64
import contextlib
import itertools
import logging
import ssl
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Self

from engram_host.companion.auth.access import RateLimiter
from engram_host.companion.bridges.errors import (
    BridgeUnavailable,
    NetworkAway,
    SendFailed,
    SendRefused,
    SendUncertain,
    SignInRefused,
    SlowDown,
)
from engram_host.companion.bridges.irc.lines import Line, NickMask, lower, parse_line
from engram_host.companion.bridges.texts import without_mention

CONNECT_SECONDS = 30.0
SILENCE_SECONDS = 120.0
ANSWER_SECONDS = 30.0
CLOSE_SECONDS = 1.0
LINE_BYTES = 16384  # limit of a received line with its tags; the protocol allows 8,703
MOST_WAITING = 500  # messages queued for the engine; more are dropped, since reading has to go on
MOST_CHATTER = MOST_WAITING // 2  # limit for queued channel messages that do not name the account
BURST_LINES = 5
WAIT_WHEN_BUSY = 30.0

_log = logging.getLogger(__name__)

_NOBODY_THERE = {"401", "403", "442"}
_BUSY = {"263", "439", "707"}
_NOT_TAKEN = {"404", "407", "408", "415", "477", "489", "531", "716", "718"} | _NOBODY_THERE | _BUSY

MOST_NICKNAMES = 4
# Capabilities requested: account names, ids and times of messages.
WANTED = ("account-tag", "message-tags", "server-time")
_SASL_CHUNK = 400
_NO_SASL = "{} has no SASL with passwords: remove the password to take part without an account."
_NICKNAME_TAKEN = {"433", "436", "437"}
_NICKNAME_WRONG = {"431", "432"}
_SASL_REFUSED = {"902", "904", "905", "906", "908"}
_BANNED = {"464", "465", "466"}


@dataclass(frozen=True)
class Login:
    """Server and nickname; with a password the account is signed in by SASL."""

    host: str
    port: int
    tls: ssl.SSLContext | None
    nickname: str
    account: str
    password: str


@dataclass(frozen=True)
class Person:
    mask: NickMask
    account: str


class IrcSession:
    """A signed-in connection; `listen()` must run while anything waits for an answer."""

    def __init__(self, login: Login, pause: float):
        self._login = login
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._limiter = RateLimiter(1 / pause if pause else 0, BURST_LINES)
        self._sending = asyncio.Lock()
        self._numbers = itertools.count(1)
        self._pongs: dict[str, asyncio.Future[None]] = {}
        self._whois: tuple[str, list[Line], asyncio.Future[None]] | None = None
        self._refusals: dict[str, list[str]] = {}
        self.nickname = login.nickname
        self.capabilities: set[str] = set()
        self.channels: set[str] = set()
        self.messages: asyncio.Queue[Line] = asyncio.Queue(MOST_WAITING)

    # --- open and close

    async def open(self) -> None:
        """Connect and sign in; raise SignInRefused, BridgeUnavailable or NetworkAway."""
        login = self._login
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                self._reader, self._writer = await asyncio.open_connection(
                    login.host, login.port, ssl=login.tls, limit=LINE_BYTES
                )
        except ssl.SSLCertVerificationError as error:
            raise NetworkAway(f"the certificate of {login.host} cannot be trusted: {error.verify_message}.") from None
        except OSError as error:  # TimeoutError is one
            raise NetworkAway(f"{login.host} cannot be reached: {error.strerror or 'it does not answer'}.") from None
        async with self._within(CONNECT_SECONDS):
            signed_in = await SignIn(login, self._read, self._write).complete()
        self.nickname, self.capabilities = signed_in.nickname, signed_in.capabilities

    async def close(self) -> None:
        for future in [*self._pongs.values(), *([self._whois[2]] if self._whois else [])]:
            if not future.done():
                future.set_exception(NetworkAway("the connection has ended."))
                future.exception()  # the waiting caller may be gone
        if self._writer is None:
            return
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                self._writer.write(b"QUIT\r\n")
                self._writer.close()
                await self._writer.wait_closed()
        except TimeoutError:
            self._writer.transport.abort()
        except OSError:
            pass  # the connection was lost, and is closed

    @contextlib.asynccontextmanager
    async def _within(self, seconds: float):
        try:
            async with asyncio.timeout(seconds):
                yield
        except TimeoutError:
            raise NetworkAway(f"{self._login.host} does not answer.") from None

    # --- incoming lines

    async def listen(self) -> None:
        """Read lines until NetworkAway; never waits for the engine, which itself waits for answers."""
        while True:
            line = await self._read()
            if line.command == "PRIVMSG":
                self._queue(line)
            else:
                self._note(line)

    def _queue(self, line: Line) -> None:
        is_private = lower(line.parameter(0)) == lower(self.nickname)
        is_meant = is_private or without_mention(line.parameter(-1), self.nickname)[1]
        if self.messages.qsize() < (MOST_WAITING if is_meant else MOST_CHATTER):
            self.messages.put_nowait(line)
        elif is_meant:
            _log.warning("IRC: a message is lost: %d wait already", MOST_WAITING, extra={"repeat": "irc messages"})
        else:
            _log.info("IRC: a channel's message is passed over: too many wait", extra={"repeat": "irc chatter"})

    def _note(self, line: Line) -> None:
        if line.command == "PONG":
            self._settle(self._pongs.get(line.parameter(-1)))
        elif (
            line.command in ("311", "330", "318", "401") and self._whois and lower(line.parameter(1)) == self._whois[0]
        ):
            self._whois[1].append(line)
            if line.command == "318":
                self._settle(self._whois[2])
        if line.command in _NOT_TAKEN:
            self._refusals.setdefault(lower(line.parameter(1)), []).append(line.command)
        elif line.command in ("NICK", "JOIN", "PART", "QUIT", "KICK"):
            self._note_move(line)

    def _note_move(self, line: Line) -> None:
        nickname = line.parameter(1) if line.command == "KICK" else line.source.nick
        is_own = lower(nickname) == lower(self.nickname)
        if line.command == "JOIN":
            if is_own:
                self.channels.add(lower(line.parameter(0)))
            return
        if is_own and line.command == "NICK":
            self.nickname = line.parameter(0)
        elif is_own:
            raise NetworkAway(f"the account was removed from {line.parameter(0)}.")
        elif line.command in ("NICK", "QUIT") and lower(nickname) == lower(self._login.nickname):
            self._write(f"NICK {self._login.nickname}")  # the former owner, maybe an old connection, has lost it

    @staticmethod
    def _settle(future: asyncio.Future[None] | None) -> None:
        if future is not None and not future.done():
            future.set_result(None)

    async def _read(self) -> Line:
        while True:
            line = parse_line(await self._read_bytes())
            if line is None:
                continue
            if line.command == "PING":
                self._write(f"PONG :{line.parameter(-1)}")
            elif line.command == "ERROR":
                raise NetworkAway(f"{self._login.host} has ended the connection: {line.parameter(-1)}")
            else:
                return line

    async def _read_bytes(self) -> bytes:
        assert self._reader is not None
        try:
            try:
                async with asyncio.timeout(SILENCE_SECONDS):
                    return await self._reader.readuntil(b"\n")
            except TimeoutError:
                self._write("PING :engram")
                async with asyncio.timeout(ANSWER_SECONDS):
                    return await self._reader.readuntil(b"\n")
        except asyncio.LimitOverrunError:
            raise NetworkAway(f"{self._login.host} sends lines of more than {LINE_BYTES} bytes.") from None
        except (EOFError, OSError):  # TimeoutError is an OSError
            raise NetworkAway(f"the connection to {self._login.host} broke.") from None

    # --- outgoing lines

    def _write(self, line: str) -> None:
        assert self._writer is not None
        self._writer.write(line.encode() + b"\r\n")

    async def _send_line(self, line: str) -> None:
        while pause := self._limiter.wait_seconds(self._login.host):
            await asyncio.sleep(pause)
        assert self._writer is not None
        if self._writer.is_closing():
            raise NetworkAway("the connection has ended.")
        self._write(line)
        with contextlib.suppress(OSError):  # listen() ends then
            await self._writer.drain()

    async def join(self, channels: Sequence[str]) -> list[str]:
        async with self._sending:
            for channel in channels:
                await self._send_line(f"JOIN {channel}")
            await self._synchronise()
        return [channel for channel in channels if lower(channel) not in self.channels]

    async def say(self, target: str, lines: Sequence[str]) -> None:
        """Send lines and wait until the server has processed them; may raise SendFailed."""
        async with self._sending:
            self._refusals.clear()
            is_begun = False
            try:
                for line in lines:
                    await self._send_line(f"PRIVMSG {target} :{line}")
                    is_begun = True
                await self._synchronise()
            except (NetworkAway, TimeoutError):
                if not is_begun:
                    raise SendFailed("IRC is not connected now.") from None
                raise SendUncertain("the connection broke before the server had confirmed the message.") from None
            refusals = self._refusals.get(lower(target), [])
        if not refusals:
            return
        refused, is_partial = refusals[0], len(refusals) < len(lines)
        if refused in _BUSY:
            raise SlowDown(WAIT_WHEN_BUSY, is_doubtful=is_partial)
        if refused not in _NOBODY_THERE:
            raise SendRefused(f"{target} does not take messages of the account (answer {refused}).")
        if is_partial:
            raise SendUncertain(f"{target} left while the message was sent.")
        raise SendFailed(f"{target} is not on IRC now, or the account is not in it.")

    async def _synchronise(self) -> None:
        # The server processes lines in order, so all refusals arrive before this answer.
        token = f"engram-{next(self._numbers)}"
        future = self._pongs[token] = asyncio.get_running_loop().create_future()
        try:
            await self._send_line(f"PING :{token}")
            async with asyncio.timeout(ANSWER_SECONDS):
                await future
        finally:
            del self._pongs[token]

    async def who_is(self, nickname: str) -> Person | None:
        """Return the current owner of a nickname, None if nobody has it; may raise NetworkAway."""
        async with self._sending:  # else a refusal could be the answer to this or to a message
            future = asyncio.get_running_loop().create_future()
            answers: list[Line] = []
            self._whois = (lower(nickname), answers, future)
            try:
                await self._send_line(f"WHOIS {nickname}")
                async with self._within(ANSWER_SECONDS):
                    await future
            finally:
                self._whois = None
        told = {line.command: line for line in answers}
        if "311" not in told:
            return None
        user = told["311"]
        account = told["330"].parameter(2) if "330" in told else ""
        return Person(NickMask.from_params(user.parameter(1), user.parameter(2), user.parameter(3)), account)


class SignIn:
    def __init__(self, login: Login, read: Callable[[], Awaitable[Line]], write: Callable[[str], None]):
        self._login = login
        self._read = read
        self._write = write
        self.nickname = login.nickname
        self.capabilities: set[str] = set()

    async def complete(self) -> Self:
        """Sign in; raise SignInRefused, BridgeUnavailable or NetworkAway."""
        self._write("CAP LS 302")
        self._write(f"NICK {self.nickname}")
        self._write("USER engram 0 * :Engram")
        offered: dict[str, str] = {}
        while True:
            line = await self._read()
            if line.command == "CAP":
                self._negotiate(line, offered)
            elif line.command == "AUTHENTICATE":
                self._authenticate()
            elif line.command in ("903", "907"):
                self._write("CAP END")
            elif line.command == "001":
                if self._login.password and "sasl" not in self.capabilities:
                    raise BridgeUnavailable(_NO_SASL.format(self._login.host))
                self.nickname = line.parameter(0)
                return self
            else:
                self._take_refusal(line)

    def _take_refusal(self, line: Line) -> None:
        if line.command in _SASL_REFUSED or line.command in _BANNED:
            raise SignInRefused(f"{self._login.host} refuses the account: {line.parameter(-1)}")
        if line.command in _NICKNAME_WRONG:
            raise BridgeUnavailable(f"{self._login.host} does not take the nickname {self.nickname}.")
        if line.command in _NICKNAME_TAKEN:
            if len(self.nickname) - len(self._login.nickname) + 1 >= MOST_NICKNAMES:
                raise NetworkAway(f"others have the nicknames {self._login.nickname} to {self.nickname}.")
            self.nickname += "_"
            self._write(f"NICK {self.nickname}")

    def _negotiate(self, line: Line, offered: dict[str, str]) -> None:
        kind, names = line.parameter(1).upper(), line.parameter(-1).split()
        if kind == "LS":
            offered.update((name, value) for name, _, value in (word.partition("=") for word in names))
            if line.parameter(2) == "*":
                return  # more of them follow
            wanted = [name for name in WANTED if name in offered]
            if self._login.password:
                if "sasl" not in offered or "PLAIN" not in (offered["sasl"] or "PLAIN").upper().split(","):
                    raise BridgeUnavailable(_NO_SASL.format(self._login.host))
                wanted.append("sasl")
            self._write(f"CAP REQ :{' '.join(wanted)}" if wanted else "CAP END")
        elif kind == "ACK":
            self.capabilities.update(names)
            self._write("AUTHENTICATE PLAIN" if "sasl" in names else "CAP END")
        elif kind == "NAK":
            self._write("CAP END")

    def _authenticate(self) -> None:
        account = self._login.account or self._login.nickname
        secret = base64.b64encode(f"\0{account}\0{self._login.password}".encode()).decode()
        for start in range(0, len(secret) + 1, _SASL_CHUNK):
            self._write(f"AUTHENTICATE {secret[start : start + _SASL_CHUNK] or '+'}")
