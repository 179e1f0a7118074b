"""The HTTP client against a service in the same process: requests, links kept and lost, bounds in time."""

import asyncio

from engram.errors import ArgumentError, NetError, TimedOut
from engram.net.http import Client
from llm_peer import CLOSE, Peer, answer
from support import raises, wait_until

_ANY_TIME_IS_LONG = -1
_LONG = 60_000


async def _fetch(client, path="/x", body=None, headers=()):
    """(status, body) of one request."""
    got = await client.ask("POST", path, headers, body)
    try:
        text = b""
        while not got.ended:
            text += bytes(await got.read())
        return got.status, text
    finally:
        client.release(got)


async def test_a_request_has_its_line_its_headers_and_its_body():
    async with Peer([answer(b"hello")]) as peer:
        client = Client(peer.url + "/v1/")
        assert await _fetch(client, "/chat", lambda: (b"ab", b"", b"c"), [("X-Key", "k")]) == (200, b"hello")
        head, body = peer.requests[0]
    host = peer.url[7:].encode()
    assert head.startswith(b"POST /v1/chat HTTP/1.1\r\nHost: " + host + b"\r\n"), head
    assert b"\r\nX-Key: k\r\n" in head
    assert b"\r\nContent-Length: 3\r\n" in head
    assert body == b"abc"


async def test_pieces_of_all_sizes_arrive_in_order():
    def body():
        for size in (0, 1, 1023, 1024, 1025, 5, 3000, 0, 7, 2048, 1000, 24, 1):
            yield bytes(65 + size % 26 for _ in range(size))

    async with Peer([answer(b"")]) as peer:
        await _fetch(Client(peer.url), "/x", body)
    assert peer.requests[0][1] == b"".join(body())


async def test_a_body_that_changes_is_refused_and_the_next_request_works():
    lengths = [3, 4, 3, 2]

    def body():
        yield b"x" * lengths.pop(0)

    async with Peer([answer(b"")], [answer(b"")]) as peer:
        client = Client(peer.url)
        for _ in range(2):
            with raises(ArgumentError):
                await _fetch(client, "/x", body)
        assert await _fetch(client) == (200, b"")


async def test_what_could_end_a_header_early_is_refused():
    client = Client("http://127.0.0.1:9")
    for path, headers in (
        ("/a b", ()), ("/\r\nX: y", ()), ("/\x00", ()), ("x", ()), ("/", [("X", "a\r\nY: b")]),
        ("/", [("X", "a\nb")]), ("/", [("X", "a\x00b")]), ("/", [("X\r\nY", "a")]), ("/", [("X", "ключ")]),
    ):  # fmt: skip
        with raises(ArgumentError):
            await client.ask("GET", path, headers)


async def test_a_refused_header_is_not_shown():
    with raises(ArgumentError) as caught:
        await Client("http://127.0.0.1:9").ask("GET", "/", [("X", "secret\n")])
    assert "secret" not in str(caught.error)


async def test_a_link_that_was_idle_for_long_is_not_kept():
    async with Peer([answer(b"1")], [answer(b"2")]) as peer:
        client = Client(peer.url)
        await _fetch(client)
        client.idle_ms = _ANY_TIME_IS_LONG
        assert await _fetch(client) == (200, b"2")
        assert peer.connections == 2


async def test_tidy_closes_an_idle_link():
    async with Peer([answer(b"1"), 10_000], [answer(b"2")]) as peer:
        client = Client(peer.url)
        await _fetch(client)
        client.tidy()
        assert client._link
        client.idle_ms = _ANY_TIME_IS_LONG
        client.tidy()
        assert not client._link


async def test_a_link_with_an_unread_body_is_not_kept():
    async with Peer([answer(b"x" * 3000)], [answer(b"2")]) as peer:
        client = Client(peer.url)
        got = await client.ask("GET", "/")
        await got.read()
        client.release(got)
        assert await _fetch(client) == (200, b"2")
        assert peer.connections == 2


async def test_a_kept_link_that_the_service_closed_is_replaced_unseen():
    async with Peer([answer(b"1"), CLOSE], [answer(b"2")]) as peer:
        client = Client(peer.url)
        await _fetch(client)
        await wait_until("the end of the link", lambda: peer.ended)
        assert await _fetch(client, "/x", lambda: (b"body",)) == (200, b"2")
        assert peer.connections == 2


async def test_a_service_that_is_silent_times_out_and_the_next_request_works():
    async with Peer([2000], [b"HTTP/1.1 200 OK\r\n", 2000], [answer(b"3")]) as peer:
        client = Client(peer.url, stall_ms=40)
        for _ in range(2):
            with raises(TimedOut):
                await _fetch(client)
        client.stall_ms = _LONG  # a pause of the process is no silence
        assert await _fetch(client) == (200, b"3")


async def test_a_name_that_is_not_known_is_an_error():
    with raises(NetError) as caught:
        await _fetch(Client("http://nobody.invalid"))
    assert "name" in str(caught.error)


async def test_two_requests_at_once_take_turns():
    async with Peer([answer(b"1")], [20, answer(b"2")], [answer(b"3")]) as peer:
        client = Client(peer.url)
        found = await asyncio.gather(_fetch(client), _fetch(client), _fetch(client))
        assert sorted(found) == [(200, b"1"), (200, b"2"), (200, b"3")]
        assert peer.connections == 1


async def test_a_request_that_is_cancelled_leaves_the_client_usable():
    async with Peer([2000], [answer(b"2")]) as peer:
        client = Client(peer.url)
        task = asyncio.create_task(_fetch(client))
        await wait_until("the request", lambda: peer.requests)
        task.cancel()
        with raises(asyncio.CancelledError):
            await task
        assert client._link is None
        assert await _fetch(client) == (200, b"2")


async def test_a_refusal_is_read_even_when_the_body_could_not_be_sent():
    piece = b"x" * 1024
    refusal = answer(b"too long", "413 Content Too Large", "Connection: close\r\n")
    async with Peer([refusal, 30, CLOSE], reads_bodies=False) as peer:
        status, _ = await _fetch(Client(peer.url), "/x", lambda: (piece for _ in range(8000)))
    assert status == 413
