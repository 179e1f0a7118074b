"""An MQTT 3.1.1 client that never blocks the loop: one topic to listen on, one to publish on, with QoS 1 straight from a file.

    packet     type and flags (1 byte), length of the rest (1 to 4 bytes, seven bits each, the low ones first), the rest
    CONNECT    "MQTT", level 4, flags, keep-alive (2), client id, user name, password    answered by CONNACK
    SUBSCRIBE  packet id (2), topic filter, QoS                                          answered by SUBACK
    PUBLISH    topic, packet id (2) but for QoS 0, payload                               answered by PUBACK, of QoS 1
    PINGREQ, PINGRESP, DISCONNECT: nothing

Texts and topics have their length in two bytes before them. Source: OASIS, "MQTT Version 3.1.1". Nothing is sent again after
a link broke: what must arrive is acknowledged from end to end. One task reads, in run(); all may send.
"""

import asyncio

from engram import diag
from engram.compat import ticks_diff, ticks_ms
from engram.errors import ArgumentError, BadAnswer, NetError, Refused, TimedOut
from engram.link.messages import ANSWER_BYTES, WAIT_SECONDS
from engram.net.transport import address_of, connect, failed, split_url

SCHEMES = (("mqtt", 1883), ("mqtts", 8883))

_CONNECT_MS = const(10_000)
_STEP_MS = const(10_000)  # for the rest of a started packet, and for sending
_PING_MS = const(25_000)  # without anything being sent, after which the broker is asked for a sign of life
_KEEP_ALIVE = const(60)  # seconds; the broker drops the link after half as many more
_BUFFER = const(256)
_MOST_PACKET = const(65_536)  # bytes of one that comes: bounds the heap
_MOST_UNTAKEN = const(8)  # messages that the broker has not acknowledged yet: more are not sent

_CONNACK = const(0x20)
_PUBLISH = const(0x30)
_PUBACK = const(0x40)
_SUBACK = const(0x90)
_PINGRESP = const(0xD0)
_PLAIN = {_CONNACK: 2, _PUBACK: 2, _SUBACK: 3, _PINGRESP: 0}  # lengths of packets without a payload

_REFUSALS = const((
    "the broker takes no MQTT 3.1.1",
    "the broker refused the name",
    "the broker is not ready",
    "the broker refused the token",
    "the broker refused the board",
))  # fmt: skip
_ADVICE = const("; check companion.token and companion.device")


