"""The MQTT client against a broker in the same process: packets as they are told to be, bounds, and links that break."""

import asyncio

from engram.errors import ArgumentError, NetError, Refused
from engram.link.mqtt import MqttTransport
from mqtt_peer import Broker, message
from samples import Numbers
from support import raises, wait_until

DOWN = b"engram/v1/kitchen/down"
BOARD = "0123456789ab"
_PING_MS = 700
"""Longer than a busy machine lets the process wait between a ping and its answer."""


class Client:
    """A client of a broker that reads in a task of its own."""

    def __init__(self, broker, token="", ping_ms=0):
        self.came = []
        self.mqtt = MqttTransport(broker.url, "kitchen", BOARD, token, lambda data: self.came.append(bytes(data)))
        self.mqtt.ping_ms = ping_ms or self.mqtt.ping_ms
        self.error = None

    async def __aenter__(self):
        try:
            await self.mqtt.open()
        except BaseException:
            self.mqtt.close()
            raise
        self.task = asyncio.create_task(self._run())
        return self

    async def _run(self):
        try:
            await self.mqtt.run()
        except NetError as error:
            self.error = error

    async def ended(self):
        """The error with which the link ended."""
        return str(await wait_until("the end of the link", lambda: self.error))

    async def __aexit__(self, kind, error, trace):
        self.task.cancel()
        try:
            await self.task
        except asyncio.CancelledError:
            pass
        self.mqtt.close()


class Body:
    """A body of pieces."""

    def __init__(self, *pieces, size=-1):
        self._pieces = pieces
        self.size = sum(len(piece) for piece in pieces) if size < 0 else size

    def pieces(self):
        return iter(self._pieces)


async def test_the_link_begins_with_the_boards_name_its_token_and_a_subscription():
    async with Broker() as broker, Client(broker, "secret"):
        (_, connect), subscribe = broker.packets
    assert connect[7] == 0xC2 and b"engram-kitchen-0123456789ab" in connect
    assert connect.endswith(b"\0\x07kitchen\0\x06secret")
    assert subscribe[0] == 0x82 and subscribe[1][2:] == bytes((0, len(DOWN))) + DOWN + b"\x01"


async def test_a_message_is_its_head_and_the_pieces_of_its_body():
    async with Broker() as broker, Client(broker) as client:
        await client.mqtt.send(b"head\n", Body(b"one", b"two" * 100, b""))
        await client.mqtt.send(b"next\n")
        await broker.wait_until("both messages", lambda: len(broker.published) == 2)
        await broker.wait_until("the acknowledgements", lambda: not client.mqtt._untaken)
    assert broker.published[0] == (b"engram/v1/kitchen/up", b"head\none" + b"two" * 100)
    assert broker.published[1][1] == b"next\n"


async def test_messages_of_all_lengths_arrive_whole():
    async with Broker() as broker, Client(broker) as client:
        sizes = (0, 1, 98, 99, 100, 101, 16350, 16351, 20000)
        for size in sizes:
            await client.mqtt.send(b"h", Body(b"x" * size))
        await broker.wait_until("all messages", lambda: len(broker.published) == len(sizes))
    assert [len(payload) - 1 for _, payload in broker.published] == list(sizes)


async def test_messages_of_two_tasks_do_not_mix():
    async with Broker() as broker, Client(broker) as client:

        async def send(letter):
            for _ in range(4):
                await client.mqtt.send(letter, Body(*(letter * 700 for _ in range(6))))

        tasks = [asyncio.create_task(send(letter)) for letter in (b"a", b"b")]
        for task in tasks:
            await task
        await broker.wait_until("eight messages", lambda: len(broker.published) == 8)
    assert all(payload == payload[:1] * 4201 for _, payload in broker.published)


async def test_what_comes_in_any_pieces_is_taken_whole():
    for piece in (1, 3, 64, 300):
        async with Broker() as broker, Client(broker) as client:
            sent = [b"x" * size for size in (0, 1, 120, 300)]
            await broker.send(b"".join([message(DOWN, each, at & 1) for at, each in enumerate(sent)]), piece)
            await broker.wait_until("all four", lambda: len(client.came) == 4)
        assert client.came == sent


