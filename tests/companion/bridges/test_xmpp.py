"""The bridge to XMPP against a real prosody, with second accounts by slixmpp itself."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from typing import Any
from xml.etree import ElementTree

import pytest
import trustme

from bridge_running import asynchronous, running
from cut_proxy import CutProxy
from engram_host.companion.bridges.errors import NetworkAway, SendFailed, SendRefused, SignInRefused
from engram_host.companion.bridges.kinds import KINDS, make_network
from engram_host.companion.bridges.network import Attachment, Chat, Incoming
from engram_host.companion.bridges.xmpp import bridge as xmpp
from engram_host.companion.bridges.xmpp import stanzas
from engram_host.companion.bridges.xmpp.bridge import XmppNetwork
from engram_host.companion.errors import StoreUnavailable
from peers import free_port
from prosody_server import DOMAIN, ROOM, ProsodyServer, is_usable
from recording_host import RecordingHost
from waiting import wait_until_async
from xmpp_peer import XmppPeer

pytestmark = [
    pytest.mark.soak,  # `make test` plays some cells of test_networks.py on prosody
    pytest.mark.skipif(not is_usable(), reason="there is no prosody for this machine"),
]

ANN = Chat(f"ann@{DOMAIN}")
ROOM_CHAT = Chat(ROOM, is_group=True)


@pytest.fixture(scope="module")
def server() -> Iterator[ProsodyServer]:
    """One prosody for all tests of this module."""
    made = ProsodyServer((free_port(), free_port()))
    made.start()
    yield made
    made.stop()


@pytest.fixture
def host() -> RecordingHost:
    return RecordingHost()


def network_of(server: ProsodyServer, /, **others: str) -> XmppNetwork:
    """The network of the server's account, with other settings than the server's."""
    nothing = {field.name: "" for field in KINDS["xmpp"].fields}
    made = make_network("xmpp", {**nothing, **server.settings, **others})
    assert isinstance(made, XmppNetwork)
    return made


@contextlib.asynccontextmanager
async def people(server: ProsodyServer, *names: str) -> AsyncIterator[list[XmppPeer]]:
    """Second accounts, signed in and in the room."""
    peers = [await server.peer(name) for name in names]
    try:
        yield peers
    finally:
        for peer in peers:
            await peer.close()


# --- what comes


@asynchronous
async def test_a_private_message_comes_with_a_lasting_id_and_is_confirmed_once_kept(
    server: ProsodyServer, host: RecordingHost
):
    async with running(network_of(server), host), people(server, "ann") as [ann]:
        sent = await ann.say("hello there")
        message = await host.next("hello there")
        assert (message.id, message.chat, message.sender, message.sender_name) == (sent, ANN, ann.id, "ann")
        assert (message.text, message.is_mentioned, message.at) == ("hello there", True, 0)
        await wait_until_async("a receipt", lambda: ann.receipts == [sent])


@asynchronous
async def test_a_message_that_could_not_be_kept_is_not_confirmed_and_comes_again(
    server: ProsodyServer, host: RecordingHost
):
    host.refuses = StoreUnavailable("the disk is full.")
    async with people(server, "ann") as [ann]:
        async with running(network_of(server), host) as task:
            sent = await ann.say("keep this")
            await asyncio.wait([task])
            assert isinstance(task.exception(), StoreUnavailable)
        assert ann.receipts == []
        host.refuses = None
        async with running(network_of(server), host):
            message = await host.next("keep this")
            assert message.id == sent
            await wait_until_async("a receipt", lambda: ann.receipts == [sent])
        assert len(host.received) == 1


@pytest.mark.parametrize("is_group", [False, True])
@asynchronous
async def test_after_a_stanza_that_cannot_be_read_the_next_one_comes(
    server: ProsodyServer, host: RecordingHost, monkeypatch: pytest.MonkeyPatch, is_group: bool
):
    read = stanzas.room_message if is_group else stanzas.private_message

    def failing(message: ElementTree.Element, *others: Any) -> Incoming | None:
        if "mischief" in message.findtext("{jabber:client}body", ""):
            raise RecursionError("deep")
        return read(message, *others)

    monkeypatch.setattr(stanzas, read.__name__, failing)
    async with running(network_of(server), host), people(server, "ann") as [ann]:
        await ann.say("mischief", group=is_group)
        await ann.say("hello there", group=is_group)
        await host.next("hello there")
    assert [message.text for message in host.received] == ["hello there"]


@asynchronous
async def test_what_is_said_in_a_room_comes_with_and_without_a_mention(server: ProsodyServer, host: RecordingHost):
    async with running(network_of(server), host), people(server, "ann") as [ann]:
        await ann.say("dinner is ready", group=True)
        await ann.say("what is the time?", group=True, mention=True)
        await ann.say("ask ENGRAM, it knows", group=True)
        await ann.say("engrams are memories", group=True)
        await host.next("memories")
    said = [(message.text, message.is_mentioned) for message in host.received]
    assert said == [
        ("dinner is ready", False),
        ("what is the time?", True),
        ("ask ENGRAM, it knows", True),
        ("engrams are memories", False),
    ]
    assert {(message.chat, message.sender, message.sender_name) for message in host.received} == {
        (ROOM_CHAT, ann.id, "ann")
    }


@asynchronous
async def test_a_reply_to_the_account_is_a_mention_and_comes_without_the_quote(
    server: ProsodyServer, host: RecordingHost
):
    network = network_of(server)
    async with running(network, host), people(server, "ann") as [ann]:
        await network.send(ROOM_CHAT, "It is four.", "answer-1")
        quote = "> It is four.\n"
        reply = ann.message(f"{quote}Are you sure?", group=True)
        append(reply, f"<reply xmlns='urn:xmpp:reply:0' to='{ROOM}/engram' id='x'/>")
        part = f"<body start='0' end='{len(quote)}'/>"
        append(reply, f"<fallback xmlns='urn:xmpp:fallback:0' for='urn:xmpp:reply:0'>{part}</fallback>")
        reply.send()
        message = await host.next("sure")
        assert (message.text, message.is_mentioned) == ("Are you sure?", True)


@asynchronous
async def test_own_messages_and_what_no_person_says_are_ignored(server: ProsodyServer, host: RecordingHost):
    network = network_of(server)
    async with running(network, host), people(server, "ann") as [ann]:
        await network.send(ROOM_CHAT, "said by the account itself", "own-1")
        await ann.say("hello")
        carbon = ann.message("")
        forwarded = f"<message xmlns='jabber:client' from='ben@{DOMAIN}' type='chat'><body>forged</body></message>"
        inside = f"<forwarded xmlns='urn:xmpp:forward:0'>{forwarded}</forwarded>"
        append(carbon, f"<received xmlns='urn:xmpp:carbons:2'>{inside}</received>")
        carbon.send()
        passed_on = ann.message("")
        append(passed_on, inside)
        passed_on.send()
        headline = ann.message("news of today")
        headline["type"] = "headline"
        headline.send()
        await ann.say("last")
        await host.next("last")
    assert [(message.text, message.forwarded) for message in host.received] == [
        ("hello", ""),
        ("forged", f"ben@{DOMAIN}"),
        ("last", ""),
    ]


@asynchronous
async def test_a_correction_names_the_message_by_the_id_that_the_engine_knows(
    server: ProsodyServer, host: RecordingHost
):
    async with running(network_of(server), host), people(server, "ann") as [ann]:
        for is_group in (False, True):
            sent = await ann.say("on Munday", group=is_group)
            first = await host.next("Munday")
            for text in ("on Monday", "on Tuesday"):
                correction = ann.message(text, group=is_group)
                correction["replace"]["id"] = sent
                correction.send()
                assert (await host.next(text)).edits == first.id
            host.received.clear()


@asynchronous
async def test_pictures_come_as_attachments_with_their_caption(server: ProsodyServer, host: RecordingHost):
    async with running(network_of(server), host), people(server, "ann") as [ann]:
        await ann.send_photo("look at her")
        message = await host.next("look at her")
        assert (message.text, message.attachments) == ("look at her", (Attachment("photo", "cat.jpg"),))
        await ann.say("aesgcm://files.engram.test/b2/notes.pdf#0123")
        await host.wait_until(lambda: len(host.received) == 2)
        assert (host.received[1].text, host.received[1].attachments) == ("", (Attachment("file", "notes.pdf"),))


@asynchronous
async def test_an_encrypted_message_is_named_in_place_of_its_excuse(server: ProsodyServer, host: RecordingHost):
    async with running(network_of(server), host), people(server, "ann") as [ann]:
        secret = ann.message("I sent you an OMEMO encrypted message but your client does not support that.")
        append(secret, "<encrypted xmlns='eu.siacs.conversations.axolotl'><payload>AAAA</payload></encrypted>")
        secret.send()
        await host.wait_until(lambda: host.received)
        assert (host.received[0].text, host.received[0].attachments) == (
            "",
            (Attachment("file", "an encrypted message"),),
        )


@asynchronous
async def test_whoever_wants_to_see_the_account_is_let(server: ProsodyServer, host: RecordingHost):
    async with running(network_of(server), host), people(server, "ben") as [ben]:
        ben.subscribe()
        await wait_until_async("seen", lambda: ben.sees_bridge)


# --- what goes


@asynchronous
async def test_a_reply_is_shown_in_xmpps_marks_corrected_and_announced(server: ProsodyServer, host: RecordingHost):
    network = network_of(server)
    async with running(network, host), people(server, "ann") as [ann]:
        for chat in (ANN, ROOM_CHAT):
            await network.show_typing(chat, True)
            sent = await network.send(chat, "**Tea** is at", f"answer-{chat.is_group}".lower())
            await ann.wait_for("*Tea* is at", group=chat.is_group)
            await network.edit(chat, sent, "**Tea** is at _four_.")
            shown = await ann.wait_for("four", group=chat.is_group)
            assert (shown.id, shown.text, shown.edits) == (sent, "*Tea* is at _four_.", 1)
        assert ann.typing_signs == 2
        await network.send(ANN, "**as it is**", "answer-2", is_plain=True)
        await ann.wait_for("**as it is**")


@asynchronous
async def test_a_long_text_of_all_signs_arrives_as_it_was_sent(server: ProsodyServer, host: RecordingHost):
    network = network_of(server)
    text = "<&>\"' \u00e9\u6f22\U0001f600 " * 200
    text = text[: len(text) - len(text) % 13][:3000]
    async with running(network, host), people(server, "ann") as [ann]:
        assert network.features.count_units(text) <= network.features.most_units
        await network.send(ANN, text + "\x00\x1bend", "long-1")
        assert (await ann.wait_for("end")).text == text + "end"


@asynchronous
async def test_a_message_that_nobody_can_take_is_refused(server: ProsodyServer, host: RecordingHost):
    network = network_of(server)
    async with running(network, host):
        with pytest.raises(SendRefused, match=r"nobody@engram\.test refuses the message"):
            await network.send(Chat(f"nobody@{DOMAIN}"), "hello", "refused-1")
        with pytest.raises(SendRefused, match="other@rooms"):
            await network.send(Chat(f"other@rooms.{DOMAIN}", is_group=True), "hello", "refused-2")


@asynchronous
async def test_nothing_is_sent_before_the_network_is_reached_and_after(server: ProsodyServer, host: RecordingHost):
    network = network_of(server)
    with pytest.raises(SendFailed, match="not connected"):
        await network.send(ANN, "too early", "early-1")
    async with running(network, host):
        pass
    with pytest.raises(SendFailed, match="not connected"):
        await network.send(ANN, "too late", "late-1")
    await network.show_typing(ANN, True)


# --- signing in, and the end


@asynchronous
async def test_check_signs_in_beside_a_bridge_that_runs(server: ProsodyServer, host: RecordingHost):
    network = network_of(server)
    async with running(network, host) as task:
        assert await network_of(server).check() == f"kitchen@{DOMAIN}"
        await network.send(ANN, "still here", "check-1")
        assert not task.done()


@asynchronous
async def test_direct_tls_is_found_where_a_port_speaks_it(server: ProsodyServer):
    assert await network_of(server, server=f"127.0.0.1:{server.direct_port}").check() == f"kitchen@{DOMAIN}"


@asynchronous
async def test_a_wrong_password_is_refused_without_saying_it(server: ProsodyServer, host: RecordingHost):
    network = network_of(server, password="Coffee-at-5")
    for attempt in (network.check, lambda: network.run(host)):
        with pytest.raises(SignInRefused, match=f"does not know kitchen@{DOMAIN}") as refused:
            await attempt()
        assert "Coffee" not in str(refused.value)
    assert host.accounts == []


@pytest.mark.parametrize("port_of", ["starttls", "direct"])
@asynchronous
async def test_a_server_with_another_authoritys_certificate_is_not_trusted(
    server: ProsodyServer, tmp_path, port_of: str
):
    trustme.CA().cert_pem.write_to_path(tmp_path / "other.pem")
    port = server.direct_port if port_of == "direct" else server.port
    network = network_of(server, authority=str(tmp_path / "other.pem"), server=f"127.0.0.1:{port}")
    with pytest.raises(NetworkAway, match=r"certificate of engram\.test cannot be trusted"):
        await network.check()


@asynchronous
async def test_a_server_that_is_not_there_is_away(server: ProsodyServer, host: RecordingHost):
    with pytest.raises(NetworkAway, match="cannot be reached"):
        await network_of(server, server=f"127.0.0.1:{free_port()}").run(host)


@asynchronous
async def test_a_cancelled_bridge_leaves_no_task_behind(server: ProsodyServer, host: RecordingHost):
    before = asyncio.all_tasks()
    for steps in range(0, 100, 5):  # of signing in
        async with CutProxy(server.port) as proxy:
            network = network_of(server, server=f"127.0.0.1:{proxy.port}")
            task = asyncio.create_task(network.run(host))
            await wait_until_async("a step", lambda steps=steps, proxy=proxy: proxy.steps >= steps or host.accounts)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            assert task.cancelled()
        await wait_until_async("the end of the proxy's own tasks", lambda: len(asyncio.all_tasks()) <= len(before))
        assert asyncio.all_tasks() == before
        if host.accounts:
            break
    assert host.accounts


@asynchronous
async def test_another_companion_with_the_account_is_named(server: ProsodyServer, host: RecordingHost):
    async with running(network_of(server), host) as first, running(network_of(server), RecordingHost()):
        await asyncio.wait([first])
        with pytest.raises(NetworkAway, match="another companion"):
            await first


# --- breaks


@asynchronous
async def test_a_connection_that_breaks_is_resumed_and_nothing_is_lost_or_doubled(
    server: ProsodyServer, host: RecordingHost
):
    async with CutProxy(server.port) as proxy, people(server, "cleo") as [cleo]:
        network = network_of(server, server=f"127.0.0.1:{proxy.port}")
        async with running(network, host) as task:
            await cleo.say("before")
            await host.next("before")
            proxy.fall_silent()
            await cleo.say("meanwhile")
            going = asyncio.create_task(network.send(Chat(cleo.id), "an answer across the break", "break-1"))
            await proxy.wait_until_lost(200)  # more than a confirmation has
            await proxy.cut()
            await host.next("meanwhile")
            assert await going == "break-1"
            await cleo.say("in the room after it", group=True)
            await host.next("in the room after it")
            await cleo.say("at last")
            await host.next("at last")
            assert not task.done()
            assert len(host.accounts) == 2
        assert [message.text for message in host.received] == ["before", "meanwhile", "in the room after it", "at last"]
        shown = [message.text for message in cleo.shown()]
        assert shown == ["an answer across the break"]


@asynchronous
async def test_a_server_that_falls_silent_is_noticed(
    server: ProsodyServer, host: RecordingHost, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(xmpp, "PING_SECONDS", 0.05)
    async with CutProxy(server.port) as proxy:
        network = network_of(server, server=f"127.0.0.1:{proxy.port}", rooms="")
        async with running(network, host) as task:
            monkeypatch.setattr(xmpp, "PONG_SECONDS", 0.3)  # signing in may take longer
            connections = proxy.accepted
            proxy.fall_silent()
            await wait_until_async("a new connection", lambda: proxy.accepted > connections)
            await proxy.stop()
            await asyncio.wait([task])
            with pytest.raises(NetworkAway):
                await task


@asynchronous
async def test_after_the_server_was_killed_what_came_meanwhile_comes(host: RecordingHost):
    server = ProsodyServer((free_port(), free_port()))
    server.start()
    try:
        network = network_of(server)
        async with running(network, host) as task:
            server.kill()
            await asyncio.wait([task])
            with pytest.raises(NetworkAway):
                await task
        server.start()
        async with people(server, "ann") as [ann]:
            sent = await ann.say("are you there?")
            await ann.say("in the room", group=True)
            async with running(network, host):
                message = await host.next("are you there?")
                assert message.id == sent
                assert message.at > 0
            async with running(network, host) as task:
                server.kill()
                server.start()  # before the bridge can notice: it finds a server that does not know its session
                await asyncio.wait([task])
                with pytest.raises(NetworkAway, match="not kept the session"):
                    await task
    finally:
        server.stop()


@asynchronous
async def test_a_room_gives_what_was_said_since_the_mark_with_the_same_ids(server: ProsodyServer, host: RecordingHost):
    async with people(server, "ann", "ben") as [ann, ben]:
        await ann.say("before the account was ever there", group=True)
        async with running(network_of(server), host):
            await ann.say("while it is there", group=True)
            live = await host.next("while it is there")
            assert host.received == [live]
        await ben.say("while it is away", group=True, mention=True)
        await ben.wait_for("while it is there", group=True)
        async with running(network_of(server), host):
            missed = await host.next("while it is away")
            again = await host.next("while it is there")
        assert (missed.is_mentioned, missed.sender_name, missed.at > 0) == (True, "ben", True)
        assert again.id == live.id


@asynchronous
async def test_in_a_room_that_hides_addresses_a_person_is_known_by_the_rooms_id(host: RecordingHost):
    server = ProsodyServer((free_port(), free_port()), is_archived=False, has_public_jids=False)
    server.start()
    try:
        async with people(server, "ann") as [ann], running(network_of(server), host):
            await ann.say("who am I?", group=True)
            message = await host.next("who am I?")
            assert message.sender.startswith(f"{ROOM}#")
            assert message.id.startswith(f"{ROOM}/ann ")
            await ann.rename("anna")
            await ann.say("still me", group=True)
            renamed = await host.next("still me")
            assert (renamed.sender, renamed.sender_name) == (message.sender, "anna")
    finally:
        server.stop()


@asynchronous
async def test_a_nickname_that_is_taken_gets_an_underscore(server: ProsodyServer, host: RecordingHost):
    async with people(server, "ben") as [ben]:
        await ben.rename("engram")
        async with running(network_of(server), host):
            await ben.say("engram_: is it you?", group=True)
            assert (await host.next("is it you?")).is_mentioned


def append(message, xml: str) -> None:
    """Put an element into a message."""
    from slixmpp.xmlstream import ET

    message.xml.append(ET.fromstring(xml))


@asynchronous
async def test_no_message_is_lost_or_doubled_over_many_breaks(server: ProsodyServer, host: RecordingHost):
    messages, every = 600, 25
    async with CutProxy(server.port) as proxy, people(server, "cleo") as [cleo]:
        network = network_of(server, server=f"127.0.0.1:{proxy.port}", rooms="")
        async with running(network, host) as task:
            going = []
            sent = []
            for number in range(messages):
                sent.append(await cleo.say(f"question {number}"))
                going.append(asyncio.create_task(network.send(Chat(cleo.id), f"answer {number}", f"many-{number}")))
                if number % every == every // 2:
                    proxy.fall_silent()
                if number % every == every - 1:
                    connections = len(host.accounts)
                    await proxy.cut()
                    await host.wait_until(lambda before=connections: len(host.accounts) > before)
                await asyncio.sleep(0)
            outcomes = await asyncio.gather(*going, return_exceptions=True)
            await host.next(f"question {messages - 1}")
            assert not task.done()
        received = [message.id for message in host.received]
        assert list(dict.fromkeys(received)) == sent
        assert proxy.leaks == 0, "a message was sent before the connection was secure"
        answers = [shown.text for shown in cleo.shown() if shown.text.startswith("answer")]
        assert len(answers) == len(set(answers))
        certain = [f"answer {number}" for number, outcome in enumerate(outcomes) if isinstance(outcome, str)]
        refused = [f"answer {number}" for number, outcome in enumerate(outcomes) if type(outcome) is SendFailed]
        assert set(certain) <= set(answers)
        assert not set(refused) & set(answers)
        assert len(certain) + len(refused) == messages
