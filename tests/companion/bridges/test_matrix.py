"""Matrix' bridge with matrix-nio, against Synapse: in `make soak`."""

import contextlib
from typing import Any
from urllib.parse import quote

import pytest

import get_environment
from bridge_run import made, on, running
from engram_host.companion.bridges.matrix import bridge as matrix
from engram_host.companion.bridges.matrix import rooms as matrix_rooms
from engram_host.companion.bridges.network import Chat
from matrix_peer import BRIDGE, MatrixPeer
from matrix_server import MatrixServer
from recording_host import RecordingHost

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(not get_environment.usable("synapse"), reason="Synapse is not installed for this machine"),
]


@contextlib.asynccontextmanager
async def person(server: MatrixServer, name: str = "ann"):
    """A person's account, signed in."""
    peer = await server.peer(name)
    try:
        yield peer
    finally:
        await peer.close()


@contextlib.asynccontextmanager
async def acting(server: MatrixServer):
    """The bridge's account, for what its owner does with another client."""
    peer = MatrixPeer(server.url, BRIDGE, server.register("kitchen"))
    try:
        yield peer
    finally:
        await peer.close()


async def met(host: RecordingHost, ann: MatrixPeer) -> Chat:
    """The private chat, once something was said in it, and marked as received."""
    await ann.say("hello")
    chat = (await host.next("hello")).chat
    await host.wait_until(lambda: host.marked == len(host.received))
    return chat


def has_left(ann: MatrixPeer) -> bool:
    """Whether the bridge's account was seen leaving a room, or declining an invitation to it."""
    changes = [event["content"] for event in ann.events if event.get("state_key") == BRIDGE]
    return any(change["membership"] == "leave" for change in changes)


# --- what comes in


@on("matrix")
async def test_a_reply_to_the_account_in_a_group_is_meant_for_it(server, network, ann, host):
    await ann.say("welcome", group=True)
    await host.next("welcome")
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


@on("matrix")
async def test_a_reply_brings_what_it_answers_and_an_edit_names_what_it_corrects(server, network, ann, host):
    def relates(kind: str, event: str) -> dict[str, Any]:
        answers = {"m.in_reply_to": {"event_id": event}}
        return {"m.relates_to": answers if kind == "reply" else {"rel_type": "m.replace", "event_id": event}}

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


@on("matrix")
async def test_an_answer_stays_in_its_thread(network, ann, host):
    root = await ann.say("the holidays")
    await ann.say("where shall we go?", thread=root)
    message = await host.next("where shall")
    assert message.chat == Chat(ann.room, root)
    await network.send(message.chat, "to the sea", "thread-1", reply_to=message.id)
    assert (await ann.wait_for("to the sea")).thread == root


# --- rooms


@on("matrix")
async def test_an_invitation_beyond_the_bound_is_declined(monkeypatch, network, ann):
    monkeypatch.setattr(matrix_rooms, "MOST_ROOMS", 0)
    room = await ann.make_room()
    await ann.wait_until(lambda: has_left(ann))
    assert await ann.members(room) == {ann.id}


@on("matrix")
async def test_nothing_that_was_said_before_the_invitation_is_answered(network, ann, host):
    body = {"preset": "private_chat", "initial_state": []}
    ann.room = (await ann.post("/createRoom", **body))["room_id"]
    await ann.say("not for you")
    await ann.post(f"/rooms/{quote(ann.room)}/invite", user_id=BRIDGE)
    await ann.say("this is for you")
    await host.next("this is for you")
    assert [message.text for message in host.received] == ["this is for you"]


# --- what goes out


@on("matrix")
async def test_a_message_that_is_sent_again_with_its_key_is_shown_once(network, ann, host):
    chat = await met(host, ann)
    first = await network.send(chat, "only once", "again-1")
    assert await network.send(chat, "only once", "again-1") == first
    await network.send(chat, "the end", "again-2")
    await ann.wait_for("the end")
    assert [message.text for message in ann.shown()] == ["only once", "the end"]


# --- what was said while the bridge was away


@on("matrix")
async def test_what_came_while_it_was_away_comes_once_and_in_order(server, monkeypatch):
    monkeypatch.setattr(matrix_rooms, "_PAGE", 2)
    monkeypatch.setitem(matrix.FILTER["room"]["timeline"], "limit", 2)
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


@pytest.mark.parametrize("limit", [1, 50])
@on("matrix")
async def test_a_change_of_the_accounts_name_hides_no_message_and_repeats_none(server, monkeypatch, limit):
    monkeypatch.setitem(matrix.FILTER["room"]["timeline"], "limit", limit)
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


# --- signing in


@on("matrix")
async def test_each_start_is_the_same_device_and_a_check_leaves_none(server):
    host = RecordingHost()
    async with running(made("matrix", server.settings), host):
        pass
    device = host.mark.partition(" ")[0]
    async with acting(server) as me, running(made("matrix", server.settings), host) as task:
        devices = (await me.get("/devices"))["devices"]
        assert await made("matrix", server.settings).check() == BRIDGE
        after = (await me.get("/devices"))["devices"]
        assert {each["device_id"] for each in devices} == {each["device_id"] for each in after}
        assert device in {each["device_id"] for each in devices}
        assert host.mark.partition(" ")[0] == device
        assert not task.done()


# --- a server that goes away