async def test_a_message_that_comes_with_the_first_answer_is_not_lost():
    async with Broker() as broker:
        broker.at_once = message(DOWN, b"early")
        async with Client(broker) as client:
            await broker.wait_until("the message", lambda: client.came)
    assert client.came == [b"early"]


async def test_a_message_beyond_the_bound_is_passed_over_and_what_follows_is_taken():
    async with Broker() as broker, Client(broker) as client:
        await broker.send(message(DOWN, b"x" * 60_000, 0) + message(DOWN, b"x" * 60_001) + message(DOWN, b"after"))
        await broker.wait_until("both messages", lambda: len(client.came) == 2)
    assert [len(data) for data in client.came] == [60_000, 5]


async def test_what_no_broker_sends_ends_the_link():
    garbage = (
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"\x00\x00",  # there is no such packet
        b"\x10\x00",  # a client's packet
        b"\x31\xff\xff\xff\xff\x01",  # a length without end
        b"\x36" + message(DOWN, b"x")[1:],  # QoS 3
        b"\x34" + message(DOWN, b"x")[1:],  # QoS 2
        b"\x32\x02\x00\x40",  # a topic beyond the packet
        b"\x32\x01\x00",  # a packet without a topic
        b"\x40\x03\x00\x01\x00",  # one byte too many
        b"\x41\x02\x00\x01",  # flags
        b"\xd0\x01\x00",
    )
    for data in garbage:
        async with Broker() as broker, Client(broker) as client:
            await broker.send(data)
            assert "broker" in await client.ended(), data
            assert not client.came


async def test_random_bytes_never_hang_the_client_nor_get_through():
    numbers = Numbers(11)
    for _ in range(30):
        async with Broker() as broker, Client(broker) as client:
            await broker.send(bytes(numbers.below(256) for _ in range(40)))
            await broker.cut()
            await client.ended()
            assert not client.came


async def test_a_refused_token_is_reported_and_not_tried_at_once():
    for code, word in ((4, "token"), (5, "token"), (2, "name"), (99, "refused")):
        async with Broker(connack=b"\x20\x02\0" + bytes((code,))) as broker:
            with raises(Refused) as caught:
                async with Client(broker):
                    pass
        assert word in str(caught.error) and caught.error.again_s >= 60


async def test_a_subscription_that_is_not_granted_is_reported():
    async with Broker(granted=0x80) as broker:
        with raises(Refused) as caught:
            async with Client(broker):
                pass
    assert "listen" in str(caught.error)


async def test_a_body_of_another_length_ends_the_link():
    for body in (Body(b"short", size=9), Body(b"too long", size=3)):
        async with Broker() as broker, Client(broker) as client:
            with raises(ArgumentError):
                await client.mqtt.send(b"h", body)
            with raises(NetError):
                await client.mqtt.send(b"after")
            assert not broker.published


async def test_messages_that_the_broker_does_not_take_are_bounded():
    async with Broker() as broker, Client(broker) as client:
        broker.acknowledges = False
        with raises(NetError) as caught:
            for _ in range(100):
                await client.mqtt.send(b"h")
        assert "does not acknowledge" in str(caught.error)
        await broker.wait_until("eight messages", lambda: len(broker.published) == 8)


async def test_a_quiet_broker_is_asked_for_a_sign_of_life_and_given_up_without_one():
    async with Broker() as broker, Client(broker, ping_ms=_PING_MS) as client:
        await broker.wait_until("three pings", lambda: [first for first, _ in broker.packets].count(0xC0) >= 3)
        assert not client.error
        broker.pongs = False
        assert "nothing came in time" in await client.ended()


def test_a_url_with_a_path_or_another_scheme_is_refused():
    for url in ("http://host", "mqtt://host/path", "mqtt://", "mqtt://a b", "tcp://host:1883"):
        with raises(ArgumentError):
            MqttTransport(url, "kitchen", BOARD, "", None)
