"""Matrix' bridge and a homeserver that fails: what each failure means for the bridge, and for a message."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bridge_run import bridged, made, running
from engram_host.companion.bridges.errors import (
    BridgeUnavailable,
    NetworkAway,
    SendFailed,
    SendRefused,
    SendUncertain,
    SignInRefused,
    SlowDown,
)
from engram_host.companion.bridges.network import Chat
from fake_server.threads import LoopThread
from one_case import in_one_case
from peers import free_port
from recording_host import RecordingHost
from waiting import wait_until_async

CHAT = Chat("!room:engram.test")
SECRET = "Tea-at-4"
CUT = (0, "")
"""The connection ends in place of an answer."""

HANG = (-1, "")
"""The answer waits until the connection is cut."""

FINE = {
    "login": {"user_id": "@kitchen:engram.test", "access_token": "a-secret-token", "device_id": "DEVICE"},
    "whoami": {"user_id": "@kitchen:engram.test", "device_id": "DEVICE"},
    "displayname": {"displayname": "Kitchen"},
    "joined_rooms": {"joined_rooms": []},
    "joined_members": {"joined": {"@kitchen:engram.test": {}, "@ann:engram.test": {}}},
    "m.room.join_rules": {"join_rule": "invite"},
    "messages": {"chunk": [], "start": "p1"},
    "event": {},
    "join": {"room_id": CHAT.id},
    "send": {"event_id": "$sent"},
    "logout": {},
}


def refusal(code: str, **more: Any) -> str:
    return json.dumps({"errcode": code, "error": "because", **more})


class FailingServer:
    """A homeserver that answers each request well, but for those in `answers`; a look waits until `show` or `cut` is called."""

    def __init__(self) -> None:
        self.answers: dict[str, tuple[int, str]] = {}
        self.asked: list[str] = []
        self.pages: list[tuple[int, str]] = []
        """Answers to what is asked of a room's messages, one after the other."""
        self.lost_token = ""
        """A sync token that the homeserver does not know."""
        self.first_look: dict[str, Any] = {"next_batch": "s1"}
        self.loop: asyncio.AbstractEventLoop
        self.port = free_port()
        url = f"http://127.0.0.1:{self.port}"
        self.settings = {"server": url, "account": "@kitchen:engram.test", "password": SECRET}

    def cut(self) -> None:
        """End the connections that wait."""
        self.loop.call_soon_threadsafe(self._is_cut.set)

    def show(self, answer: dict[str, Any]) -> None:
        """Answer the look that waits, or the next one."""
        self.loop.call_soon_threadsafe(self._looks.put_nowait, answer)

    async def begin(self) -> None:
        self._is_cut = asyncio.Event()
        self._looks: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)

    async def end(self) -> None:
        self._is_cut.set()
        self._server.close()
        serving = asyncio.all_tasks() - {asyncio.current_task()}
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                length = next((line for line in head.split("\r\n") if line.lower().startswith("content-length:")), ":0")
                await reader.readexactly(int(length.partition(":")[2]))
                status, body = await self._answer(head.split(" ", 2)[1])
                if not status:
                    break
                writer.write(f"HTTP/1.1 {status} -\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
                await writer.drain()
        writer.close()

    async def _answer(self, path: str) -> tuple[int, str]:
        name = next(name for name in (*FINE, "sync") if f"/{name}" in path.partition("?")[0])
        self.asked.append(name)
        if name == "sync" and self.lost_token and f"since={self.lost_token}" in path:
            return 400, refusal("M_INVALID_PARAM")
        if name == "sync" and "timeout=" not in path and name not in self.answers:
            return 200, json.dumps(self.first_look)
        if name == "messages" and self.pages:
            return self.pages.pop(0)
        answer = self.answers.get(name) or (HANG if name == "sync" else (200, json.dumps(FINE[name])))
        if name == "sync":
            shown, cut = asyncio.create_task(self._looks.get()), asyncio.create_task(self._is_cut.wait())
            await asyncio.wait((shown, cut), return_when=asyncio.FIRST_COMPLETED)
            cut.cancel()
            if shown.done():
                return 200, json.dumps(shown.result())
            shown.cancel()
        elif answer == HANG:
            await self._is_cut.wait()
        return CUT if answer == HANG else answer


@contextlib.asynccontextmanager
async def failing(_folder: Path) -> AsyncIterator[FailingServer]:
    """Serve in a thread of its own, since a look waits for longer than a test."""
    server, thread = FailingServer(), LoopThread("homeserver")
    server.loop = thread.loop
    try:
        await thread.join(server.begin())
        yield server
        server.cut()
        await thread.join(server.end())
    finally:
        thread.close()


on_failing = bridged(failing, lambda server: made("matrix", server.settings))
LOOKED = "s1"
"""Is in the mark after the first look."""


# --- signing in and looking


@in_one_case(
    "answer, error",
    [
        ((403, refusal("M_FORBIDDEN")), SignInRefused),
        ((403, refusal("M_USER_DEACTIVATED")), SignInRefused),
        ((400, refusal("M_UNKNOWN")), SignInRefused),
        ((429, refusal("M_LIMIT_EXCEEDED", retry_after_ms=3000)), NetworkAway),
        ((429, ""), NetworkAway),
        ((502, "<html>Bad gateway</html>"), NetworkAway),
        ((500, refusal("M_UNKNOWN")), NetworkAway),
        ((404, "<html>Not found</html>"), NetworkAway),
        ((200, "<html>Welcome</html>"), NetworkAway),
        ((200, "[]"), NetworkAway),
        ((404, refusal("M_UNRECOGNIZED")), BridgeUnavailable),
        (CUT, NetworkAway),
    ],
)
@on_failing
async def test_a_sign_in_that_fails_says_whether_trying_again_helps(server: FailingServer, answer, error):
    server.answers["login"] = answer
    network = made("matrix", server.settings)
    for attempt in (network.check, lambda: network.run(RecordingHost())):
        with pytest.raises(error) as failed:
            await attempt()
        assert SECRET not in str(failed.value)


@in_one_case("look", [CUT, (502, "<html>"), (200, "[]"), (429, refusal("M_LIMIT_EXCEEDED"))])
@on_failing
async def test_a_look_that_fails_ends_the_run(server: FailingServer, look):
    host = RecordingHost()
    async with running(made("matrix", server.settings), host) as task:
        server.answers["sync"] = look
        server.cut()
        with pytest.raises(NetworkAway):
            await task


@pytest.mark.parametrize(("secret", "error"), [("password", NetworkAway), ("token", SignInRefused)])
@on_failing
async def test_a_session_that_the_homeserver_ends_is_begun_again_where_there_is_a_password(
    server: FailingServer, secret, error
):
    network = made("matrix", {**server.settings, "password": "", secret: SECRET})
    async with running(network, RecordingHost()) as task:
        server.answers["sync"] = (401, refusal("M_UNKNOWN_TOKEN"))
        server.cut()
        with pytest.raises(error):
            await task


@on_failing
async def test_after_an_outage_the_token_is_used_again_and_the_password_only_if_it_has_gone(server: FailingServer):
    network, host = made("matrix", server.settings), RecordingHost()
    for answer, logins in ((None, 1), (None, 1), ((401, refusal("M_UNKNOWN_TOKEN")), 2)):
        server.answers |= {"whoami": answer} if answer else {}
        async with running(network, host):
            assert server.asked.count("login") == logins
    assert "a-secret-token" not in host.mark


@on_failing
async def test_after_a_sync_token_that_the_homeserver_does_not_know_the_bridge_begins_as_at_its_first_start(
    server: FailingServer,
):
    server.lost_token = "lost"
    server.first_look = {**gap(), "next_batch": "s1"}
    server.answers["messages"] = (400, refusal("M_INVALID_PARAM"))
    host = RecordingHost()
    host.mark = "DEVICE lost"
    async with running(made("matrix", server.settings), host):
        await host.wait_until(lambda: LOOKED in host.mark)
    assert host.received == [] and "messages" not in server.asked


# --- what a room missed


def said(text: str) -> dict[str, Any]:
    content = {"msgtype": "m.text", "body": text}
    head = {"type": "m.room.message", "event_id": f"${text}", "sender": "@ann:engram.test", "origin_server_ts": 1}
    return {**head, "content": content}


def page(*texts: str, end: str = "") -> tuple[int, str]:
    body = {"chunk": [said(text) for text in texts], "start": "p0"}
    return 200, json.dumps({**body, **({"end": end} if end else {})})


def gap() -> dict[str, Any]:
    """A look at a room in which the homeserver leaves something out."""
    timeline = {"limited": True, "prev_batch": "p1", "events": [said("newest")]}
    return {"next_batch": "s2", "rooms": {"join": {CHAT.id: {"timeline": timeline}}}}


@on_failing
async def test_after_an_empty_page_the_next_one_is_asked_for(server: FailingServer, network, host):
    server.pages = [page(end="p2"), page("missed", end="p3"), page()]
    await host.wait_until(lambda: LOOKED in host.mark)
    server.show(gap())
    await host.wait_until(lambda: "s2" in host.mark)
    assert [message.text for message in host.received] == ["missed", "newest"]


@on_failing
async def test_what_the_homeserver_does_not_give_for_now_is_asked_for_again(server: FailingServer):
    host = RecordingHost()
    server.pages = [(400, refusal("M_UNKNOWN"))]
    with pytest.raises(NetworkAway):
        async with running(made("matrix", server.settings), host) as task:
            await host.wait_until(lambda: LOOKED in host.mark)
            server.show(gap())
            await task
    assert "s2" not in host.mark and host.received == []


@on_failing
async def test_what_the_account_may_not_read_holds_up_nothing(server: FailingServer, network, host):
    server.pages = [(403, refusal("M_FORBIDDEN"))]
    await host.wait_until(lambda: LOOKED in host.mark)
    server.show(gap())
    await host.next("newest")


@in_one_case("rule", ["public", "restricted", "knock_restricted", "new.rule"])
@on_failing
async def test_a_room_that_others_join_uninvited_is_a_group(server: FailingServer, rule: str, network, host):
    server.answers["m.room.join_rules"] = (200, json.dumps({"join_rule": rule}))
    await host.wait_until(lambda: LOOKED in host.mark)
    server.show(gap())
    assert (await host.next("newest")).chat.is_group


# --- who is there


def comes(user: str, before: str = "leave", now: str = "join") -> dict[str, Any]:
    unsigned = {"prev_content": {"membership": before}}
    head = {"type": "m.room.member", "event_id": f"${user}", "sender": user, "state_key": user}
    return {**head, "content": {"membership": now}, "unsigned": unsigned, "origin_server_ts": 1}


def changed(*events: dict[str, Any], limited: bool = False) -> dict[str, Any]:
    timeline = {"events": [*events], "limited": limited}
    return {"next_batch": "s2", "rooms": {"join": {CHAT.id: {"timeline": timeline}}}}


GROUP = Chat(CHAT.id, is_group=True)
BEN, ANN, KITCHEN = "@ben:engram.test", "@ann:engram.test", "@kitchen:engram.test"


@in_one_case(
    "look, groups",
    [
        (changed(comes(BEN)), [GROUP]),
        (changed(comes(BEN), comes(ANN, "join", "leave")), [GROUP]),
        (changed(comes(ANN, "join")), []),
        (changed(comes(KITCHEN)), []),
        (changed(comes(ANN, "join", "leave")), []),
    ],
)
@on_failing
async def test_whoever_comes_and_says_nothing_makes_a_group_of_a_private_chat(
    server: FailingServer, look: dict[str, Any], groups: list[Chat], network, host
):
    await host.wait_until(lambda: LOOKED in host.mark)
    server.show(look)
    await host.wait_until(lambda: "s2" in host.mark)
    assert [chat for chat, _ in host.groups] == groups


@on_failing
async def test_whoever_came_during_a_gap_makes_a_group_of_a_private_chat(server: FailingServer, network, host):
    server.answers["joined_members"] = (200, json.dumps({"joined": {ANN: {}, BEN: {}, KITCHEN: {}}}))
    await host.wait_until(lambda: LOOKED in host.mark)
    server.show(changed(limited=True))
    await host.wait_until(lambda: "s2" in host.mark)
    assert [chat for chat, _ in host.groups] == [GROUP]


@on_failing
async def test_who_came_while_the_bridge_was_away_is_noted_before_anything_is_sent(server: FailingServer):
    host, network = RecordingHost(), made("matrix", server.settings)
    async with running(network, host):
        await host.wait_until(lambda: LOOKED in host.mark)
    server.first_look = changed(comes(BEN))
    async with running(network, host):
        assert host.groups == [(GROUP, 1)]


# --- a message


@in_one_case(
    "answer, error",
    [
        (CUT, SendUncertain),
        ((502, "<html>Bad gateway</html>"), SendUncertain),
        ((500, refusal("M_UNKNOWN")), SendUncertain),
        ((200, "[]"), SendUncertain),
        ((429, refusal("M_LIMIT_EXCEEDED", retry_after_ms=3000)), SlowDown),
        ((403, refusal("M_FORBIDDEN")), SendRefused),
        ((413, refusal("M_TOO_LARGE")), SendRefused),
        ((401, refusal("M_UNKNOWN_TOKEN")), SendFailed),
    ],
)
@on_failing
async def test_a_message_that_fails_says_whether_it_may_have_arrived(server: FailingServer, answer, error):
    network = made("matrix", server.settings)
    async with running(network, RecordingHost()):
        server.answers["send"] = answer
        for attempt in (lambda: network.send(CHAT, "hello", "key-1"), lambda: network.edit(CHAT, "$old", "hello")):
            with pytest.raises(SendFailed) as failed:
                await attempt()
            assert type(failed.value) is error
        if isinstance(failed.value, SlowDown):
            assert failed.value.retry_after == 3


@on_failing
async def test_a_message_under_way_while_the_run_ends_is_uncertain(server: FailingServer):
    network = made("matrix", server.settings)
    server.answers["send"] = HANG
    async with running(network, RecordingHost()) as task:
        sending = asyncio.create_task(network.send(CHAT, "hello", "key-1"))
        await wait_until_async("it is sent", lambda: "send" in server.asked)
        task.cancel()
        with pytest.raises(SendUncertain):
            await sending
    with pytest.raises(SendFailed):
        await network.send(CHAT, "hello", "key-1")
