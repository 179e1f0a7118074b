"""Matrix' bridge with matrix-nio, against Synapse: in `make soak`."""

import asyncio
import contextlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pytest

import get_synapse
from bridge_run import made, running
from engram_host.companion.bridges.errors import (
    NetworkAway,
    SendRefused,
    SignInRefused,
    SlowDown,
)
from engram_host.companion.bridges.matrix import bridge as matrix
from engram_host.companion.bridges.matrix import rooms as matrix_rooms
from engram_host.companion.bridges.matrix.bridge import Mark
from engram_host.companion.bridges.network import Attachment, Chat
from engram_host.companion.errors import StoreUnavailable
from matrix_peer import BRIDGE, MatrixPeer
from matrix_server import MatrixServer
from matrix_talking import Talking, person
from media_samples import PHOTO
from recording_host import RecordingHost

pytestmark = pytest.mark.soak


@pytest.fixture(scope="module")
def talking() -> Iterator[Talking]:
    if not get_synapse.usable():
        pytest.skip("Synapse is not installed for this machine")
    server = MatrixServer()
    with contextlib.ExitStack() as stack:
        stack.callback(server.stop)
        talking = Talking(server.start())
        stack.callback(talking.close)
        yield talking


@pytest.fixture
def server(talking: Talking) -> MatrixServer:
    return talking.server


@contextlib.asynccontextmanager
async def acting(server: MatrixServer):
    """The bridge's account, for what its owner does with another client."""
    peer = MatrixPeer(server.url, BRIDGE, server.register("kitchen"))
    try:
        yield peer
    finally:
        await peer.close()


async def met(host: RecordingHost, ann: MatrixPeer) -> Chat:
    """The private chat, once something was said in it."""
    await ann.say("hello")
    return (await host.next("hello")).chat


def has_left(ann: MatrixPeer) -> bool:
    """Whether the bridge's account was seen leaving a room, or declining an invitation to it."""
    changes = [event["content"] for event in ann.events if event.get("state_key") == BRIDGE]
    return any(change["membership"] == "leave" for change in changes)


# --- what comes in


def test_what_is_said_before_the_invitation_is_accepted_comes_in(talking):
    async def talk(network, host, ann):
        ann.room = await ann.make_room()
        said = await ann.say("hello 😀")
        message = await host.next("hello")
        assert (message.id, message.sender, message.sender_name) == (said, ann.id, "Ann")
        assert (message.text, message.is_mentioned, message.chat) == ("hello 😀", True, Chat(ann.room))
        assert message.at > 1_700_000_000

    talking.with_bridge(talk)


def test_in_a_group_the_mention_is_told_and_taken_off(talking):
    async def talk(network, host, ann):
        await ann.say("just talk", group=True)
        message = await host.next("just talk")
        assert (message.is_mentioned, message.chat) == (False, Chat(ann.group, is_group=True))
        await ann.say("what is on the list?", group=True, mention=True)
        message = await host.next("what is")
        assert (message.is_mentioned, message.text) == (True, "what is on the list?")

    talking.with_bridge(talk)


def test_a_client_that_marks_no_mentions_is_understood_by_the_name(talking):
    async def talk(network, host, ann):
        for words in ("kitchen, are you there?", f"{BRIDGE}: are you there?"):
            said = await ann.send(ann.group, {"msgtype": "m.text", "body": words})
            await host.wait_until(lambda said=said: any(message.id == said for message in host.received))
            assert (host.received[-1].is_mentioned, host.received[-1].text) == (True, "are you there?")

    talking.with_bridge(talk)


