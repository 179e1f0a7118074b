"""The promises of each network's bridge, tried on all of them in the same way: with the networks' own libraries against strict
fakes, and in `make soak` against the real servers. What only one network does is in its own file.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bridge_run import made, on, running
from chat_networks import NETWORKS
from engram_host.companion.bridges.errors import (
    BridgeUnavailable,
    FileNotFetched,
    NetworkAway,
    SendFailed,
    SendRefused,
    SendUncertain,
    SignInRefused,
    SlowDown,
)
from engram_host.companion.bridges.network import Chat
from engram_host.companion.bridges.slack import bridge as slack
from engram_host.companion.errors import StoreUnavailable
from extent import with_more
from media_samples import PHOTO
from one_case import in_one_case
from recording_host import RecordingHost
from waiting import SECONDS, wait_until_async

ACCOUNTS = {
    "telegram": "@engram_fake_bot",
    "discord": "engram",
    "slack": "@engram in House",
    "xmpp": "kitchen@engram.test",
    "irc": "engram",
    "matrix": "@kitchen:engram.test",
}
"""Names of the bridges' accounts."""

ALL = tuple(ACCOUNTS)
FAKED = ("telegram", "discord", "slack")
KEEPING = tuple(name for name in ALL if NETWORKS[name].keeps)
WITH_FILES = ("telegram", "discord", "slack", "matrix")


