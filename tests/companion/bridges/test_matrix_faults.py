"""Matrix' bridge and a homeserver that fails: what each failure means for the bridge, and for a message."""

import asyncio
import contextlib
import json
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from bridge_run import made, running
from engram_host.companion.bridges.errors import (
    BridgeUnavailable,
    NetworkAway,
    SendFailed,
    SendRefused,
    SendUncertain,
    SignInRefused,
    SlowDown,
)
from engram_host.companion.bridges.matrix import client as matrix_client
from engram_host.companion.bridges.matrix.bridge import Mark
from engram_host.companion.bridges.network import Chat
from loop_thread import LoopThread
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
        self.port = free_port()
        self.settings = {
            "server": f"http://127.0.0.1:{self.port}",
            "account": "@kitchen:engram.test",
            "password": SECRET,
        }

    def __enter__(self) -> "FailingServer":
        self._thread = LoopThread("homeserver")
        self._thread.run(self._begin())
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.run(self._end())
        self._thread.close()

    def cut(self) -> None:
        """End the connections that wait."""
        self._thread.loop.call_soon_threadsafe(self._is_cut.set)

    def show(self, answer: dict[str, Any]) -> None:
        """Answer the look that waits, or the next one."""
        self._thread.loop.call_soon_threadsafe(self._looks.put_nowait, answer)

    async def _begin(self) -> None:
        self._is_cut = asyncio.Event()
        self._looks: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)

    async def _end(self) -> None:
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


def with_server(work: Callable[[FailingServer], Coroutine[Any, Any, None]]) -> None:
    with FailingServer() as server:
        asyncio.run(work(server))


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
def test_a_sign_in_that_fails_says_whether_trying_again_helps(answer, error):
    async def work(server: FailingServer) -> None:
        server.answers["login"] = answer
        network = made("matrix", server.settings)
        for attempt in (network.check, lambda: network.run(RecordingHost())):
            with pytest.raises(error) as failed:
                await attempt()
            assert SECRET not in str(failed.value)

    with_server(work)


def test_an_address_where_nobody_listens_is_a_network_that_is_away():
    async def run() -> None:
        network = made("matrix", FailingServer().settings)
        with pytest.raises(NetworkAway):
            await network.check()
        with pytest.raises(SendFailed):
            await network.send(CHAT, "hello", "key-1")

    asyncio.run(run())


@in_one_case("look", [CUT, (502, "<html>"), (200, "[]"), (429, refusal("M_LIMIT_EXCEEDED"))])
def test_a_look_that_fails_ends_the_run(look):
    async def work(server: FailingServer) -> None:
        host = RecordingHost()
        async with running(made("matrix", server.settings), host) as task:
            server.answers["sync"] = look
            server.cut()
            with pytest.raises(NetworkAway):
                await task

    with_server(work)


@pytest.mark.parametrize(("secret", "error"), [("password", NetworkAway), ("token", SignInRefused)])
def test_a_session_that_the_homeserver_ends_is_begun_again_where_there_is_a_password(secret, error):
    async def work(server: FailingServer) -> None:
        network = made("matrix", {**server.settings, "password": "", secret: SECRET})
        async with running(network, RecordingHost()) as task:
            server.answers["sync"] = (401, refusal("M_UNKNOWN_TOKEN"))
            server.cut()
            with pytest.raises(error):
                await task

    with_server(work)


def test_a_homeserver_that_never_answers_is_away(monkeypatch):
    monkeypatch.setattr(matrix_client, "FIRST_LOOK_SECONDS", 0.2)

    async def work(server: FailingServer) -> None:
        server.answers["sync"] = HANG
        with pytest.raises(NetworkAway):
            await made("matrix", server.settings).run(RecordingHost())

    with_server(work)


def test_after_an_outage_the_token_is_used_again_and_the_password_only_if_it_has_gone():
    async def work(server: FailingServer) -> None:
        network, host = made("matrix", server.settings), RecordingHost()
        async with running(network, host):
            pass
        async with running(network, host):
            pass
        assert server.asked.count("login") == 1
        server.answers["whoami"] = (401, refusal("M_UNKNOWN_TOKEN"))
        async with running(network, host):
            pass
        assert server.asked.count("login") == 2
        assert "a-secret-token" not in host.mark

    with_server(work)