def test_a_reply_to_the_account_in_a_group_is_meant_for_it(talking, server):
    async def talk(network, host, ann):
        own = await network.send(Chat(ann.group, is_group=True), "an answer", "reply-1")
        other = await ann.say("not the account's", group=True)
        for original, is_meant in ((own, True), (other, False)):
            relation = {"m.relates_to": {"m.in_reply_to": {"event_id": original}}}
            body = f"> <{BRIDGE}> an answer\n\nand {is_meant}?"
            await ann.send(ann.group, {"msgtype": "m.text", "body": body, "m.mentions": {}, **relation})
            message = await host.next(f"and {is_meant}")
            assert (message.is_mentioned, message.text) == (is_meant, f"and {is_meant}?")
        host.received.clear()
        # A bridge that has started again asks the server whose event it was.
        again = made("matrix", server.settings)
        async with running(again, host):
            relation = {"m.relates_to": {"m.in_reply_to": {"event_id": own}}}
            await ann.send(ann.group, {"msgtype": "m.text", "body": "and later?", "m.mentions": {}, **relation})
            assert (await host.next("and later")).is_mentioned

    talking.with_bridge(talk)


def test_a_reply_brings_what_it_answers_and_an_edit_names_what_it_corrects(talking, server):
    def relates(kind: str, event: str) -> dict[str, Any]:
        answers = {"m.in_reply_to": {"event_id": event}}
        return {"m.relates_to": answers if kind == "reply" else {"rel_type": "m.replace", "event_id": event}}

    async def talk(network, host, ann):
        said = await ann.say("Water the fern on Saturday")
        reply = await ann.send(ann.room, {"msgtype": "m.text", "body": "on Sunday", **relates("reply", said)})
        assert (await host.next("on Sunday")).quoted == "Water the fern on Saturday"
        new = {"msgtype": "m.text", "body": "on Monday", "m.mentions": {}}
        await ann.send(ann.room, {**new, "body": "* on Monday", "m.new_content": new, **relates("edit", reply)})
        edit = await host.next("on Monday")
        assert edit.edits == reply and edit.text == "on Monday" and edit.id not in (said, reply)
        # A bridge that has started again asks the server for what was said.
        host.received.clear()
        async with running(made("matrix", server.settings), host):
            await ann.send(ann.room, {"msgtype": "m.text", "body": "so what?", **relates("reply", said)})
            assert (await host.next("so what")).quoted == "Water the fern on Saturday"

    talking.with_bridge(talk)


def test_an_answer_stays_in_its_thread(talking):
    async def talk(network, host, ann):
        root = await ann.say("the holidays")
        await ann.say("where shall we go?", thread=root)
        message = await host.next("where shall")
        assert message.chat == Chat(ann.room, root)
        await network.send(message.chat, "to the sea", "thread-1", reply_to=message.id)
        assert (await ann.wait_for("to the sea")).thread == root

    talking.with_bridge(talk)


def test_a_photo_comes_with_its_caption(talking):
    async def talk(network, host, ann):
        await ann.send_photo("my new bike")
        message = await host.next("my new bike")
        assert message.attachments == (Attachment("photo", "a.png", len(PHOTO)),)
        said = await ann.send_photo("")
        await host.wait_until(lambda: host.received[-1].id == said)
        assert (host.received[-1].text, len(host.received[-1].attachments)) == ("", 1)

    talking.with_bridge(talk)


def test_bots_reactions_and_own_messages_are_no_messages(talking):
    async def talk(network, host, ann):
        await network.send(await met(host, ann), "I am the account", "own-1")
        said = await ann.say("I like tea")
        await ann.send(ann.room, {"msgtype": "m.notice", "body": "I am a bot"})
        key = {"rel_type": "m.annotation", "event_id": said, "key": "👍"}
        await ann.send(ann.room, {"m.relates_to": key}, "m.reaction")
        await ann.put(f"/rooms/{quote(ann.room)}/redact/{said}/redaction-1")
        await ann.say("the end")
        await host.next("the end")
        assert [message.text for message in host.received] == ["hello", "I like tea", "the end"]

    talking.with_bridge(talk)


# --- rooms


def test_a_third_member_makes_a_group_of_a_private_chat(talking, server):
    async def talk(network, host, ann):
        ann.room = await ann.make_room()
        chat = await met(host, ann)
        assert not chat.is_group
        async with person(server, "ben") as ben:
            await ann.post(f"/rooms/{quote(chat.id)}/invite", user_id=ben.id)
            await ben.post(f"/join/{quote(chat.id)}")
            await host.wait_until(lambda: replace(chat, is_group=True) in [group for group, _ in host.groups])
            await ann.say("ben is here")
            assert (await host.next("ben is here")).chat == replace(chat, is_group=True)

    talking.with_bridge(talk)


