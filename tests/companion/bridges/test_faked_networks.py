"""What the bridges to Telegram, Discord and Slack have in common, with their own libraries, against strict fakes."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import pytest

from bridge_run import made, running
from chat_networks import NETWORKS
from engram_host.companion.bridges.errors import FileNotFetched, SendFailed, SignInRefused
from engram_host.companion.bridges.network import Attachment, Chat, Network
from engram_host.companion.bridges.slack import bridge as slack
from media_samples import PHOTO
from one_case import in_one_case
from recording_host import RecordingHost
from waiting import SECONDS

ACCOUNTS = {"telegram": "@engram_fake_bot", "discord": "engram", "slack": "@engram in House"}
"""What the accounts of the bridges are called."""

Talk = Callable[[Any, Network, RecordingHost], Awaitable[None]]


@dataclass(frozen=True)
class Faked:
    """A fake that runs, with the bridge's network."""

    name: str
    server: Any

    def network(self) -> Network:
        return made(self.name, self.server.settings)

    def group(self, peer: Any) -> Chat:
        return Chat(NETWORKS[self.name].group_of(self.server, peer), is_group=True)

    def play(self, talk: Talk) -> RecordingHost:
        """Let Ann talk while a bridge runs; what its engine was given."""
        host = RecordingHost()

        async def run() -> None:
            network = self.network()
            async with running(network, host):
                await talk(await self.server.peer("ann"), network, host)

        asyncio.run(run())
        return host


def on_each(test: Callable[[Faked], None]) -> Callable[..., None]:
    """Make a test of one fake one of all of them."""

    def case(name: str) -> None:
        server: Any = NETWORKS[name].make()
        server.start()
        try:
            test(Faked(name, server))
        finally:
            server.stop()

    return in_one_case("name", ACCOUNTS)(case)


async def chat_with(ann: Any, host: RecordingHost) -> Chat:
    """The private chat with Ann, who has said hi."""
    await ann.say("hi")
    return (await host.next("hi")).chat


# --- what comes in


@on_each
def test_a_private_message_comes_in_with_its_sender(faked: Faked):
    async def talk(ann: Any, network: Network, host: RecordingHost) -> None:
        said = await ann.say("hello 😀")
        message = await host.next("hello")
        assert (message.id, message.sender, message.text, message.is_mentioned) == (said, ann.id, "hello 😀", True)
        assert message.sender_name == "Ann" and message.at > 1_000_000_000
        assert not message.chat.is_group and not message.chat.thread

    with patch.object(slack, "_NAME_SECONDS", SECONDS):  # on a busy machine a name may come later than it is waited for
        faked.play(talk)


@on_each
def test_in_a_group_the_mention_is_taken_off(faked: Faked):
    async def talk(ann: Any, network: Network, host: RecordingHost) -> None:
        await ann.say("just talk", group=True)
        assert not (await host.next("just talk")).is_mentioned
        await ann.say("what is on the list?", group=True, mention=True)
        message = await host.next("what is")
        assert message.text == "what is on the list?" and message.is_mentioned and message.chat == faked.group(ann)

    faked.play(talk)


@on_each
def test_a_photo_comes_with_its_caption(faked: Faked):
    async def talk(ann: Any, network: Network, host: RecordingHost) -> None:
        await ann.send_photo("my bike")
        (photo,) = (await host.next("my bike")).attachments
        assert (photo.kind, photo.size) == ("photo", len(PHOTO))
        assert photo.fetch and await photo.fetch(1 << 20) == PHOTO

    faked.play(talk)


async def _file(ann: Any, host: RecordingHost, data: bytes) -> Attachment:
    await ann.send_file("memory.jsonl", data)
    await host.wait_until(lambda: host.received)
    (file,) = host.received[-1].attachments
    assert (file.kind, file.name, file.size) == ("file", "memory.jsonl", len(data))
    return file


@on_each
def test_a_file_is_fetched_when_it_is_asked_for(faked: Faked):
    data = bytes(range(256)) * 40

    async def talk(ann: Any, network: Network, host: RecordingHost) -> None:
        file = await _file(ann, host, data)
        assert file.fetch is not None and await file.fetch(1 << 20) == data

    faked.play(talk)


@on_each
def test_a_file_that_the_service_does_not_give_is_said_to_be_missing_without_a_secret(faked: Faked):
    async def talk(ann: Any, network: Network, host: RecordingHost) -> None:
        file = await _file(ann, host, b"{}")
        faked.server.forget_files()
        assert file.fetch is not None
        with pytest.raises(FileNotFetched) as missing:
            await file.fetch(1 << 20)
        assert faked.server.settings["token"] not in str(missing.value)

    faked.play(talk)


# --- whose account it is


@on_each
def test_the_account_is_claimed_by_its_id_before_its_mark_is_loaded(faked: Faked):
    async def talk(ann: Any, network: Network, host: RecordingHost) -> None:
        await chat_with(ann, host)

    assert faked.play(talk).steps == [f"claim {faked.server.account_id}", "load mark"]


@on_each
def test_check_gives_the_accounts_name(faked: Faked):
    assert asyncio.run(faked.network().check()) == ACCOUNTS[faked.name]


@on_each
def test_a_token_that_is_not_known_is_refused_and_not_shown(faked: Faked):
    faked.server.refuse_token()
    network = faked.network()
    for work in (network.check, lambda: network.run(RecordingHost())):
        with pytest.raises(SignInRefused) as refused:
            asyncio.run(work())
        assert faked.server.settings["token"] not in str(refused.value)


# --- what goes out


@on_each
def test_a_message_is_edited(faked: Faked):
    async def talk(ann: Any, network: Network, host: RecordingHost) -> None:
        chat = await chat_with(ann, host)
        sent = await network.send(chat, "one", "k1")
        await network.edit(chat, sent, "one two")
        shown = await ann.wait_for("one two")
        assert (shown.id, shown.edits) == (sent, 1)

    faked.play(talk)


@on_each
def test_typing_is_shown_where_there_is_such_a_sign(faked: Faked):
    async def talk(ann: Any, network: Network, host: RecordingHost) -> None:
        chat = await chat_with(ann, host)
        for place, is_typing in ((chat, True), (chat, False), (Chat("1"), True)):
            await network.show_typing(place, is_typing)
        assert ann.typing_signs == int(network.features.has_typing)

    faked.play(talk)


@on_each
def test_nothing_is_sent_while_the_bridge_does_not_run(faked: Faked):
    with pytest.raises(SendFailed):
        asyncio.run(faked.network().send(Chat("1"), "answer", "k1"))