class MqttTransport:
    """A link to the companion over the broker at a URL; take(bytes) gets the messages."""

    wait_seconds = WAIT_SECONDS

    def __init__(self, url: str, device: str, board: str, token: str, take, tls=None):
        is_secure, self._host, self._port, prefix = split_url(url, SCHEMES)
        if prefix:
            raise ArgumentError("url", "must be mqtt(s)://host[:port], without a path")
        self._tls = tls if is_secure else None
        topic = "engram/v1/%s/" % device
        self._client = ("engram-%s-%s" % (device, board)).encode()
        self._user = device.encode()
        self._password = token.encode()
        self._up = (topic + "up").encode()
        self._down = (topic + "down").encode()
        self._take = take
        self.ping_ms = _PING_MS
        self._address = None
        self._link = None
        self._sending = asyncio.Lock()
        self._buffer = memoryview(bytearray(_BUFFER))
        self._start = self._end = 0
        self._is_inside = False  # a packet has begun to come
        self._sent = 0  # when something was sent last
        self._is_pinged = False
        self._is_torn = False  # a packet was not sent to its end: nothing may follow it
        self._packet = 0
        self._untaken = []  # numbers of packets that the broker has not acknowledged

    # --- the link

    async def open(self) -> None:
        """Connect and subscribe; NetError."""
        self._address = self._address or address_of(self._host, self._port)
        self._start = self._end = 0
        self._is_pinged = self._is_torn = self._is_inside = False
        self._untaken = []
        try:
            self._link = await connect(self._address, self._tls, self._host, _CONNECT_MS)
            answer = await self._introduce()
            if answer[1]:
                raise Refused(_REFUSALS[min(answer[1], len(_REFUSALS)) - 1] + _ADVICE)
            await self._subscribe()
        except NetError:
            self._address = None  # the host may have moved
            raise

    async def _subscribe(self) -> None:
        await self._send(_packet(0x82, self._numbered(), _sized(self._down), b"\x01"))
        kind, answer = await self._read_packet(_CONNECT_MS)
        while kind != _SUBACK:
            # Messages before it are for us already.
            kind, answer = await self._read_packet(_CONNECT_MS)
        if answer[2] > 1:
            raise Refused("the broker does not let the board listen" + _ADVICE)

    async def _introduce(self) -> bytes:
        flags = 0xC2 if self._password else 0x02  # a clean session; user name and password
        parts = [b"\0\x04MQTT\x04", bytes((flags, 0, _KEEP_ALIVE)), _sized(self._client)]
        if self._password:
            parts += [_sized(self._user), _sized(self._password)]
        await self._send(_packet(0x10, *parts))
        kind, answer = await self._read_packet(_CONNECT_MS)
        if kind != _CONNACK:
            raise BadAnswer("the broker does not answer as one does")
        return answer

    async def run(self) -> None:
        """Handle messages until the link ends with NetError."""
        while True:
            try:
                await self._read_packet(self.ping_ms)
                self._is_pinged = False
                is_quiet = ticks_diff(ticks_ms(), self._sent) > self.ping_ms
            except TimedOut:
                if self._is_pinged or self._is_inside:
                    raise
                is_quiet = True
            if is_quiet:
                self._is_pinged = True
                await self._send(b"\xc0\0")

    def close(self) -> None:
        """Close at once, while no other task reads."""
        if self._link:
            self._link.close()
            self._link = None

    # --- sending

    async def send(self, head: bytes, body=None) -> None:
        """Publish a head and a body with `size` and pieces(); NetError, or errors of pieces()."""
        if len(self._untaken) >= _MOST_UNTAKEN:
            raise NetError("the broker does not acknowledge what it is sent")
        async with self._sending:
            left = body.size if body else 0
            number = self._numbered()
            start = _sized(self._up) + number + head
            self._untaken.append(number)
            is_whole = False
            try:
                await self._write(b"\x32" + _length(len(start) + left) + start)
                for piece in body.pieces() if body else ():
                    left -= len(piece)
                    if left < 0:
                        break
                    await self._write(piece)
                if left:
                    raise ArgumentError("body", "must have the length that it says")
                is_whole = True
            finally:
                self._is_torn = self._is_torn or not is_whole

    listen = send

    async def _send(self, packet) -> None:
        async with self._sending:
            await self._write(packet)

    async def _write(self, data) -> None:
        if self._is_torn or not self._link:
            raise failed(self._host, "it broke off")
        self._sent = ticks_ms()
        # Torn until all of it has gone: a task that is cancelled here leaves a part.
        self._is_torn = True
        await self._link.write(data, _STEP_MS)
        self._is_torn = False

    def _numbered(self) -> bytes:
        self._packet = self._packet % 65535 + 1
        return bytes((self._packet >> 8, self._packet & 255))

    # --- receiving

    async def _read_packet(self, within_ms: int) -> tuple:
        """Return (kind, content) of a packet, which must begin in time; messages are handled."""
        first = (await self._read(1, within_ms))[0]
        self._is_inside = True
        length = await self._read_length()
        kind = first & 0xF0
        if kind != _PUBLISH and (first & 0x0F or _PLAIN.get(kind) != length):
            raise BadAnswer("the broker sent what no broker sends")
        content = await self._read(length)
        self._is_inside = False
        if kind == _PUBLISH:
            await self._take_message(first >> 1 & 3, content)
        elif kind == _PUBACK and content in self._untaken:
            self._untaken.remove(content)
        return kind, content

    async def _read_length(self) -> int:
        length = shift = 0
        while True:
            byte = (await self._read(1))[0]
            length |= (byte & 0x7F) << shift
            if byte < 0x80 and length <= _MOST_PACKET:
                return length
            shift += 7
            if byte < 0x80 or shift > 21:
                raise BadAnswer("the broker sent a packet without an end")

    async def _take_message(self, quality: int, content: bytes) -> None:
        size = content[0] << 8 | content[1] if len(content) > 1 else len(content)
        start = 2 + size + (2 if quality else 0)
        if quality > 1 or start > len(content):
            raise BadAnswer("the broker sent a message of another kind than was asked for")
        if content[2 : 2 + size] != self._down or len(content) - start > ANSWER_BYTES:
            diag.warning("mqtt", "a message of %d bytes was passed over" % (len(content) - start))
        else:
            self._take(content[start:])
        if quality:
            await self._send(_packet(_PUBACK, content[start - 2 : start]))

    async def _read(self, count: int, within_ms: int = _STEP_MS) -> bytes:
        content = bytearray()
        while len(content) < count:
            if self._start == self._end:
                # Empty even if nothing comes, so that no old byte is read again.
                self._start = self._end = 0
                self._end = await self._link.readinto(self._buffer, within_ms)  # pyright: ignore
                if not self._end:
                    raise failed(self._host, "the broker closed it")
            stop = min(self._end, self._start + count - len(content))
            content.extend(self._buffer[self._start : stop])
            self._start = stop
        return bytes(content)


def _packet(first: int, *parts) -> bytes:
    return bytes((first,)) + _length(sum(len(part) for part in parts)) + b"".join(parts)


def _length(size: int) -> bytes:
    coded = bytearray()
    while size > 0x7F:
        coded.append(size & 0x7F | 0x80)
        size >>= 7
    coded.append(size)
    return bytes(coded)


def _sized(data: bytes) -> bytes:
    return bytes((len(data) >> 8, len(data) & 255)) + data
