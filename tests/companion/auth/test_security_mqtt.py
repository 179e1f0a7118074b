"""Who may do what over MQTT: each topic with each kind of token at the broker inside, and what a client cannot make it do."""

import asyncio
import contextlib
import errno
import socket
import ssl
import struct
from collections.abc import Awaitable, Callable
from pathlib import Path

import aiomqtt
import pytest
import trustme

from engram_host.companion.auth import identity, rate_limit, tokens
from engram_host.companion.auth.connections import Connections
from engram_host.companion.auth.exposure import listener_tls
from engram_host.companion.auth.identity import ApiCaller, CallerLookup
from engram_host.companion.auth.rate_limit import FailedLogins, RateLimiter
from engram_host.companion.auth.tls import trust_certificate
from engram_host.companion.errors import SettingError, StoreUnavailable
from engram_host.companion.mqtt import guarded_broker
from engram_host.companion.mqtt.client import BrokerLogin, MqttClient, broker_login
from engram_host.companion.mqtt.embedded_broker import EmbeddedBroker
from engram_host.companion.mqtt.guarded_broker import WORKER, BrokerAccess
from engram_host.companion.settings import MqttSettings
from engram_host.companion.store import CompanionStore, open_store
from engram_host.companion.supervisor import Supervisor
from guarded_place import SECRET, Place, gets, reasons, run
from mqtt_marks import received_before_mark
from one_case import in_one_case
from peers import free_port
from waiting import SECONDS, wait_until_async

NOBODY = ("", "")
UNKNOWN = "A" * 43
"""Looks like a token, and is nobody's."""


@in_one_case(
    "name, password",
    [
        NOBODY,
        ("kitchen", ""),
        ("kitchen", "wrong"),
        ("kitchen", UNKNOWN),
        ("stranger", UNKNOWN),
        (WORKER, UNKNOWN),
        ("", "the kitchen's"),
        ("garden", "the kitchen's"),
        (WORKER, "the kitchen's"),
        ("+", "the kitchen's"),
    ],
)
def test_nobody_connects_without_the_token_of_the_name(tmp_path: Path, name: str, password: str):
    async def work(where: Place) -> None:
        word = where.tokens["kitchen"] if password == "the kitchen's" else password
        with pytest.raises(aiomqtt.MqttError):
            async with aiomqtt.Client("127.0.0.1", where.broker.port, username=name or None, password=word or None):
                raise AssertionError(f"{name} is in")

    run(tmp_path, work)


def test_a_device_with_its_token_is_answered(tmp_path: Path):
    async def work(where: Place) -> None:
        async with where.client("kitchen") as board:
            await board.subscribe("engram/v1/kitchen/down", qos=1)
            await board.publish("engram/v1/kitchen/up", b"hello", qos=1)
            assert await gets(board, "kitchen") == [("engram/v1/kitchen/down", b"to hello")]

    run(tmp_path, work)


@in_one_case(
    "topic",
    [
        "engram/v1/garden/up",
        "engram/v1/garden/down",
        "engram/v1/kitchen/down",
        "engram/v1/kitchen/up/x",
        "engram/v1/kitchen",
        "engram/v1//up",
        "/engram/v1/kitchen/up",
        "engram/v2/kitchen/up",
        "other",
    ],
)
def test_a_device_writes_to_no_other_topic(tmp_path: Path, topic: str):
    async def work(where: Place) -> None:
        async with (
            where.client(WORKER, SECRET) as all_of_them,
            where.client("garden") as other,
            where.client("kitchen") as board,
        ):
            await all_of_them.subscribe("#", qos=1)
            await other.subscribe("engram/v1/garden/down", qos=1)
            await board.subscribe("engram/v1/kitchen/down", qos=1)
            for quality in (0, 1, 2):
                await board.publish(topic, b"forged", qos=quality, retain=quality == 1)
            assert await gets(board, "kitchen") == []
            assert await received_before_mark(all_of_them) == [] and await gets(other, "garden") == []
        assert where.heard == []

    run(tmp_path, work)


