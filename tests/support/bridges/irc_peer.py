"""A person on IRC for tests: a plain client on a socket, which knows nothing of the bridge's code."""

import asyncio
import ssl
from collections.abc import Callable, Sequence
from pathlib import Path

from bridge_peers import Peer, Shown
from waiting import wait_until_async


class IrcClient:
    """A connection that keeps each line that comes."""

    def __init__(self, port: int, authority: Path, nickname: str):
        self._port = port
        self._context = ssl.create_default_context(cafile=authority)
        self.nickname = nickname
        self.user = nickname
        self.mask = ""
        self.lines: list[str] = []
        self._writer: asyncio.StreamWriter | None = None
        self._reading: asyncio.Task[None] | None = None
        self.on_private: Callable[[str, str], None] | None = None

    async def connect(self) -> None:
        reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port, ssl=self._context)
        self._reading = asyncio.create_task(self._read(reader))
        self.send(f"NICK {self.nickname}")
        self.send(f"USER {self.user} 0 * :{self.nickname}")
        await self.wait_for_line(" 001 ")
        self.send(f"WHOIS {self.nickname}")
        words = (await self.wait_for_line(" 311 ")).split()
        self.mask = f"{words[3]}!{words[4]}@{words[5]}"

    def send(self, line: str) -> None:
        assert self._writer is not None
        self._writer.write(line.encode() + b"\r\n")

    async def wait_for_line(self, part: str) -> str:
        def found() -> str | None:
            return next((line for line in reversed(self.lines) if part in line), None)

        line = await wait_until_async(lambda: f"{part!r} is not in {self.lines}", found)
        assert line is not None
        return line

    async def join(self, channel: str) -> None:
        self.send(f"JOIN {channel}")
        await self.wait_for_line(" 366 ")

    async def close(self) -> None:
        assert self._writer is not None
        assert self._reading is not None
        self._writer.transport.abort()
        await asyncio.gather(self._reading, return_exceptions=True)

    async def _read(self, reader: asyncio.StreamReader) -> None:
        while raw := await reader.readline():
            line = raw.decode().rstrip("\r\n")
            if line.startswith("PING "):
                self.send(f"PONG {line.removeprefix('PING ')}")
                continue
            self.lines.append(line)
            source, _, rest = line.partition(" PRIVMSG ")
            target, _, text = rest.partition(" :")
            if target == self.nickname and self.on_private is not None:
                self.on_private(source[1:].partition("!")[0], text)


class IrcPeer(Peer):
    """A person who is in the channel, and talks to the bridge's nickname."""

    def __init__(self, client: IrcClient, bridge: str, channel: str):
        self.client = client
        self._bridge = bridge
        self._channel = channel

    async def sign_in(self) -> None:
        await self.client.connect()
        self.id = self.client.mask.lower()
        await self.client.join(self._channel)

    async def say(self, text: str, *, group: bool = False, mention: bool = False, thread: str = "") -> str:
        target = self._channel if group else self._bridge
        self.client.send(f"PRIVMSG {target} :{f'{self._bridge}: ' if mention else ''}{text}")
        return ""  # IRC has no ids

    def shown(self, *, group: bool = False) -> Sequence[Shown]:
        messages = []
        for number, line in enumerate(self.client.lines):
            source, is_message, rest = line.partition(" PRIVMSG ")
            target, _, text = rest.partition(" :")
            if is_message and (target == self._channel) == group:
                messages.append(Shown(str(number), source[1:].partition("!")[0], text))
        return messages

    async def close(self) -> None:
        await self.client.close()
