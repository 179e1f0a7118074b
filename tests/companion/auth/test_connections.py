"""The bound of open connections: how many there are, whose, and which of them make room."""

import asyncio
import errno
import logging
import resource
import socket

import pytest

from engram_host.companion.auth import connections as acceptors
from engram_host.companion.auth import connections as bounds
from engram_host.companion.auth.connections import (
    Connection,
    Connections,
    accept_streams,
    bind_socket,
    most_connections,
    raise_descriptor_limit,
)
from one_case import in_one_case
from waiting import wait_until_async


def admitted(connections: Connections, address: str, closed: list[str], name: str) -> Connection:
    connection = connections.admit(address)
    assert connection
    connection.close = lambda: closed.append(name)
    return connection


def test_the_unknown_client_that_has_been_there_longest_makes_room():
    closed: list[str] = []
    connections = Connections(3)
    for name in ("known", "first", "second"):
        connection = admitted(connections, f"10.0.0.{len(name)}", closed, name)
        if name == "known":
            connection.mark_known()
    admitted(connections, "10.0.0.9", closed, "new")
    assert (closed, connections.count) == (["first"], 3)


def test_a_client_is_refused_where_all_others_have_shown_a_token():
    connections = Connections(2)
    for _ in range(2):
        admitted(connections, "10.0.0.1", [], "").mark_known()
    assert connections.admit("10.0.0.2") is None
    assert connections.count == 2


def test_an_address_makes_room_for_its_own_connections_only():
    closed: list[str] = []
    connections = Connections(10, 2)
    admitted(connections, "10.0.0.1", closed, "another address")
    for name in ("first", "second", "third"):
        admitted(connections, "10.0.0.2", closed, name)
    assert closed == ["first"]


def test_an_address_whose_clients_are_all_known_is_refused_and_others_are_not():
    connections = Connections(10, 1)
    admitted(connections, "10.0.0.1", [], "").mark_known()
    assert connections.admit("10.0.0.1") is None
    assert connections.admit("10.0.0.2")


@in_one_case(
    "one, other, are_one",
    [
        ("2001:db8::1", "2001:db8::ffff:2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:10.0.0.1", "10.0.0.1", True),
        ("fe80::1%eth0", "fe80::2%eth0", True),
        ("10.0.0.1", "10.0.0.2", False),
    ],
)
def test_addresses_of_one_network_are_counted_together(one: str, other: str, are_one: bool):
    connections = Connections(10, 1)
    admitted(connections, one, [], "").mark_known()
    assert (connections.admit(other) is None) == are_one


def test_a_connection_that_has_ended_leaves_its_place_once():
    connections = Connections(1)
    connection = admitted(connections, "10.0.0.1", [], "")
    connection.mark_known()
    connection.release()
    connection.release()
    assert connections.count == 0 and connections.admit("10.0.0.1")


# --- descriptors


@in_one_case("limits, raised", [((256, 4096), 4096), ((4096, 4096), 4096), ((256, resource.RLIM_INFINITY), 1 << 16)])
def test_the_limit_of_descriptors_is_raised_to_the_hard_one(
    limits: tuple[int, int], raised: int, monkeypatch: pytest.MonkeyPatch
):
    changed: list[tuple[int, int]] = []
    monkeypatch.setattr(bounds.resource, "getrlimit", lambda _: limits)
    monkeypatch.setattr(bounds.resource, "setrlimit", lambda _, wanted: changed.append(wanted))
    assert raise_descriptor_limit() == raised
    assert changed == ([] if limits[0] == raised else [(raised, limits[1])])


def test_a_limit_that_cannot_be_raised_stays(monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object) -> None:
        raise ValueError("not allowed to raise maximum limit")

    monkeypatch.setattr(bounds.resource, "getrlimit", lambda _: (256, 4096))
    monkeypatch.setattr(bounds.resource, "setrlimit", refuse)
    assert raise_descriptor_limit() == 256


@in_one_case("descriptors, most", [(100000, 4096), (1024, 768), (300, 150)])
def test_connections_are_bounded_below_the_descriptors(descriptors: int, most: int):
    assert most_connections(4096, descriptors) == most


class ExhaustedSocket(socket.socket):
    """A socket that a system without a free descriptor accepts from, while `is_exhausted`."""

    is_exhausted = True
    asked = 0

    def accept(self) -> tuple[socket.socket, object]:
        self.asked += 1
        if self.is_exhausted:
            raise OSError(errno.EMFILE, "Too many open files")
        return super().accept()


def test_accepting_pauses_without_a_descriptor_and_goes_on_afterwards(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(acceptors, "PAUSE_SECONDS", 0.2)
    heard: list[bytes] = []

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.read(5))
        writer.close()

    async def play() -> None:
        listener = ExhaustedSocket(fileno=bind_socket("127.0.0.1", 0).detach())
        connections = Connections(10)
        idle: list[str] = []
        admitted(connections, "10.0.0.1", idle, "idle")
        accepting = accept_streams(listener, connections, connected, None)
        _, writer = await asyncio.open_connection(*listener.getsockname())
        writer.write(b"hello")
        await wait_until_async("the first pause", lambda: listener.asked)
        assert idle == ["idle"]
        await wait_until_async("another look", lambda: listener.asked == 2)
        assert [record.message for record in caplog.records if record.levelno == logging.ERROR] == [
            "no connection can be accepted (Too many open files): accepting pauses for 0.20 s; raise the limit of open files"
        ] * 2
        listener.is_exhausted = False
        await wait_until_async("what was sent", lambda: heard == [b"hello"])
        writer.close()
        accepting.close()
        await accepting.wait_closed()

    asyncio.run(play())