def test_after_a_sync_token_that_the_homeserver_does_not_know_the_bridge_begins_as_at_its_first_start():
    async def work(server: FailingServer) -> None:
        server.lost_token = "lost"
        spoken = {
            "type": "m.room.message",
            "event_id": "$old",
            "sender": "@ann:engram.test",
            "content": {"msgtype": "m.text", "body": "of long ago"},
        }
        timeline = {"events": [spoken], "limited": True, "prev_batch": "p1"}
        server.first_look = {"next_batch": "s1", "rooms": {"join": {CHAT.id: {"timeline": timeline}}}}
        server.answers["messages"] = (400, refusal("M_INVALID_PARAM"))
        host = RecordingHost()
        host.mark = Mark("@kitchen:engram.test", "DEVICE", "lost").text
        async with running(made("matrix", server.settings), host):
            await host.wait_until(lambda: '"s1"' in host.mark)
        assert host.received == [] and "messages" not in server.asked

    with_server(work)


def test_an_invitation_that_a_limit_stops_is_accepted_after_the_next_look():
    async def work(server: FailingServer) -> None:
        network, host = made("matrix", server.settings), RecordingHost()
        server.answers["join"] = (429, refusal("M_LIMIT_EXCEEDED"))
        async with running(network, host):
            server.show({"next_batch": "s2", "rooms": {"invite": {CHAT.id: {"invite_state": {"events": []}}}}})
            await host.wait_until(lambda: '"s2"' in host.mark)
            assert server.asked.count("join") == 1
            del server.answers["join"]
            server.show({"next_batch": "s3"})
            await host.wait_until(lambda: '"s3"' in host.mark)
            assert server.asked.count("join") == 2

    with_server(work)


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


def test_after_an_empty_page_the_next_one_is_asked_for():
    async def work(server: FailingServer) -> None:
        host = RecordingHost()
        server.pages = [page(end="p2"), page("missed", end="p3"), page()]
        async with running(made("matrix", server.settings), host):
            await host.wait_until(lambda: '"s1"' in host.mark)
            server.show(gap())
            await host.wait_until(lambda: '"s2"' in host.mark)
        assert [message.text for message in host.received] == ["missed", "newest"]

    with_server(work)


def test_what_the_homeserver_does_not_give_for_now_is_asked_for_again():
    async def work(server: FailingServer) -> None:
        host = RecordingHost()
        server.pages = [(400, refusal("M_UNKNOWN"))]
        with pytest.raises(NetworkAway):
            async with running(made("matrix", server.settings), host) as task:
                await host.wait_until(lambda: '"s1"' in host.mark)
                server.show(gap())
                await task
        assert '"s2"' not in host.mark and host.received == []

    with_server(work)


def test_what_the_account_may_not_read_holds_up_nothing():
    async def work(server: FailingServer) -> None:
        host = RecordingHost()
        server.pages = [(403, refusal("M_FORBIDDEN"))]
        async with running(made("matrix", server.settings), host):
            await host.wait_until(lambda: '"s1"' in host.mark)
            server.show(gap())
            await host.next("newest")

    with_server(work)


@in_one_case("rule", ["public", "restricted", "knock_restricted", "new.rule"])
def test_a_room_that_others_join_uninvited_is_a_group(rule: str):
    async def work(server: FailingServer) -> None:
        host = RecordingHost()
        server.answers["m.room.join_rules"] = (200, json.dumps({"join_rule": rule}))
        async with running(made("matrix", server.settings), host):
            await host.wait_until(lambda: '"s1"' in host.mark)
            server.show(gap())
            assert (await host.next("newest")).chat.is_group

    with_server(work)


def group_reply() -> dict[str, Any]:
    """A look at a group where somebody replies to an event, and somebody says something."""
    reply = said("a reply")
    reply["content"]["m.relates_to"] = {"m.in_reply_to": {"event_id": "$original"}}
    return {"next_batch": "s2", "rooms": {"join": {CHAT.id: {"timeline": {"events": [reply, said("newest")]}}}}}