def test_a_room_that_anybody_may_join_is_a_group(talking):
    async def talk(network, host, ann):
        ann.room = await ann.make_room(preset="public_chat")
        await ann.say("hello all")
        assert (await host.next("hello all")).chat.is_group

    talking.with_bridge(talk)


def test_a_room_that_all_others_leave_is_left(talking, server):
    async def talk(network, host, ann):
        ann.room = await ann.make_room()
        chat = await met(host, ann)
        await ann.post(f"/rooms/{quote(chat.id)}/leave")
        async with acting(server) as me:
            while chat.id in (await me.get("/joined_rooms"))["joined_rooms"]:
                await asyncio.sleep(0)  # the request is the pause

    talking.with_bridge(talk)


def test_a_room_with_more_members_than_the_bound_is_left(talking, server, monkeypatch):
    monkeypatch.setattr(matrix_rooms, "MOST_MEMBERS", 2)

    async def talk(network, host, ann):
        ann.room = await ann.make_room()
        await met(host, ann)
        async with person(server, "ben") as ben:
            await ann.post(f"/rooms/{quote(ann.room)}/invite", user_id=ben.id)
            await ben.post(f"/join/{quote(ann.room)}")
            await ann.wait_until(lambda: has_left(ann))

    talking.with_bridge(talk)


def test_an_invitation_beyond_the_bound_is_declined(talking, monkeypatch):
    monkeypatch.setattr(matrix_rooms, "MOST_ROOMS", 0)

    async def talk(network, host, ann):
        room = await ann.make_room()
        await ann.wait_until(lambda: has_left(ann))
        assert await ann.members(room) == {ann.id}

    talking.with_bridge(talk)


def test_nothing_that_was_said_before_the_invitation_is_answered(talking):
    async def talk(network, host, ann):
        body = {"preset": "private_chat", "initial_state": []}
        ann.room = (await ann.post("/createRoom", **body))["room_id"]
        await ann.say("not for you")
        await ann.post(f"/rooms/{quote(ann.room)}/invite", user_id=BRIDGE)
        await ann.say("this is for you")
        await host.next("this is for you")
        assert [message.text for message in host.received] == ["this is for you"]

    talking.with_bridge(talk)


# --- what goes out


def test_markdown_is_shown_as_html_and_plain_text_as_it_is(talking):
    async def talk(network, host, ann):
        chat = await met(host, ann)
        await network.send(chat, "a **big** [bike](https://example.org)", "marks-1")
        await network.send(chat, "a **big** bike, plain", "marks-2", is_plain=True)
        await ann.wait_for("plain")
        first, second = [event["content"] for event in ann.events if event["sender"] == BRIDGE][-2:]
        assert first["formatted_body"] == 'a <strong>big</strong> <a href="https://example.org">bike</a>'
        assert (first["msgtype"], first["m.mentions"]) == ("m.text", {})
        assert "formatted_body" not in second

    talking.with_bridge(talk)


def test_a_message_that_is_sent_again_with_its_key_is_shown_once(talking):
    async def talk(network, host, ann):
        chat = await met(host, ann)
        first = await network.send(chat, "only once", "again-1")
        assert await network.send(chat, "only once", "again-1") == first
        await network.send(chat, "the end", "again-2")
        await ann.wait_for("the end")
        assert [message.text for message in ann.shown()] == ["only once", "the end"]

    talking.with_bridge(talk)


def test_an_edit_shows_the_new_text_in_place_and_may_say_the_same(talking):
    async def talk(network, host, ann):
        chat = await met(host, ann)
        message = await network.send(chat, "The answ", "edit-1")
        for text in ("The answer is **4**.", "The answer is **4**.", "The answ", "The answer is 4."):
            await network.edit(chat, message, text)
        shown = await ann.wait_for("is 4.")
        assert (shown.id, shown.edits, len(ann.shown())) == (message, 4, 1)

    talking.with_bridge(talk)


