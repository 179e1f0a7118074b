"""Clients that take turns: no two of them have a link at once, and none waits for ever."""

import asyncio

from engram.llm.http.client import Client
from engram.llm.http.one_link import OneLink
from llm_peer import Peer, answer
from support import wait_until


async def fetch(client):
    got = await client.ask("GET", "/")
    try:
        return await got.collect(100)
    finally:
        client.release(got)


def clients(*peers):
    one_link = OneLink()
    return [Client(peer.url, one_link=one_link) for peer in peers]


async def test_a_link_is_closed_when_another_client_asks():
    async with Peer([answer(b"1")], [answer(b"2")]) as first, Peer([answer(b"3")]) as second:
        a, b = clients(first, second)
        assert await fetch(a) == b"1" and a._link
        assert await fetch(b) == b"3" and b._link and not a._link
        assert await fetch(a) == b"2" and a._link and not b._link
        assert first.connections == 2


async def test_a_request_under_way_is_not_broken_off():
    async with Peer([200, answer(b"slow")]) as first, Peer([answer(b"fast")]) as second:
        a, b = clients(first, second)
        slow = asyncio.create_task(fetch(a))
        await wait_until("the request", lambda: first.requests)
        assert await fetch(b) == b"fast"
        assert slow.done() and await slow == b"slow"


async def test_many_requests_of_both_end():
    count = 20
    async with Peer(*[[answer(b"a")]] * count) as first, Peer(*[[answer(b"b")]] * count) as second:
        a, b = clients(first, second)
        most = []

        async def ask(client, result):
            for _ in range(count):
                assert await fetch(client) == result
                most.append(bool(a._link) + bool(b._link))
                await asyncio.sleep(0)

        await asyncio.gather(ask(a, b"a"), ask(b, b"b"))
        assert max(most) == 1 and len(most) == 2 * count


async def test_a_client_that_cannot_connect_leaves_the_link_to_others():
    async with Peer() as gone:
        pass
    async with Peer([answer(b"1")]) as peer:
        a, b = clients(gone, peer)
        try:
            await fetch(a)
            raise AssertionError("it connected")
        except OSError:
            pass
        assert await fetch(b) == b"1"