def test_an_event_that_the_homeserver_fails_to_give_twice_holds_up_nothing():
    async def work(server: FailingServer) -> None:
        host, network = RecordingHost(), made("matrix", server.settings)
        server.answers["event"] = CUT
        server.answers["m.room.join_rules"] = (200, json.dumps({"join_rule": "public"}))
        with pytest.raises(NetworkAway):
            async with running(network, host) as task:
                await host.wait_until(lambda: '"s1"' in host.mark)
                server.show(group_reply())
                await task
        assert '"s2"' not in host.mark
        server.first_look = group_reply()
        async with running(network, host):
            await host.next("newest")
        assert [(message.text, message.is_mentioned) for message in host.received] == [
            ("a reply", False),
            ("newest", False),
        ]

    with_server(work)


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
def test_whoever_comes_and_says_nothing_makes_a_group_of_a_private_chat(look: dict[str, Any], groups: list[Chat]):
    async def work(server: FailingServer) -> None:
        host = RecordingHost()
        async with running(made("matrix", server.settings), host):
            await host.wait_until(lambda: '"s1"' in host.mark)
            server.show(look)
            await host.wait_until(lambda: '"s2"' in host.mark)
        assert [chat for chat, _ in host.groups] == groups

    with_server(work)


def test_whoever_came_during_a_gap_makes_a_group_of_a_private_chat():
    async def work(server: FailingServer) -> None:
        host = RecordingHost()
        server.answers["joined_members"] = (200, json.dumps({"joined": {ANN: {}, BEN: {}, KITCHEN: {}}}))
        async with running(made("matrix", server.settings), host):
            await host.wait_until(lambda: '"s1"' in host.mark)
            server.show(changed(limited=True))
            await host.wait_until(lambda: '"s2"' in host.mark)
        assert [chat for chat, _ in host.groups] == [GROUP]

    with_server(work)


def test_who_came_while_the_bridge_was_away_is_noted_before_anything_is_sent():
    async def work(server: FailingServer) -> None:
        host, network = RecordingHost(), made("matrix", server.settings)
        async with running(network, host):
            await host.wait_until(lambda: '"s1"' in host.mark)
        server.first_look = changed(comes(BEN))
        async with running(network, host):
            assert host.groups == [(GROUP, 1)]

    with_server(work)


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
def test_a_message_that_fails_says_whether_it_may_have_arrived(answer, error):
    async def work(server: FailingServer) -> None:
        network = made("matrix", server.settings)
        async with running(network, RecordingHost()):
            server.answers["send"] = answer
            for attempt in (lambda: network.send(CHAT, "hello", "key-1"), lambda: network.edit(CHAT, "$old", "hello")):
                with pytest.raises(SendFailed) as failed:
                    await attempt()
                assert type(failed.value) is error
            if isinstance(failed.value, SlowDown):
                assert failed.value.retry_after == 3

    with_server(work)


def test_a_message_under_way_while_the_run_ends_is_uncertain():
    async def work(server: FailingServer) -> None:
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

    with_server(work)


# --- settings


@in_one_case(
    "name, value",
    [
        ("server", "matrix.example.org"),
        ("server", "ftp://example.org"),
        ("server", "https://"),
        ("server", "https://example.org:port"),
        ("account", " "),
        ("password", ""),
    ],
)
def test_a_setting_that_cannot_be_meant_is_named(name, value):
    with pytest.raises(BridgeUnavailable, match=f"^{name}: "):
        made("matrix", {"server": "https://example.org", "account": "@a:b", "password": SECRET, name: value})


@in_one_case("mark", ["", "no JSON", "[]", '{"since": "s1"}', '{"uid": 7}'])
def test_a_mark_of_another_network_is_not_used(mark):
    async def work(server: FailingServer) -> None:
        host = RecordingHost()
        host.mark = mark
        async with running(made("matrix", server.settings), host):
            await host.wait_until(lambda: '"s1"' in host.mark and "DEVICE" in host.mark)

    with_server(work)
