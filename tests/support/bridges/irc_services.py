"""A server of one client that has what ngircd lacks: accounts, SASL, tags. Strict: what it does not expect ends the test."""

import asyncio
import base64
import ssl
from pathlib import Path
from typing import Self

import trustme

from waiting import wait_until_async

CAPABILITIES = "account-tag echo-message extended-join message-tags multi-prefix sasl=EXTERNAL,PLAIN server-time"
MOST_BYTES = 512


class ServicesServer:
    """Takes the account `kitchen` with a password, and says what a test makes it say. To be used in `async with`."""

    def __init__(self, folder: Path, *, capabilities: str = CAPABILITIES, password: str = "Tea-at-4"):
        self._capabilities = capabilities
        self._password = password
        self.authority = folder / "services.pem"
        authority = trustme.CA()
        authority.cert_pem.write_to_path(self.authority)
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("127.0.0.1").configure_cert(self._context)
        self._server: asyncio.Server | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._secret = ""
        self.lines: list[str] = []
        self.problems: list[str] = []
        self.answers: dict[str, str] = {}

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=self._context)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        if self._writer is not None and not self._writer.transport.is_closing():
            self._writer.transport.abort()
        assert self.problems == []

    @property
    def port(self) -> int:
        assert self._server is not None
        return self._server.sockets[0].getsockname()[1]

    def say(self, line: str) -> None:
        """Send a line to the client."""
        assert self._writer is not None
        self._writer.write(line.encode() + b"\r\n")

    async def wait_for_line(self, beginning: str) -> str:
        """A line of the client's that begins so."""

        def found() -> str | None:
            return next((line for line in self.lines if line.startswith(beginning)), None)

        line = await wait_until_async(lambda: f"{beginning!r} is not in {self.lines}", found)
        assert line is not None
        return line

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._secret = ""
        while raw := await reader.readline():
            if len(raw) > MOST_BYTES or not raw.endswith(b"\r\n"):
                self.problems.append(f"no line of IRC: {raw!r}")
            line = raw.decode().rstrip("\r\n")
            self.lines.append(line)
            command, _, rest = line.partition(" ")
            answer = getattr(self, f"_on_{command.lower()}", None)
            if answer is None:
                self.problems.append(f"not expected: {line}")
            else:
                answer(rest)
        writer.close()

    def _on_cap(self, rest: str) -> None:
        if rest == "LS 302":
            half = len(self._capabilities.split()) // 2
            names = self._capabilities.split()
            self.say(f":services CAP * LS * :{' '.join(names[:half])}")
            self.say(f":services CAP * LS :{' '.join(names[half:])}")
        elif rest.startswith("REQ :"):
            self.say(f":services CAP * ACK :{rest.removeprefix('REQ :')}")
        elif rest == "END":
            self.say(":services 001 engram :Welcome")
        else:
            self.problems.append(f"not expected: CAP {rest}")

    def _on_nick(self, rest: str) -> None: ...

    def _on_user(self, rest: str) -> None: ...

    def _on_quit(self, rest: str) -> None: ...

    def _on_authenticate(self, rest: str) -> None:
        if rest == "PLAIN":
            self.say("AUTHENTICATE +")
            return
        self._secret += rest.removeprefix("+")
        if len(rest) == 400:  # more of it follows
            return
        if base64.b64decode(self._secret).decode().split("\0") == ["", "kitchen", self._password]:
            self.say(":services 900 engram engram!engram@host kitchen :You are now logged in as kitchen")
            self.say(":services 903 engram :SASL authentication successful")
        else:
            self.say(":services 904 engram :SASL authentication failed")

    def _on_join(self, rest: str) -> None:
        self.say(f":engram!engram@host JOIN {rest} kitchen :Engram")

    def _on_ping(self, rest: str) -> None:
        self.say(f":services PONG services {rest}")

    def _on_whois(self, rest: str) -> None:
        for line in self.answers.get(rest, f":services 401 engram {rest} :No such nick").split("\n"):
            self.say(line)
        self.say(f":services 318 engram {rest} :End of WHOIS")

    def _on_privmsg(self, rest: str) -> None:
        for key in (rest, rest.partition(" ")[0]):
            if key in self.answers:
                self.say(self.answers[key])