@in_one_case(
    "topic",
    [
        "engram/v1/garden/down",
        "engram/v1/garden/up",
        "engram/v1/kitchen/up",
        "engram/v1/+/down",
        "engram/v1/+/up",
        "engram/v1/kitchen/#",
        "engram/#",
        "#",
        "+/+/+/+",
        "$SYS/#",
        "$share/companion/engram/v1/+/up",
        "$share/x/engram/v1/garden/down",
    ],
)
def test_a_device_reads_no_other_topic(tmp_path: Path, topic: str):
    async def work(where: Place) -> None:
        async with where.client("kitchen") as board, where.client("garden") as other:
            assert await reasons(board, topic) == [128]
            await board.subscribe("engram/v1/kitchen/down", qos=1)
            await other.subscribe("engram/v1/garden/down", qos=1)
            await other.publish("engram/v1/garden/up", b"private", qos=1)
            assert await gets(other, "garden") == [("engram/v1/garden/down", b"to private")]
            assert await gets(board, "kitchen") == []

    run(tmp_path, work)


def test_a_last_will_reaches_nobody(tmp_path: Path):
    async def work(where: Place) -> None:
        will = aiomqtt.Will("engram/v1/garden/down", b"forged", qos=1, retain=True)
        async with where.client("garden") as other:
            await other.subscribe("engram/v1/garden/down", qos=1)
            board = where.client("kitchen", will=will)
            await board.__aenter__()
            connection = board._client.socket()
            assert connection
            connection.close()
            await wait_until_async("the broker sees that it has gone", lambda: not where.is_connected("kitchen"))
            assert await gets(other, "garden") == []

    run(tmp_path, work)


def test_what_was_retained_is_given_to_nobody(tmp_path: Path):
    async def work(where: Place) -> None:
        async with where.client("kitchen") as board:
            await board.publish("engram/v1/kitchen/up", b"private", qos=1, retain=True)
        async with where.client("garden") as other:
            await other.subscribe("engram/v1/garden/down")
            assert await gets(other, "garden") == []

    run(tmp_path, work)


def test_nobody_takes_the_connection_of_another_by_its_client_id(tmp_path: Path):
    async def work(where: Place) -> None:
        async with where.client("kitchen", identifier="one", clean_session=False) as board:
            await board.subscribe("engram/v1/kitchen/down", qos=1)
            async with where.client("garden", identifier="one", clean_session=False) as thief:
                await thief.subscribe("engram/v1/garden/down", qos=1)
                await board.publish("engram/v1/kitchen/up", b"private", qos=1)
                assert await gets(board, "kitchen") == [("engram/v1/kitchen/down", b"to private")]
                assert await gets(thief, "garden") == []

    run(tmp_path, work)


def test_who_fails_to_connect_changes_nothing_for_who_is_connected(tmp_path: Path):
    async def work(where: Place) -> None:
        async with where.client("kitchen", identifier="one", clean_session=False) as board:
            await board.subscribe("engram/v1/kitchen/down", qos=1)
            for name in (WORKER, "kitchen", "garden"):
                with pytest.raises(aiomqtt.MqttError):
                    async with where.client(name, "wrong", identifier="one", clean_session=False):
                        raise AssertionError(f"{name} is in")
            await board.publish("engram/v1/garden/up", b"forged", qos=1)
            await board.publish("engram/v1/kitchen/up", b"own", qos=1)
            assert await gets(board, "kitchen") == [("engram/v1/kitchen/down", b"to own")]
            assert where.heard == [("kitchen", b"own")]

    run(tmp_path, work)


def test_a_token_that_was_taken_away_ends_what_is_connected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    clock = Clock()
    monkeypatch.setattr(identity, "time", clock)

    async def work(where: Place) -> None:
        async with where.client("kitchen") as board, where.client("garden") as other:
            await board.subscribe("engram/v1/kitchen/down", qos=1)
            await other.subscribe("engram/v1/garden/down", qos=1)
            store = open_store(folder=tmp_path)
            store.remove_token("kitchen")
            store.close()
            clock.now += identity.SECONDS_KEPT
            known: list[identity.ApiCaller] = []
            monkeypatch.setattr(where.callers, "by_digest", _noted(where.callers.by_digest, known))
            await board.publish("engram/v1/kitchen/up", b"late", qos=1)
            await wait_until_async("somebody looks whose it is", lambda: known)
            assert known == [identity.STRANGER]
            assert await gets(other, "garden") == []
            assert len(board.messages) == 0 and where.heard == []

    run(tmp_path, work)


