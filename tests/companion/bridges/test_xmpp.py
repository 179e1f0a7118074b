"""The bridge to XMPP against a real prosody, with second accounts by slixmpp itself: in `make soak`."""

import asyncio
import contextlib
from collections import Counter
from typing import Any
from xml.etree import ElementTree

import pytest
import trustme

from bridge_run import asynchronous, made, on, running
from cut_proxy import CutProxy
from engram_host.companion.bridges.errors import NetworkAway, SendFailed, SendUncertain, SignInRefused
from engram_host.companion.bridges.network import Chat, Incoming
from engram_host.companion.bridges.xmpp import bridge as xmpp
from engram_host.companion.bridges.xmpp import stanzas
from peers import free_port
from prosody_server import DOMAIN, ROOM, ProsodyServer, is_usable
from recording_host import RecordingHost
from waiting import wait_until_async

pytestmark = [pytest.mark.soak, pytest.mark.skipif(not is_usable(), reason="there is no prosody for this machine")]

ACCOUNT = f"kitchen@{DOMAIN}"


# --- what comes


@pytest.mark.parametrize("is_group", [False, True])
@on("xmpp")
async def test_after_a_stanza_that_cannot_be_read_the_next_one_comes(network, host, ann, monkeypatch, is_group: bool):
    read = stanzas.room_message if is_group else stanzas.private_message

    def failing(message: ElementTree.Element, *others: Any) -> Incoming | None:
        if "mischief" in message.findtext("{jabber:client}body", ""):
            raise RecursionError("deep")
        return read(message, *others)

    monkeypatch.setattr(stanzas, read.__name__, failing)
    await ann.say("mischief", group=is_group)
    await ann.say("hello there", group=is_group)
    await host.next("hello there")
    assert [message.text for message in host.received] == ["hello there"]


# --- signing in, and the end


@on("xmpp")
async def test_a_wrong_password_is_refused_without_saying_it(server, host):
    network = made("xmpp", server.settings, password="Coffee-at-5")
    for attempt in (network.check, lambda: network.run(host)):
        with pytest.raises(SignInRefused, match=f"does not know {ACCOUNT}") as refused:
            await attempt()
        assert "Coffee" not in str(refused.value)


@on("xmpp")
async def test_a_server_with_another_authoritys_certificate_is_not_trusted(server, tmp_path):
    authority = tmp_path / "other.pem"
    trustme.CA().cert_pem.write_to_path(authority)
    for port in (server.port, server.direct_port):
        network = made("xmpp", server.settings, authority=str(authority), server=f"127.0.0.1:{port}")
        with pytest.raises(NetworkAway, match=r"certificate of engram\.test cannot be trusted"):
            await network.check()


@on("xmpp")
async def test_another_companion_with_the_account_is_named(server, network, task):
    async with running(made("xmpp", server.settings), RecordingHost()):
        await asyncio.wait([task])
        with pytest.raises(NetworkAway, match="another companion"):
            await task


# --- breaks


@on("xmpp")
async def test_a_server_that_falls_silent_is_noticed(server, host, monkeypatch):
    monkeypatch.setattr(xmpp, "PING_SECONDS", 0.05)
    async with CutProxy(server.port) as proxy:
        network = made("xmpp", server.settings, server=f"127.0.0.1:{proxy.port}", rooms="")
        async with running(network, host) as task:
            monkeypatch.setattr(xmpp, "PONG_SECONDS", 0.3)  # signing in may take longer
            proxy.fall_silent()
            await asyncio.wait([task])
            with pytest.raises(NetworkAway):
                await task


@on("xmpp")
async def test_a_room_gives_what_was_said_since_the_mark_with_the_same_ids(server, host):
    ann, ben = await server.peer("ann"), await server.peer("ben")
    async with running(made("xmpp", server.settings), host):
        await ann.say("while it is there", group=True)
        live = await host.next("while it is there")
        assert host.received == [live]
    await ben.say("while it is away", group=True, mention=True)
    await ben.wait_for("while it is there", group=True)
    async with running(made("xmpp", server.settings), host):
        missed = await host.next("while it is away")
        again = await host.next("while it is there")
    assert (missed.is_mentioned, missed.sender_name, missed.at > 0) == (True, "ben", True)
    assert again.id == live.id
    for peer in (ann, ben):
        await peer.close()


@asynchronous
async def test_in_a_room_that_hides_addresses_a_person_is_known_by_the_rooms_id():
    server, host = ProsodyServer((free_port(), free_port()), is_archived=False, has_public_jids=False), RecordingHost()
    server.start()
    try:
        ann = await server.peer("ann")  # whoever comes first owns the room, and sees all addresses
        async with running(made("xmpp", server.settings), host):
            await ann.say("who am I?", group=True)
            message = await host.next("who am I?")
            assert message.sender.startswith(f"{ROOM}#") and message.id.startswith(f"{ROOM}/ann ")
            await ann.rename("anna")
            await ann.say("still me", group=True)
            renamed = await host.next("still me")
            assert (renamed.sender, renamed.sender_name) == (message.sender, "anna")
        await ann.close()
    finally:
        server.stop()


async def _run_again_and_again(network: Any, host: RecordingHost) -> None:
    """Run a network as its runner does: whatever broke a connection, there is another one."""
    while True:
        with contextlib.suppress(NetworkAway):
            await network.run(host)


async def _send_until_confirmed(network: Any, host: RecordingHost, chat: Chat, key: str) -> bool:
    """Send a message as the engine does, after each break again; False if an attempt may have arrived unconfirmed."""
    is_certain = True
    while True:
        connections = len(host.accounts)
        try:
            await network.send(chat, key, key)
        except SendFailed as problem:
            is_certain &= not isinstance(problem, SendUncertain)
            await host.wait_until(lambda before=connections: len(host.accounts) > before)
        else:
            return is_certain


@on("xmpp")
async def test_no_message_is_lost_or_doubled_over_many_breaks(server, host):
    messages, every = 600, 25
    cleo, sent, going = await server.peer("cleo"), list[str](), list[asyncio.Task[bool]]()
    async with CutProxy(server.port) as proxy:
        network = made("xmpp", server.settings, server=f"127.0.0.1:{proxy.port}", rooms="")
        task = asyncio.create_task(_run_again_and_again(network, host))
        await host.wait_until(lambda: host.accounts)
        for number in range(messages):
            sent.append(await cleo.say(f"question {number}"))
            going.append(asyncio.create_task(_send_until_confirmed(network, host, Chat(cleo.id), f"answer {number}")))
            if number % every == every // 2:
                proxy.fall_silent()
            if number % every == every - 1:
                await proxy.cut()
                # prosody drops the oldest of more than 500 unconfirmed messages, so each connection brings some.
                await host.next(f"question {number}")
            await asyncio.sleep(0)
        are_certain = await asyncio.gather(*going)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert proxy.leaks == 0, "a message was sent before the connection was secure"
    assert list(dict.fromkeys(message.id for message in host.received)) == sent
    answers = [f"answer {number}" for number in range(messages)]
    await wait_until_async("an answer is lost", lambda: {message.id for message in cleo.shown()} == {*answers})
    shown = Counter(message.id for message in cleo.shown())
    assert all(shown[answer] == 1 for answer, is_certain in zip(answers, are_certain, strict=True) if is_certain)
    await cleo.close()
