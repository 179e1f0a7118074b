"""A broker in the same process for tests of the MQTT client: it reads packets, and plays what a test tells it to.

It answers CONNECT, SUBSCRIBE, PINGREQ and QoS 1 as brokers do, unless the test takes that away, and keeps what came.
"""

import asyncio
import random

from engram.compat import sleep_ms
from support import closed, let_others_run, wait_until

_BETWEEN_PIECES_MS = 1
"""The pause that lets pieces arrive one by one."""

CONNACK = b"\x20\x02\0\0"


class Broker:
    """`published` are (topic, payload) of what came; `packets` all packets as (first byte, rest)."""

    def __init__(self, connack=CONNACK, granted=1):
        self.connack = connack
        self.granted = granted
        self.acknowledges = True
        self.pongs = True
        self.packets = []
        self.published = []
        self.at_once = b""  # sent right behind the connection's first answer
        self.port = 0
        self.writer = None
        self._tasks = []

    async def __aenter__(self):
        while True:
            self.port = 30000 + random.getrandbits(11)  # beside those of tests/support/companion/peers.py
            try:
                self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
                return self
            except OSError:
                pass  # the port is taken

    async def __aexit__(self, kind, error, trace):
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await let_others_run()

    @property
    def url(self):
        return "mqtt://127.0.0.1:%d" % self.port

    async def send(self, data, piece=0):
        """Send bytes; in pieces of so many, if given."""
        for at in range(0, len(data), piece or len(data) or 1):
            self.writer.write(data[at : at + (piece or len(data))])
            await self.writer.drain()
            if piece:
                await sleep_ms(_BETWEEN_PIECES_MS)

    async def cut(self):
        """Close the link."""
        await closed(self.writer)

    async def wait_until(self, what, is_so):
        """Wait until something is so; the error shows the packets that came."""
        try:
            await wait_until(what, is_so)
        except AssertionError as error:
            raise AssertionError("%s; packets: %s" % (error, [first for first, _ in self.packets])) from None

    async def _serve(self, reader, writer):
        self.writer = writer
        self._tasks.append(asyncio.current_task())
        try:
            while True:
                first = (await reader.readexactly(1))[0]
                rest = await reader.readexactly(await _length(reader))
                self.packets.append((first, rest))
                await self._answer(first, rest)
        except (OSError, EOFError, asyncio.CancelledError):
            pass  # the client went away, or the test is over
        finally:
            await closed(writer)

    async def _answer(self, first, rest):
        kind = first & 0xF0
        if kind == 0x10:
            await self.send(self.connack + self.at_once)
        elif kind == 0x80:
            await self.send(b"\x90\x03" + rest[:2] + bytes((self.granted,)))
        elif kind == 0xC0 and self.pongs:
            await self.send(b"\xd0\0")
        elif kind == 0x30:
            size = rest[0] << 8 | rest[1]
            self.published.append((rest[2 : 2 + size], rest[4 + size :]))
            if self.acknowledges:
                await self.send(b"\x40\x02" + rest[2 + size : 4 + size])


async def _length(reader):
    length = shift = 0
    while True:
        byte = (await reader.readexactly(1))[0]
        length |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return length


def message(topic, payload, quality=1, number=7):
    """A PUBLISH packet."""
    rest = bytes((len(topic) >> 8, len(topic) & 255)) + topic + (bytes((0, number)) if quality else b"") + payload
    length = len(rest)
    coded = b""
    while length > 127:
        coded += bytes((length & 127 | 128,))
        length >>= 7
    return bytes((0x30 | quality << 1,)) + coded + bytes((length,)) + rest