class Clock:
    """Stands for the module time."""

    def __init__(self) -> None:
        self.now = 1000.0

    def time(self) -> float:
        """The same, as Unix seconds."""
        return self.now

    def monotonic(self) -> float:
        """The seconds that a test sets."""
        return self.now


def _noted(
    asked: Callable[[bytes], Awaitable[ApiCaller]], answers: list[ApiCaller]
) -> Callable[[bytes], Awaitable[ApiCaller]]:
    async def noting(digest: bytes) -> ApiCaller:
        answers.append(await asked(digest))
        return answers[-1]

    return noting


# --- what a client cannot make the broker hold


async def raw(where: Place, data: bytes) -> bytes:
    """Send bytes to the broker; what it answers until it ends the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", where.broker.port)
    with contextlib.suppress(ConnectionError):
        writer.write(data)
        await writer.drain()
    try:
        async with asyncio.timeout(SECONDS):
            return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()


def _sized(data: bytes) -> bytes:
    return struct.pack("!H", len(data)) + data


def connect(name: str, token: str) -> bytes:
    """A packet that connects."""
    body = _sized(b"MQTT") + b"\x04\xc2\x00\x3c" + _sized(b"x") + _sized(name.encode()) + _sized(token.encode())
    return b"\x10" + bytes([len(body)]) + body


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\x10\xff\xff\xff\x7f" + _sized(b"MQTT"), id="a first packet of 256 MB"),
        pytest.param(b"\x10\xff\xff\xff\xff\xff", id="a length without end"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", id="a browser"),
        pytest.param(b"\x16\x03\x01\x02\x00", id="TLS"),
        pytest.param(b"\x30\x03\x00\x01x", id="a message before it says who it is"),
    ],
)
def test_what_is_no_connection_is_ended_at_once(tmp_path: Path, data: bytes, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(guarded_broker, "CONNECT_SECONDS", 1.0)

    async def work(where: Place) -> None:
        assert await raw(where, data) == b""

    run(tmp_path, work)


def test_a_silent_client_is_disconnected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(guarded_broker, "CONNECT_SECONDS", 0.2)

    async def work(where: Place) -> None:
        assert await raw(where, b"") == b""

    run(tmp_path, work)


def test_a_message_that_is_longer_than_any_ends_the_connection(tmp_path: Path):
    async def work(where: Place) -> None:
        long = b"\x30\xff\xff\xff\x7f" + _sized(b"engram/v1/kitchen/up")
        told = await raw(where, connect("kitchen", where.tokens["kitchen"]) + long)
        assert told == b"\x20\x02\x00\x00" and where.heard == []

    run(tmp_path, work)


def test_who_does_not_read_is_not_read_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(guarded_broker, "MOST_UNREAD", 512)

    async def work(where: Place) -> None:
        mine = socket.socket()
        mine.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        mine.connect(("127.0.0.1", where.broker.port))
        reader, writer = await asyncio.open_connection(sock=mine, limit=16)
        writer.write(connect("kitchen", where.tokens["kitchen"]))
        await reader.readexactly(4)
        theirs = where.transport("kitchen")
        theirs.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2048)
        theirs.set_write_buffer_limits(high=1024)
        before = len(asyncio.all_tasks())
        try:
            writer.write(b"\xc0\x00" * 100_000)
            await wait_until_async("the client leaves something unread", lambda: theirs.get_write_buffer_size() > 512)
            most = 0
            for _ in range(1000):  # turns of the loop, in which a broker without bounds would go on reading
                await asyncio.sleep(0)
                most = max(most, theirs.get_write_buffer_size())
            assert most < 4096
            # The kernel may have taken what was waiting, and the broker goes on until there is enough again.
            await wait_until_async("it still leaves something unread", lambda: theirs.get_write_buffer_size() > 512)
            assert len(asyncio.all_tasks()) < before + 20
        finally:
            writer.transport.abort()

    run(tmp_path, work)


def test_who_sends_too_much_is_slowed_down_and_loses_nothing(tmp_path: Path):
    async def work(where: Place) -> None:
        async with where.client("kitchen") as board:
            loop = asyncio.get_running_loop()
            began = loop.time()
            for number in range(40):
                await board.publish("engram/v1/kitchen/up", str(number).encode(), qos=1)
            await wait_until_async("all of it", lambda: len(where.heard) == 40)
            assert loop.time() - began > 0.9
            assert [data for _, data in where.heard] == [str(number).encode() for number in range(40)]

    run(tmp_path, work, rates=RateLimiter(30, 10))


def _refused_connect() -> bytes:
    """A packet of a version of MQTT that the broker does not know; amqtt answers it and closes."""
    body = _sized(b"MQTT") + b"\x09\x02\x00\x3c" + _sized(b"x")
    return b"\x10" + bytes([len(body)]) + body


def test_a_client_that_closes_while_it_is_refused_is_no_error_and_keeps_no_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def gone(_: asyncio.StreamWriter) -> None:
        raise OSError(errno.ENOTCONN, "Transport endpoint is not connected")

    errors: list[object] = []

    async def work(where: Place) -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: errors.append(context))
        broker = where.broker._broker
        assert broker
        before = broker._servers["default"].conn_count
        with monkeypatch.context() as closed:
            closed.setattr(asyncio.StreamWriter, "write_eof", gone)
            assert (await raw(where, _refused_connect()))[:1] in (b"", b"\x20")
            await wait_until_async("its place is free", lambda: broker._servers["default"].conn_count == before)

    run(tmp_path, work)
    assert errors == []


def test_failed_logins_are_counted_logged_by_address_and_name_and_slowed_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(rate_limit, "FREE", 3)
    monkeypatch.setattr(rate_limit, "REFILL", 0.001)
    monkeypatch.setattr(rate_limit, "SLOW_SECONDS", 0.05)

    async def work(where: Place) -> None:
        loop = asyncio.get_running_loop()
        took = []
        for _ in range(5):
            began = loop.time()
            assert (await raw(where, connect("kitchen", UNKNOWN)))[:4] == b"\x20\x02\x00\x05"
            took.append(loop.time() - began)
        assert min(took[3:]) >= 0.05

    run(tmp_path, work)
    lines = [record for record in caplog.records if record.name == "engram.security"]
    assert {record.getMessage() for record in lines} == {"a login over MQTT from 127.0.0.1 as 'kitchen' failed."}
    assert len(lines) == 5 and {vars(record)["repeat"] for record in lines} == {"MQTT 127.0.0.1 kitchen"}
    assert UNKNOWN not in caplog.text


@in_one_case(
    "one, other, are_one",
    [
        ("2001:db8::1", "2001:db8::ffff:2", True),
        ("::ffff:10.0.0.1", "10.0.0.1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("10.0.0.1", "10.0.0.2", False),
    ],
)
def test_failed_logins_of_one_network_are_slowed_down_together(
    one: str, other: str, are_one: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(rate_limit.asyncio, "sleep", sleep)
    failed = FailedLogins(limiter=RateLimiter(0.001, 1, Clock().monotonic))
    for address in (one, other):
        asyncio.run(failed.note("MQTT", address, "kitchen"))
    assert waits == [rate_limit.SLOW_SECONDS] * are_one
    assert one in caplog.text and other in caplog.text  # a person sees the whole address


def test_an_outage_of_the_database_is_no_failed_login(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(rate_limit, "FREE", 1)
    monkeypatch.setattr(rate_limit, "REFILL", 0.001)
    monkeypatch.setattr(rate_limit, "SLOW_SECONDS", 3600)

    async def fail(_: bytes) -> ApiCaller:
        raise StoreUnavailable("the disk of database.example is full")

    async def work(where: Place) -> None:
        right = connect("kitchen", where.tokens["kitchen"])
        with monkeypatch.context() as outage:
            outage.setattr(where.callers, "by_digest", fail)
            for _ in range(5):
                assert await raw(where, right) == b"\x20\x02\x00\x03"  # server unavailable
        # Nothing was counted: the first wrong token is still answered at once, and the right one comes in.
        assert await raw(where, connect("kitchen", UNKNOWN)) == b"\x20\x02\x00\x05"
        async with where.client("kitchen") as board:
            await board.subscribe("engram/v1/kitchen/down", qos=1)

    run(tmp_path, work)
    failed = [record for record in caplog.records if record.name == "engram.security"]
    assert len(failed) == 1 and "database.example" in caplog.text


def test_a_board_has_one_rate_limit_over_mqtt_and_http(tmp_path: Path):
    rates = RateLimiter(30, 1)

    async def work(where: Place) -> None:
        loop = asyncio.get_running_loop()
        async with where.client("kitchen") as board:
            began = loop.time()
            rates.wait_seconds("kitchen")  # as a request over HTTP counts
            await board.publish("engram/v1/kitchen/up", b"one", qos=1)
            await wait_until_async("it came", lambda: where.heard)
            assert loop.time() - began > 0.02

    run(tmp_path, work, rates=rates)


# --- TLS


def _broker_with_tls(home: Path, store: CompanionStore, supervisor: Supervisor) -> EmbeddedBroker:
    """A broker with the certificate and key of both.pem in a folder."""
    door = BrokerAccess(CallerLookup(store, tokens.new_token()), True, RateLimiter(0, 1), SECRET, FailedLogins())
    tls = listener_tls("mqtt", "both.pem", "both.pem", home)
    return EmbeddedBroker("127.0.0.1", free_port(), door, supervisor, Connections(16), tls)


def test_the_broker_has_tls_with_a_certificate(tmp_path: Path):
    authority = trustme.CA()
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(tmp_path / "both.pem")

    async def work() -> None:
        store = open_store(folder=tmp_path)
        store.add_token(tokens.stored_token("kitchen", token := tokens.new_token()))
        supervisor = Supervisor()
        broker = _broker_with_tls(tmp_path, store, supervisor)
        await broker.start()

        async def echo(_device: str, data: bytes) -> list[bytes]:
            return [data]

        login = BrokerLogin(WORKER, SECRET, trust_certificate("mqtt.certificate", tmp_path / "both.pem"))
        bus = MqttClient(broker.own_url, login, echo, supervisor)
        bus.start()
        assert broker.url.startswith("mqtts://") and await bus.wait(SECONDS)
        context = ssl.create_default_context()
        authority.configure_trust(context)
        async with aiomqtt.Client(
            "127.0.0.1", broker.port, username="kitchen", password=token, tls_context=context, timeout=SECONDS
        ) as board:
            await board.subscribe("engram/v1/kitchen/down", qos=1)
            await board.publish("engram/v1/kitchen/up", b"hello", qos=1)
            assert await gets(board, "kitchen") == [("engram/v1/kitchen/down", b"hello")]
        await bus.stop()
        await broker.stop()
        store.close()

    asyncio.run(work())


def test_a_broker_of_ones_own_may_have_a_certificate_of_a_private_authority(tmp_path: Path):
    authority = trustme.CA()
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(tmp_path / "both.pem")
    authority.cert_pem.write_to_path(tmp_path / "authority.pem")
    trustme.CA().cert_pem.write_to_path(tmp_path / "other.pem")

    async def work() -> None:
        store = open_store(folder=tmp_path)
        supervisor = Supervisor()
        broker = _broker_with_tls(tmp_path, store, supervisor)
        await broker.start()

        async def echo(_device: str, data: bytes) -> list[bytes]:
            return [data]

        async def reached(authority: str) -> bool:
            settings = MqttSettings(username=WORKER, password=SECRET, authority=authority)
            bus = MqttClient(broker.own_url, broker_login(settings, tmp_path), echo, supervisor)
            bus.start()
            await wait_until_async("it is in or out", lambda: bus.is_connected or "CERTIFICATE_" in bus.problem)
            is_reached = bus.is_connected
            await bus.stop()
            return is_reached

        assert await reached("authority.pem")
        assert not await reached("other.pem") and not await reached("")
        with pytest.raises(SettingError, match=r"mqtt\.authority"):
            await reached("none.pem")
        await broker.stop()
        store.close()

    asyncio.run(work())