def test_the_longest_message_and_its_edit_are_taken(talking):
    async def talk(network, host, ann):
        chat = await met(host, ann)
        for number, text in enumerate(['"' * 8000, "\n" * 7999 + "x", "**a** " * 1333, "\x01\x00" * 3999 + "ab"]):
            await network.edit(chat, await network.send(chat, text, f"long-{number}"), text)
        await ann.wait_until(lambda: [shown.edits for shown in ann.shown()] == [1, 1, 1, 1])

    talking.with_bridge(talk)


def test_typing_is_shown(talking):
    async def talk(network, host, ann):
        chat = await met(host, ann)
        await network.show_typing(chat, True)
        await ann.wait_until(lambda: ann.typing_signs == 1)
        await network.show_typing(chat, False)
        await network.show_typing(Chat("!nowhere:engram.test"), True)

    talking.with_bridge(talk)


def test_a_chat_that_has_gone_refuses_messages(talking):
    async def talk(network, host, ann):
        for room in ("!nowhere:engram.test", await ann.make_room(invite=[])):
            with pytest.raises(SendRefused):
                await network.send(Chat(room), "hello?", "gone-1")

    talking.with_bridge(talk)


def test_a_limit_of_the_server_asks_for_a_pause(talking, server):
    async def talk(network, host, ann):
        chat = await met(host, ann)
        server.limit_messages("kitchen", per_second=1)
        try:
            with pytest.raises(SlowDown) as slow:
                for number in range(5):
                    await network.send(chat, f"number {number}", f"limit-{number}")
            assert 0 < slow.value.retry_after <= 2
        finally:
            server.limit_messages("kitchen", per_second=0)

    talking.with_bridge(talk)


# --- what was said while the bridge was away


def test_what_came_while_it_was_away_comes_once_and_in_order(talking, server, monkeypatch):
    monkeypatch.setattr(matrix_rooms, "_PAGE", 2)
    monkeypatch.setitem(matrix.FILTER["room"]["timeline"], "limit", 2)

    async def run() -> None:
        network, host = made("matrix", server.settings), RecordingHost()
        async with person(server) as ann:
            async with running(network, host):
                await met(host, ann)
            said = [await ann.say(f"number {number}") for number in range(7)]
            async with running(made("matrix", server.settings), host):
                await host.next("number 6")
                assert [message.id for message in host.received[1:]] == said
                await ann.say("the end")
                await host.next("the end")
            monkeypatch.setattr(matrix_rooms, "MOST_MISSED", 2)
            host.received.clear()
            said = [await ann.say(f"again {number}") for number in range(7)]
            async with running(made("matrix", server.settings), host):
                await host.next("again 6")
            assert [message.id for message in host.received] == said[-4:]

    talking.alone(run())


def test_a_message_that_could_not_be_kept_comes_again_with_its_id(talking, server):
    async def run() -> None:
        network, host = made("matrix", server.settings), RecordingHost()
        async with person(server) as ann:
            async with running(network, host):
                await met(host, ann)
            said = await ann.say("keep me")
            kept, host.refuses = host.mark, StoreUnavailable("the disk is away")
            with pytest.raises(StoreUnavailable):
                await network.run(host)
            assert host.mark == kept
            host.refuses = None
            async with running(network, host):
                assert (await host.next("keep me")).id == said

    talking.alone(run())


def test_a_sync_token_that_the_server_does_not_know_is_given_up(talking, server):
    async def run() -> None:
        host = RecordingHost()
        host.mark = Mark(BRIDGE, "", "not a token").text
        async with person(server) as ann, running(made("matrix", server.settings), host):
            await met(host, ann)

    talking.alone(run())