def tried_on(*names: str) -> Callable[..., Callable[..., None]]:
    """Make a test of one network, of a name, one of several."""

    def decorate(test: Callable[..., Any]) -> Callable[..., None]:
        def case(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
            if not NETWORKS[name].is_usable():
                pytest.skip(f"there is no server of {name} for this machine")
            on(name)(test)(tmp_path=tmp_path, name=name, monkeypatch=monkeypatch)

        return pytest.mark.parametrize("name", with_more((name for name in names if name in FAKED), names))(case)

    return decorate


async def chat_with(ann: Any, host: RecordingHost) -> Chat:
    """The private chat with Ann, who has said hi."""
    await ann.say("hi")
    return (await host.next("hi")).chat


def group_of(name: str, server: Any, ann: Any) -> Chat:
    return Chat(NETWORKS[name].group_of(server, ann), is_group=True)


# --- what comes in


@tried_on(*ALL)
async def test_a_private_message_comes_in_with_its_sender(network, host, ann, name, monkeypatch):
    monkeypatch.setattr(
        slack, "_NAME_SECONDS", SECONDS
    )  # on a busy machine a name may come later than it is waited for
    said = await ann.say("hello 😀")
    message = await host.next("hello")
    assert (message.sender, message.text, message.is_mentioned) == (ann.id, "hello 😀", True)
    assert message.sender_name.lower() == "ann" and not message.chat.is_group and not message.chat.thread
    assert message.id == (said or message.id) and (message.at > 1_000_000_000 or name in ("xmpp", "irc"))


@tried_on(*ALL)
async def test_in_a_group_the_mention_is_taken_off(server, network, host, ann, name):
    await ann.say("just talk", group=True)
    assert not (await host.next("just talk")).is_mentioned
    await ann.say("what is on the list?", group=True, mention=True)
    message = await host.next("what is")
    assert (message.text, message.is_mentioned, message.sender) == ("what is on the list?", True, ann.id)
    assert message.chat == group_of(name, server, ann)


@tried_on(*ALL)
async def test_own_messages_and_those_of_other_bots_are_ignored(server, network, host, ann, name):
    chat, group = await chat_with(ann, host), group_of(name, server, ann)
    await network.send(chat, "my own", "k1")
    sent = await network.send(group, "my own", "k2")
    if NETWORKS[name].has_edits:
        await network.edit(group, sent, "my own edit")
    if name in ("discord", "slack"):
        other = await server.peer("other")
        other.be_bot()
        await other.say("I am a bot", group=True, mention=True)
    await ann.say("the last")
    await host.next("the last")
    assert [message.text for message in host.received] == ["hi", "the last"]


@tried_on(*FAKED)
async def test_a_thread_is_a_place_and_a_reply_to_the_account_a_mention(server, network, host, ann, name):
    await ann.say("in the garden", group=True, thread="Garden")
    message = await host.next("in the garden")
    place = group_of(name, server, ann)
    assert (message.chat.id, message.chat.is_group, message.is_mentioned) == (place.id, True, False)
    sent = await network.send(message.chat, "there", "k1", reply_to=message.id)
    assert message.chat.thread and (await ann.wait_for("there", group=True)).thread == "Garden"
    if name != "telegram":
        sent = await network.send(place, "here", "k2")
    await ann.reply("and then?", sent)
    assert (await host.next("and then?")).is_mentioned


@tried_on("discord", "slack")
async def test_an_edit_names_the_message_that_it_corrects(network, host, ann):
    said = await ann.say("on Monday")
    await ann.edit(said, "on Monday https://example.org", is_preview=True)
    await ann.edit(said, "on Tuesday")
    edit = await host.next("on Tuesday")
    assert edit.edits == said != edit.id and [one.text for one in host.received] == ["on Monday", "on Tuesday"]


@tried_on("discord", "slack")
async def test_a_message_that_comes_twice_has_the_same_id(server, network, host, ann, name):
    (server.gateway if name == "discord" else server.socket).doubles = True
    await ann.say("one")
    await host.wait_until(lambda: len(host.received) == 2)
    assert host.received[0].id == host.received[1].id


@tried_on(*WITH_FILES)
async def test_a_photo_comes_with_its_caption(network, host, ann):
    await ann.send_photo("my bike")
    (photo,) = (await host.next("my bike")).attachments
    assert (photo.kind, photo.size) == ("photo", len(PHOTO))
    assert photo.fetch and await photo.fetch(1 << 20) == PHOTO


@tried_on(*WITH_FILES, "xmpp")
async def test_a_file_is_fetched_when_it_is_asked_for_and_shows_no_secret_if_it_is_gone(
    server, network, host, ann, name
):
    data = bytes(range(256)) * 40
    await ann.send_file("memory.jsonl", data)
    await host.wait_until(lambda: host.received)
    (file,) = host.received[-1].attachments
    assert (file.kind, file.name) == ("file", "memory.jsonl") and file.size in (0, len(data))
    assert file.fetch and await file.fetch(1 << 20) == data
    if name in FAKED:
        server.forget_files()
        with pytest.raises(FileNotFetched) as missing:
            await file.fetch(1 << 20)
        assert server.settings["token"] not in str(missing.value)


@tried_on(*KEEPING)
async def test_a_message_that_could_not_be_kept_comes_again_with_its_id(server, host, name):
    ann, said = await server.peer("ann"), ""
    with pytest.raises(StoreUnavailable):
        async with running(made(name, server.settings), host) as task:
            await chat_with(ann, host)
            await host.wait_until(lambda: host.mark or name == "telegram")
            host.refuses = StoreUnavailable("the disk is away")
            said = await ann.say("keep me")
            await task
    host.refuses = None
    async with running(made(name, server.settings), host):
        assert (await host.next("keep me")).id == said
    assert [message.text for message in host.received].count("keep me") == 1
    await ann.close()


@tried_on(*ALL)
async def test_after_an_outage_what_was_said_meanwhile_comes(server, host, name):
    network, ann = made(name, server.settings), await server.peer("ann")
    kind, chat = NETWORKS[name], Chat("")
    with pytest.raises(NetworkAway):
        async with running(network, host) as task:
            chat = await chat_with(ann, host)
            await host.wait_until(lambda: host.mark or not kind.keeps or name == "telegram")
            await asyncio.to_thread(server.kill)
            await task
    with pytest.raises(NetworkAway):
        await network.run(host)
    with pytest.raises(SendFailed):
        await network.send(chat, "answer", "k1")
    if kind.is_fake:
        await ann.say("meanwhile")
    await asyncio.to_thread(server.start)
    if name in ("xmpp", "irc"):  # its apps do not connect by themselves
        await ann.close()
        ann = await server.peer("ann")
    if kind.keeps and not kind.is_fake:
        await ann.say("meanwhile")
    async with running(network, host):
        if not kind.keeps:
            await ann.say("meanwhile")
        await host.next("meanwhile")
        await network.send(chat, "answer", "k2")
        await ann.wait_for("answer")
    assert list(dict.fromkeys(message.text for message in host.received)) == ["hi", "meanwhile"]
    await ann.close()


PLACES: dict[str, dict[str, Any]] = {
    "private": {},
    "in the channel": {"group": True, "mention": True},
    "in an old thread": {"group": True, "thread": "Garden"},
    "in a new thread": {"group": True, "thread": "Kitchen"},
}


@tried_on("discord", "slack")
async def test_what_was_said_during_an_outage_is_fetched_in_all_places(server, host, name):
    network, ann = made(name, server.settings), await server.peer("ann")
    with pytest.raises(NetworkAway):
        async with running(network, host) as task:
            await ann.say("hello")
            await ann.say("before", group=True, thread="Garden")
            await host.next("before")
            await host.wait_until(lambda: "/" in host.mark or (host.mark and name == "discord"))
            server.kill()
            await task
    for text, where in PLACES.items():
        await ann.say(text, **where)
    if name == "slack":
        await server.do(server.socket.forget)  # an outage that is longer than it gives events again
    server.start()
    async with running(network, host):
        found = [await host.next(text) for text in PLACES]
        await host.wait_until(lambda: host.mark.startswith(found[-1].id))
    texts = [message.text for message in host.received]
    assert len(texts) == len({*texts}) and (await host.next("in the channel")).is_mentioned


# --- whose account it is


@tried_on(*FAKED)
async def test_the_account_is_claimed_by_its_id_before_its_mark_is_loaded(server, network, host):
    assert host.steps[0] == f"claim {server.account_id}"


@tried_on(*ALL)
async def test_check_gives_the_accounts_name(server, name):
    assert await made(name, server.settings).check() == ACCOUNTS[name]


@tried_on(*FAKED)
async def test_a_token_that_is_not_known_is_refused_and_not_shown(server, name):
    server.refuse_token()
    network = made(name, server.settings)
    for work in (network.check, lambda: network.run(RecordingHost())):
        with pytest.raises(SignInRefused) as refused:
            await work()
        assert server.settings["token"] not in str(refused.value)


@tried_on("discord", "slack")
async def test_a_token_that_is_revoked_meanwhile_ends_the_bridge_for_good(server, network, task, name):
    server.refuse_token()
    if name == "discord":
        server.cut_connections()
    else:
        await server.thread.join(server.socket.refresh())
    await asyncio.wait([task])
    with pytest.raises(SignInRefused):
        await task


OF_TELEGRAM = {"token": "4711:a-secret", "url": "https://api.telegram.org"}
OF_SLACK = {"token": "xoxb-1", "app_token": "xapp-1"}
OF_XMPP = {"address": "kitchen@engram.test", "password": "x", "rooms": "home@rooms.engram.test"}
OF_MATRIX = {"server": "https://example.org", "account": "@a:b", "password": "x"}
OF_IRC = {"server": "irc.example.org:6697"}


@in_one_case(
    "kind, settings, wrong",
    [
        ("telegram", OF_TELEGRAM, {"token": "no token"}),
        ("telegram", OF_TELEGRAM, {"url": "api.telegram.org"}),
        ("telegram", OF_TELEGRAM, {"url": "https://a:b"}),
        ("discord", {"token": "x"}, {"token": "with space"}),
        ("discord", {"token": "x"}, {"url": "discord.com"}),
        ("slack", OF_SLACK, {"token": "xapp-1"}),
        ("slack", OF_SLACK, {"app_token": "xoxb-1"}),
        ("slack", OF_SLACK, {"url": "slack.com/api"}),
        ("xmpp", OF_XMPP, {"address": "kitchen"}),
        ("xmpp", OF_XMPP, {"rooms": "not a@room@x"}),
        ("xmpp", OF_XMPP, {"server": "example.org:none"}),
        ("xmpp", OF_XMPP, {"authority": "/nowhere.pem"}),
        ("matrix", OF_MATRIX, {"server": "matrix.example.org"}),
        ("matrix", OF_MATRIX, {"server": "ftp://example.org"}),
        ("matrix", OF_MATRIX, {"server": "https://example.org:port"}),
        ("matrix", OF_MATRIX, {"account": " "}),
        ("matrix", OF_MATRIX, {"password": ""}),
        ("irc", OF_IRC, {"nickname": "two words"}),
        ("irc", OF_IRC, {"channels": "home"}),
        ("irc", OF_IRC, {"pause": "99"}),
        ("irc", OF_IRC, {"password": "x", "tls": "off"}),
        ("irc", OF_IRC, {"password": "x\r\nQUIT"}),
        ("irc", OF_IRC, {"server": "irc.example.org:none"}),
        ("irc", OF_IRC, {"authority": "/nowhere.pem"}),
    ],
)
def test_a_setting_that_cannot_be_meant_is_told(kind: str, settings: dict[str, str], wrong: dict[str, str]):
    made(kind, settings)
    with pytest.raises(BridgeUnavailable):
        made(kind, settings, **wrong)


# --- what goes out


@tried_on(*ALL)
async def test_a_message_is_shown_and_edited(network, host, ann, name):
    chat = await chat_with(ann, host)
    sent = await network.send(chat, "one", "k1")
    shown = await ann.wait_for("one")
    if NETWORKS[name].has_edits:
        await network.edit(chat, sent, "one two")
        shown = await ann.wait_for("one two")
        assert (shown.id, shown.edits) == (sent, 1)


@tried_on(*ALL)
async def test_typing_is_shown_where_there_is_such_a_sign(network, host, ann):
    chat, signs = await chat_with(ann, host), int(network.features.has_typing)
    for is_typing in (True, False):
        await network.show_typing(chat, is_typing)
    await wait_until_async("typing is shown", lambda: ann.typing_signs() == signs)


@tried_on(*ALL)
async def test_a_message_of_the_longest_length_is_taken(network, host, ann, name):
    chat, text = await chat_with(ann, host), "a" * network.features.most_units
    sent = await network.send(chat, text, "k1")
    if NETWORKS[name].has_edits:
        await network.edit(chat, sent, text[1:])


SENDING = {"telegram": "sendMessage", "discord": "POST channels messages", "slack": "chat.postMessage"}


@tried_on(*FAKED)
async def test_a_send_that_fails_says_what_is_known_and_is_not_repeated(server, network, host, ann, name):
    chat = await chat_with(ann, host)
    for fault, error in (("flood", SlowDown), ("cut_after", SendUncertain), ("status", SendUncertain)):
        # A library may repeat a send that has a key, but not after this status.
        server.fail(fault, SENDING[name], status=503, retry_after=90)
        before = server.calls[SENDING[name]]
        with pytest.raises(error) as failed:
            await network.send(chat, "answer", f"key-{fault}")
        assert server.calls[SENDING[name]] == before + 1 and server.settings["token"] not in str(failed.value)
        assert getattr(failed.value, "retry_after", 90) == 90


UNKNOWN = {
    "telegram": "4711",
    "discord": "17",
    "slack": "C0NOWHERE",
    "xmpp": "nobody@engram.test",
    "irc": "nobody!~n@127.0.0.1",
    "matrix": "!nowhere:engram.test",
}


@tried_on(*ALL)
async def test_a_message_for_nobody_is_refused_and_a_sign_for_nobody_ignored(network, host, name):
    await network.show_typing(Chat(UNKNOWN[name]), True)
    with pytest.raises(SendFailed if name == "irc" else SendRefused):  # whoever is not on IRC now may come back
        await network.send(Chat(UNKNOWN[name]), "answer", "k1")


@tried_on(*ALL)
async def test_nothing_is_sent_while_the_bridge_does_not_run(server, name):
    with pytest.raises(SendFailed):
        await made(name, server.settings).send(Chat(UNKNOWN[name]), "answer", "k1")
