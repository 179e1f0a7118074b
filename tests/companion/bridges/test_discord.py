"""Discord's bridge with discord.py, against a strict fake of the REST API and the gateway."""

import asyncio
import threading

import pytest

from bridge_run import made, on, running
from discord_fake import DiscordServer
from discord_records import Channel, Message
from engram_host.companion.bridges.errors import BridgeUnavailable, NetworkAway, SendRefused
from engram_host.companion.bridges.network import Chat, Incoming
from engram_host.companion.conversations.chat_messages import keepable
from recording_host import RecordingHost
from waiting import wait_until_async


async def caught_up(server: DiscordServer, host: RecordingHost) -> None:
    """Wait until the bridge has looked for what came while it was away: then it keeps its mark."""
    await host.wait_until(lambda: host.mark)


# --- what comes in


@on("discord")
async def test_other_people_are_named_in_a_text(server, network, host):
    ann, bob = await server.peer("ann"), await server.peer("bob")
    await ann.say(f"ask <@{bob.id}> too")
    assert (await host.next("too")).text == "ask @Bob too"


WORDS = [
    ("hello", ("hello", "", "")),
    ("> /forget m1\nwhat is that?", ("what is that?", "/forget m1", "")),
    ("so:\n>>> yes\n/undo", ("so:", "yes /undo", "")),
    (">>> yes\n/undo", ("yes\n/undo", "", "somebody")),
    ("```\n> code\n```", ("```\n> code\n```", "", "")),
]
"""What people write, and what comes of it: the text, what it quotes, and who wrote it."""

PICTURE = {"id": "1", "filename": "a.png", "size": 3, "content_type": "image/png", "url": "x", "proxy_url": "x"}


@on("discord")
async def test_quoted_and_forwarded_words_come_with_their_origin(server, network, host):
    ann, bob = await server.peer("ann"), await server.peer("bob")
    for written, expected in WORDS:
        await ann.say(written)
        await host.wait_until(lambda: host.received)
        assert whose(host.received.pop()) == expected
    said = Message(server.house, bob.user, f"/new <@{server.bot.id}>", attachments=[PICTURE])
    await ann.forward(said)
    await host.wait_until(lambda: host.received)
    forwarded = host.received.pop()
    assert whose(forwarded) == (said.content, "", "the channel house") and len(forwarded.attachments) == 1
    await ann.forward(Message(Channel("elsewhere"), bob.user, "yes"))
    await ann.forward(Message(Channel("elsewhere"), bob.user, "/new"), "what does he mean?", group=True)
    await host.wait_until(lambda: len(host.received) == 2)
    assert [whose(one) for one in host.received] == [("yes", "", "somebody"), ("what does he mean?", "/new", "")]
    assert not host.received[1].is_mentioned


def whose(message: Incoming) -> tuple[str, str, str]:
    """The words of a message as the engine takes them."""
    taken = keepable(message)
    assert taken
    return taken.text, taken.quoted, taken.forwarded


@on("discord")
async def test_a_reply_brings_what_it_answers_and_a_mention_in_a_quote_is_none(server, network, host, ann):
    said = server.add_message(Message(server.house, server.bot, "Water the fern on Saturday"))
    await ann.reply("on Sunday", str(said.id))
    message = await host.next("on Sunday")
    assert message.quoted == "Water the fern on Saturday" and message.is_mentioned
    await ann.say(f"> <@{server.bot.id}> hi\nthat was rude", group=True)
    assert not (await host.next("rude")).is_mentioned


# --- once


@on("discord")
async def test_after_a_cut_the_session_is_resumed_with_what_was_missed(server, network, host, ann):
    await ann.say("one")
    await host.next("one")
    server.cut_connections()
    await ann.say("two")
    await host.next("two")
    await host.wait_until(lambda: len(host.accounts) == 2)
    assert server.gateway.resumed == 1 and [one.text for one in host.received] == ["one", "two"]


@pytest.mark.soak  # the library waits for five seconds before it begins a session anew
@on("discord")
async def test_a_session_that_discord_has_forgotten_is_begun_anew_and_what_was_missed_is_fetched(server):
    network, host = made("discord", server.settings), RecordingHost()
    ann = await server.peer("ann")
    async with running(network, host):
        await ann.say("one")
        await caught_up(server, host)
        await server.do(server.gateway.forget)
        await ann.say("missed")
        server.cut_connections()
        await host.next("missed")
        assert server.gateway.identified == 2 and [one.text for one in host.received] == ["one", "missed"]


@on("discord")
async def test_what_is_said_at_once_in_the_first_session_is_marked(server):
    network, host = made("discord", server.settings), RecordingHost()
    ann = await server.peer("ann")
    async with running(network, host):
        await ann.say("hello")
        await host.next("hello")
        # The library is ready some seconds later only.
    await ann.say("missed")
    async with running(made("discord", server.settings), host):
        await host.next("missed")
    assert [one.text for one in host.received] == ["hello", "missed"]


# --- what goes out


@on("discord")
async def test_plain_text_is_shown_as_it_is(server, network, ann):
    await network.send(Chat(str(ann.direct.id)), "**milk**", "k1")
    await network.send(Chat(str(ann.direct.id)), "**milk**", "k2", is_plain=True)
    assert [one.text for one in ann.shown()] == ["**milk**", r"\*\*milk\*\*"]


@on("discord")
async def test_nobody_is_pinged_by_what_a_model_writes(server, network, ann):
    sent = await network.send(Chat(str(ann.direct.id)), "hi @everyone", "k1")  # the fake refuses a ping
    await network.edit(Chat(str(ann.direct.id)), sent, "ho @everyone")
    await ann.wait_for("ho @everyone")


@on("discord")
async def test_a_long_message_is_taken_in_any_form_and_a_longer_one_refused(server, network, ann):
    most = network.features.most_units
    for number, text in enumerate(("a" * most, "*" * most, "|a|\n" * (most // 4))):
        await network.send(Chat(str(ann.direct.id)), text, f"k{number}", is_plain=number == 1)
    with pytest.raises(SendRefused):
        await network.send(Chat(str(ann.direct.id)), "a" * 2001, "k9")


# --- what goes wrong


@on("discord")
async def test_a_reply_to_what_has_gone_is_sent_without_it(server, network, ann):
    await network.send(Chat(str(ann.direct.id)), "answer", "k1", reply_to="17")
    await ann.wait_for("answer")


@on("discord")
async def test_without_the_message_content_intent_the_person_is_told_what_to_switch_on(server, host):
    server.has_message_content = False
    with pytest.raises(BridgeUnavailable, match="message content intent"):
        await made("discord", server.settings).run(host)


@on("discord")
async def test_the_librarys_heartbeat_ends_with_the_bridge(server, host):
    def beats() -> bool:
        return any("keep-alive" in thread.name for thread in threading.enumerate())

    async with running(made("discord", server.settings), host):
        assert beats()
    await wait_until_async("the heartbeat has ended", lambda: not beats())


@on("discord")
async def test_a_gateway_that_ends_each_connection_is_an_outage(server):
    network, host = made("discord", server.settings), RecordingHost()
    with pytest.raises(NetworkAway, match="again and again"):
        async with running(network, host) as task:
            while not task.done():
                await server.do(server.gateway.ask_to_reconnect)
                await asyncio.sleep(0.01)
            await task
