"""The stand-in for the chip's sockets does as lwIP does, as the README.md of `fakes` says, and links live with that."""

import asyncio
import select
import sys
from errno import EAGAIN, EBADF, ECONNABORTED, ECONNRESET, EHOSTUNREACH, EINPROGRESS, ENOTCONN

from engram.errors import NetError
from engram.net import transport
from engram.net.http import Client
from engram.net.transport import Transport, addresses, connect
from fakes import chip_socket
from llm_peer import CLOSE, Peer, answer, closed
from support import on_micropython, raises, wait_until

if on_micropython():
    transport.socket = chip_socket  # also where other links run over this computer's own
else:
    assert transport.socket is chip_socket, "on CPython there are no others"

READ, WRITE, HANG_UP, INVALID = 1, 4, 16, 32
HERE = "127.0.0.1"
LONG = 60_000


class Server:
    """Accepts connections; `serve` is given each one's reader and writer."""

    def __init__(self, serve):
        self._serve = serve
        self.port = 0

    async def __aenter__(self):
        peer = Peer()
        peer._serve = self._serve
        await peer.__aenter__()
        self._peer = peer
        self.port = int(peer.url.rsplit(":", 1)[1])
        return self

    async def __aexit__(self, kind, error, trace):
        await self._peer.__aexit__(kind, error, trace)


async def _nothing(reader, writer):
    await asyncio.Event().wait()


async def _farewell(reader, writer):
    writer.write(b"farewell")
    await writer.drain()
    await closed(writer)


async def _connected(port):
    """A connected socket."""
    sock = chip_socket.socket()
    sock.setblocking(False)
    with raises(OSError) as caught:
        sock.connect((HERE, port))
    assert caught.error.errno == EINPROGRESS
    await _until(sock, WRITE)
    return sock


async def _until(sock, events):
    await wait_until("a socket's event", lambda: sock.ioctl(3, events))


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


def _fails(code, call, *arguments):
    with raises(OSError) as caught:
        call(*arguments)
    assert caught.error.errno == code, caught.error


async def test_sending_nothing_is_refused_as_if_there_were_no_room():
    async with Server(_nothing) as server:
        sock = await _connected(server.port)
        _fails(EAGAIN, sock.send, b"")
        assert sock.write(b"") == 0


async def test_a_refused_connection_shows_at_the_first_read_and_not_before():
    sock = await _connected(await _unused_port())
    assert sock.ioctl(3, WRITE) == WRITE and sock.ioctl(3, READ) == READ
    buffer = bytearray(8)
    for code in (ECONNRESET, ECONNRESET, ENOTCONN, ENOTCONN):
        _fails(code, sock.readinto, buffer)


async def test_a_refused_connection_shows_at_the_first_write_and_not_before():
    sock = await _connected(await _unused_port())
    for code in (ECONNRESET, ENOTCONN, ENOTCONN):
        _fails(code, sock.write, b"x")


async def test_a_hang_up_is_shown_only_to_who_asks_for_it():
    sock = await _connected(await _unused_port())
    assert sock.ioctl(3, READ | WRITE) == READ | WRITE
    assert sock.ioctl(3, HANG_UP) == HANG_UP


async def test_the_end_of_a_stream_is_shown_until_it_was_read_and_then_never_again():
    async with Server(_farewell) as server:
        sock = await _connected(server.port)
        await _until_its_end_came(sock)
        buffer = bytearray(100)
        assert sock.readinto(buffer) == 8, "the end is read along with what came before it"
        assert not sock.ioctl(3, READ)
        assert sock.readinto(buffer) == 0 and not sock.ioctl(3, READ)


async def test_a_socket_that_never_connected_is_writable_and_hung_up():
    sock = chip_socket.socket()
    sock.setblocking(False)
    assert sock.ioctl(3, READ | WRITE) == WRITE | HANG_UP
    _fails(ENOTCONN, sock.write, b"x")
    _fails(ENOTCONN, sock.readinto, bytearray(1))


async def test_a_closed_socket_is_invalid_and_closes_again():
    sock = chip_socket.socket()
    sock.setblocking(False)
    sock.close()
    sock.close()
    assert sock.ioctl(3, READ) == INVALID
    _fails(EBADF, sock.write, b"x")


async def test_a_write_takes_no_more_than_the_send_buffer_has_room_for():
    async with Server(_nothing) as server:
        sock = await _connected(server.port)
        assert sock.write(bytes(100_000)) == chip_socket.SEND_BUFFER
        assert sock.write(b"x") is None
        _fails(EAGAIN, sock.send, b"x")
        assert not sock.ioctl(3, WRITE), "what was sent is not acknowledged yet"
        assert sock.ioctl(3, WRITE) == WRITE


async def test_there_are_only_so_many_sockets():
    sockets = [chip_socket.socket() for _ in range(chip_socket.MOST_SOCKETS)]
    _fails(23, chip_socket.socket)
    sockets[0].close()
    chip_socket.socket()


