"""Sign-in to an IRC server: capabilities, SASL, nickname, NickServ."""

import base64
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Self

from engram_host.companion.bridges.errors import BridgeUnavailable, NetworkAway, SignInRefused
from engram_host.companion.bridges.irc.lines import Line, lower

MOST_NICKNAMES = 4

# Capabilities requested: account names, ids and times of messages.
WANTED = ("account-notify", "account-tag", "extended-join", "message-tags", "server-time")
_SASL_CHUNK = 400
_ACCEPTED = ("now identified", "password accepted", "now recognized", "now logged in", "already ")
_REJECTED = ("incorrect", "invalid", "denied", "registered", "failed", "wrong")
_NICKNAME_TAKEN = {"433", "436", "437"}
_NICKNAME_WRONG = {"431", "432"}
_SASL_REFUSED = {"902", "904", "905", "906", "908"}
_BANNED = {"464", "465", "466"}


@dataclass(frozen=True)
class Login:
    """Server, nickname and method of signing in: "sasl", "nickserv" or "none"."""

    host: str
    port: int
    tls: ssl.SSLContext | None
    nickname: str
    kind: str
    account: str
    password: str


class SignIn:
    """First lines of a connection."""

    def __init__(self, login: Login, read: Callable[[], Awaitable[Line]], write: Callable[[str], None]):
        self._login = login
        self._read = read
        self._write = write
        self.nickname = login.nickname
        self.capabilities: set[str] = set()

    async def complete(self) -> Self:
        """Sign in; raise SignInRefused, BridgeUnavailable or NetworkAway."""
        await self._register()
        if self._login.kind == "nickserv":
            await self._identify()
        return self

    async def _register(self) -> None:
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
                if self._login.kind == "sasl" and "sasl" not in self.capabilities:
                    raise BridgeUnavailable(f"{self._login.host} has no SASL: sign in by NickServ.")
                self.nickname = line.parameter(0)
                return
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
            if self._login.kind == "sasl":
                if "sasl" not in offered or "PLAIN" not in (offered["sasl"] or "PLAIN").upper().split(","):
                    raise BridgeUnavailable(f"{self._login.host} has no SASL with passwords: sign in by NickServ.")
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

    async def _identify(self) -> None:
        account = f"{self._login.account} " if self._login.account else ""
        self._write(f"PRIVMSG NickServ :IDENTIFY {account}{self._login.password}")
        while True:
            line = await self._read()
            if line.command == "900":
                return
            if line.command == "401" and lower(line.parameter(1)) == "nickserv":
                raise BridgeUnavailable(f"{self._login.host} has no NickServ: sign in by SASL, or not at all.")
            if line.command == "NOTICE" and lower(line.source.nick) == "nickserv":
                words = line.parameter(-1).lower()
                if any(phrase in words for phrase in _ACCEPTED):
                    return
                if any(word in words for word in _REJECTED) and "this nickname is registered" not in words:
                    raise SignInRefused("NickServ refuses the account or its password.")
