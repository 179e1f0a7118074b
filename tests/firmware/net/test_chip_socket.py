"""The stand-in for the chip's sockets does as lwIP does, as the README.md of `fakes` says, and links live with that."""

import asyncio
import select
from errno import EHOSTUNREACH

from engram.errors import NetError
from engram.net import transport
from engram.net.http import Client
from engram.net.transport import Transport, address_of, connect
from fakes import chip_socket
from llm_peer import Peer
from support import closed, on_micropython, raises, wait_until

if on_micropython():
    transport.socket = chip_socket  # also where other links run over this computer's own
else:
    assert transport.socket is chip_socket, "on CPython there are no others"

READ, WRITE, HANG_UP, INVALID = 1, 4, 16, 32
HERE = "127.0.0.1"
LONG = 60_000


class Server(Peer):
    """Accepts connections; `serve` is given each one's reader and writer."""

    def __init__(self, serve):
        super().__init__()
        self._serve = serve

    @property
    def port(self):
        return int(self.url.rsplit(":", 1)[1])


async def _nothing(reader, writer):
    await asyncio.Event().wait()


async def _farewell(reader, writer):
    writer.write(b"farewell")
    await writer.drain()
    await closed(writer)


_POLLRDHUP = 0x2000
"""The other side has sent its end, as Linux's poll(2) has it."""


async def _until_its_end_came(sock):
    """Wait until this computer has the other side's end, whatever the chip's socket shows."""
    poll = select.poll()
    poll.register(sock._host, _POLLRDHUP)
    await wait_until("the other side's end", lambda: poll.poll(0))


async def _unused_port():
    async with Server(_nothing) as server:
        pass
    return server.port


# --- what a link makes of that


async def test_a_link_whose_end_came_with_the_last_bytes_sees_it():
    async with Server(_farewell) as server:
        made = await connect(address_of(HERE, server.port), None, HERE, LONG)
        await _until_its_end_came(chip_socket.open_sockets[0])
        buffer = memoryview(bytearray(100))
        assert [await made.readinto(buffer, LONG), await made.readinto(buffer, LONG)] == [8, 0]
        made.close()


class _Secure:
    """TLS over a link whose other side went without a farewell, as every MicroPython tells it."""

    def __init__(self, *pieces):
        self._pieces = list(pieces)

    def recv(self, most):
        if self._pieces:
            return self._pieces.pop(0)
        raise OSError(-29312, "MBEDTLS_ERR_SSL_CONN_EOF")


async def test_a_tls_stream_that_ends_without_a_farewell_is_at_its_end():
    made = Transport(HERE)
    made._socket, made._reads_once = _Secure(b"last"), True
    buffer = memoryview(bytearray(8))
    assert [await made.readinto(buffer, LONG), await made.readinto(buffer, LONG)] == [4, 0]
    assert bytes(buffer[:4]) == b"last"


async def test_a_large_message_goes_in_many_parts():
    got = bytearray()

    async def take(reader, writer):
        while len(got) < 50_000:
            got.extend(await reader.read(1000))

    async with Server(take) as server:
        made = await connect(address_of(HERE, server.port), None, HERE, LONG)
        await made.write(bytes(range(250)) * 200, LONG)
        await wait_until("all of it", lambda: len(got) == 50_000)
        made.close()
    assert got == bytes(range(250)) * 200


async def test_when_an_address_refuses_the_name_is_asked_again():
    client = Client("http://%s:%d" % (HERE, await _unused_port()))
    with raises(NetError) as caught:
        await client.ask("GET", "/")
    assert caught.error and "it was refused, or cut by the other side" in str(caught.error)
    assert client.address is None


async def test_without_a_network_no_name_is_looked_up():
    class Wlan:
        def isconnected(self):
            return False

    class Network:
        wlan = Wlan()

    def looked_up(host, port):
        raise AssertionError("it blocks the board")

    kept, chip_socket.getaddrinfo = chip_socket.getaddrinfo, looked_up
    try:
        with raises(NetError) as caught:
            await Client("http://example.com", network=Network()).ask("GET", "/")
    finally:
        chip_socket.getaddrinfo = kept
    assert caught.error and "there is no network" in str(caught.error)


async def test_a_link_that_was_cancelled_while_it_connects_leaves_no_socket():
    chip_socket.has_network = True

    async def never(sock, to_write):
        await asyncio.Event().wait()

    kept, transport._ready = transport._ready, never
    try:
        task = asyncio.create_task(connect(address_of(HERE, 9), None, HERE, 5000))
        await wait_until("the socket", lambda: chip_socket.open_sockets)
        assert len(chip_socket.open_sockets) == 1
        task.cancel()
        with raises(asyncio.CancelledError):
            await task
    finally:
        transport._ready = kept
    assert not chip_socket.open_sockets


async def test_a_request_under_way_when_the_network_is_lost_fails_at_once():
    async with Peer([60_000]) as peer:
        client = Client(peer.url, stall_ms=60_000)
        task = asyncio.create_task(client.ask("GET", "/"))
        await wait_until("the request", lambda: peer.requests)
        chip_socket.lose_network()
        with raises(NetError):
            await task


def test_what_failed_is_said_in_words():
    for error, words in (
        (OSError(-104, None), "it was refused, or cut by the other side"),
        (OSError("a text of the port"), "a text of the port"),
        (OSError(EHOSTUNREACH, None), "EHOSTUNREACH"),
    ):
        assert transport._reason(error) == words, error