def test_a_name_gives_one_address_or_a_number_below_zero():
    assert chip_socket.getaddrinfo("localhost", 80) == [(2, 1, 0, "localhost", (HERE, 80))]
    _fails(-202, chip_socket.getaddrinfo, "nobody.invalid", 80)


def test_without_a_network_no_name_is_found_and_no_address_reached():
    chip_socket.has_network = False
    _fails(-202, chip_socket.getaddrinfo, "localhost", 80)
    sock = chip_socket.socket()
    sock.setblocking(False)
    _fails(EHOSTUNREACH, sock.connect, (HERE, 80))


async def test_when_the_network_is_lost_all_connections_are_aborted():
    async with Server(_nothing) as server:
        sock = await _connected(server.port)
        chip_socket.lose_network()
        assert sock.ioctl(3, READ | WRITE) == READ | WRITE
        _fails(ECONNABORTED, sock.readinto, bytearray(4))
        _fails(ENOTCONN, sock.readinto, bytearray(4))
        _fails(ECONNABORTED, sock.write, b"x")
        _fails(ENOTCONN, sock.write, b"x")


# --- what a link makes of that


async def test_a_link_whose_end_came_with_the_last_bytes_sees_it():
    async with Server(_farewell) as server:
        made = await connect(addresses(HERE, server.port), None, HERE, LONG)
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
    made = Transport(HERE, [])
    made._socket, made._reads_once = _Secure(b"last"), True
    buffer = memoryview(bytearray(8))
    assert [await made.readinto(buffer, LONG), await made.readinto(buffer, LONG)] == [4, 0]
    assert bytes(buffer[:4]) == b"last"


async def test_a_read_gives_no_more_than_the_receive_window_holds():
    async def pour(reader, writer):
        writer.write(bytes(50_000))
        await writer.drain()
        await closed(writer)

    async with Server(pour) as server:
        made = await connect(addresses(HERE, server.port), None, HERE, LONG)
        view = memoryview(bytearray(20_000))
        counts = [await made.readinto(view, LONG)]
        while counts[-1]:
            counts.append(await made.readinto(view, LONG))
        made.close()
    assert sum(counts) == 50_000 and max(counts) <= chip_socket.RECEIVE_WINDOW, counts


def test_on_a_chip_names_are_looked_up_by_ipv4_alone():
    if sys.platform == "esp32":
        with raises(NetError) as caught:
            addresses("six.example", 80)
        assert "not found" in str(caught.error)
    else:
        assert addresses("six.example", 80)[0][4] is None, "the port's own answer, of which a link could make nothing"


async def test_a_large_message_goes_in_many_parts():
    got = bytearray()

    async def take(reader, writer):
        while len(got) < 50_000:
            got.extend(await reader.read(1000))

    async with Server(take) as server:
        made = await connect(addresses(HERE, server.port), None, HERE, LONG)
        await made.write(bytes(range(250)) * 200, LONG)
        await wait_until("all of it", lambda: len(got) == 50_000)
        made.close()
    assert got == bytes(range(250)) * 200


async def test_a_body_that_ends_with_its_link_is_whole_at_once():
    async with Peer([b"HTTP/1.1 200 OK\r\n\r\nall of it", CLOSE]) as peer:
        client = Client(peer.url, stall_ms=60_000)
        got = await client.ask("GET", "/")
        body = bytearray()
        while not got.ended:
            body.extend(await got.read())
        client.release(got)
    assert body == b"all of it"


async def test_an_address_that_refuses_gives_way_to_the_next():
    refusing = await _unused_port()
    async with Peer([answer(b"1")]) as peer:
        client = Client(peer.url)
        client.addresses = addresses(HERE, refusing) + addresses(client.host, client.port)
        got = await client.ask("POST", "/x", (), lambda: (b"body",))
        client.release(got)
    assert got.status == 200 and peer.requests[0][1] == b"body"


async def test_an_address_that_cuts_the_link_before_an_answer_gives_way_to_the_next():
    async def cut(reader, writer):
        await reader.readline()
        await closed(writer)

    async with Server(cut) as other, Peer([answer(b"1")]) as peer:
        client = Client(peer.url)
        client.addresses = addresses(HERE, other.port) + addresses(client.host, client.port)
        got = await client.ask("GET", "/")
        client.release(got)
    assert got.status == 200


async def test_an_address_that_was_silent_does_not_give_way():
    async with Server(_nothing) as silent, Peer([answer(b"1")]) as peer:
        client = Client(peer.url, stall_ms=50)
        client.addresses = addresses(HERE, silent.port) + addresses(client.host, client.port)
        with raises(NetError):
            await client.ask("GET", "/")
    assert not peer.requests, "what was sent may have been done"


async def test_when_all_addresses_refuse_the_name_is_asked_again():
    refusing = await _unused_port()
    client = Client("http://%s:%d" % (HERE, refusing))
    client.addresses = addresses(HERE, refusing) + addresses(HERE, refusing)
    with raises(NetError) as caught:
        await client.ask("GET", "/")
    assert caught.error and "it was refused, or cut by the other side" in str(caught.error)
    assert client.addresses is None


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
        task = asyncio.create_task(connect(addresses(HERE, 9), None, HERE, 5000))
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