@pytest.mark.parametrize("limit", [1, 50])
def test_a_change_of_the_accounts_name_hides_no_message_and_repeats_none(talking, server, monkeypatch, limit):
    monkeypatch.setitem(matrix.FILTER["room"]["timeline"], "limit", limit)

    async def run() -> None:
        network, host = made("matrix", server.settings), RecordingHost()
        async with person(server) as ann:
            async with running(network, host):
                await met(host, ann)
            await ann.say("before")
            await ann.say("just before")
            async with acting(server) as me:
                for name in ("Cellar", "Kitchen"):
                    await me.put(f"/profile/{quote(BRIDGE)}/displayname", displayname=name)
            async with running(network, host):
                await host.next("just before")
        assert [message.text for message in host.received] == ["hello", "before", "just before"]

    talking.alone(run())


def test_in_an_encrypted_room_one_sentence_says_that_it_cannot_be_read(talking, server):
    async def run() -> None:
        network, host = made("matrix", server.settings), RecordingHost()
        state = [{"type": "m.room.encryption", "content": {"algorithm": "m.megolm.v1.aes-sha2"}}]
        cipher = {"algorithm": "m.megolm.v1.aes-sha2", "ciphertext": "AwgA", "session_id": "s"}
        async with person(server) as ann:
            ann.room = await ann.make_room(initial_state=state)
            for _ in range(2):
                async with running(network, host):
                    for _ in range(2):
                        await ann.send(ann.room, cipher, "m.room.encrypted")
                    await ann.say("the end", group=True)
                    await host.next("the end")
                    await ann.wait_for("without encryption")
                    host.received.clear()
            assert len(ann.shown()) == 1

    talking.alone(run())


# --- signing in


def test_a_wrong_password_and_a_wrong_token_are_refused(talking, server):
    async def run() -> None:
        wrong = made("matrix", {**server.settings, "password": "not this"})
        unknown = made("matrix", {**server.settings, "password": "", "token": "syt_not_this"})
        other = made("matrix", {**server.settings, "password": "", "token": server.register("ann")})
        for network in (wrong, unknown, other):
            for work in (network.check(), network.run(RecordingHost())):
                with pytest.raises(SignInRefused) as refused:
                    await work
                assert "not this" not in str(refused.value) and "not_this" not in str(refused.value)

    talking.alone(run())


def test_each_start_is_the_same_device_and_a_check_leaves_none(talking, server):
    async def run() -> None:
        host = RecordingHost()
        async with running(made("matrix", server.settings), host):
            pass
        device = Mark.parse(host.mark, BRIDGE).device
        async with acting(server) as me, running(made("matrix", server.settings), host) as task:
            devices = (await me.get("/devices"))["devices"]
            assert await made("matrix", server.settings).check() == BRIDGE
            after = (await me.get("/devices"))["devices"]
            assert {each["device_id"] for each in devices} == {each["device_id"] for each in after}
            assert device in {each["device_id"] for each in devices}
            assert Mark.parse(host.mark, BRIDGE).device == device
            assert not task.done()

    talking.alone(run())


def test_an_access_token_takes_the_place_of_a_password(talking, server):
    async def run() -> None:
        settings = {**server.settings, "password": "", "token": server.register("kitchen"), "account": "kitchen"}
        network, host = made("matrix", settings), RecordingHost()
        assert await network.check() == BRIDGE
        async with person(server) as ann, running(network, host):
            await met(host, ann)

    talking.alone(run())


# --- a server that goes away


def test_a_killed_server_ends_the_run_and_what_comes_afterwards_is_taken(talking, server):
    async def run() -> None:
        network, host = made("matrix", server.settings), RecordingHost()
        async with person(server) as ann:
            async with running(network, host) as task:
                chat = await met(host, ann)
                sent = await network.send(chat, "only once", "killed-1")
                server.kill()
                with pytest.raises(NetworkAway):
                    await task
            with pytest.raises(NetworkAway):
                await network.run(host)
            await asyncio.to_thread(server.start)
            said = await ann.say("are you there?")
            async with running(network, host):
                assert (await host.next("are you there?")).id == said
                assert await network.send(chat, "only once", "killed-1") == sent

    talking.alone(run())
