"""A strict fake of Slack: the Web API, for one app in one workspace. slack_socket_fake.py has Socket Mode.

It refuses texts beyond 4,000 characters, empty ones, edits of other people's messages, a wrong token; and it counts calls.
"""

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from aiohttp import web

from fake_service import FakeService
from slack_peer import SlackPeer
from slack_records import Conversation, Json, Message, User
from slack_socket_fake import SocketMode

TOKEN = "xoxb-1111-2222-engramFakeOfSlack"
APP_TOKEN = "xapp-1-A1-3333-engramFakeOfSlack"
LONGEST_TEXT = 4000


class Refused(Exception):
    """An answer with ok: false."""


class SlackServer(FakeService):
    """Implements bridge_peers.Server, with a channel that all people are in. What changes it runs in its own loop: do()."""

    def __init__(self) -> None:
        super().__init__("slack")
        self.bot = User("U0BOT", "engram", "B0BOT")
        self.users: dict[str, User] = {self.bot.id: self.bot}
        self.house = Conversation("C0HOUSE", "channel", "house")
        self.conversations: dict[str, Conversation] = {self.house.id: self.house}
        self.missing_scopes: dict[str, str] = {}
        """Methods that the app may not call, with the scope that it lacks."""
        self.socket = SocketMode(self)
        self._last_ts = 0.0
        self._threads: dict[str, str] = {}

    @property
    def url(self) -> str:
        return f"http://{self.address}/api/"

    @property
    def settings(self) -> Mapping[str, str]:
        return {"token": TOKEN, "app_token": APP_TOKEN, "url": self.url}

    @property
    def account_id(self) -> str:
        """The id of the bridge's account."""
        return f"T1 {self.bot.id}"

    def thread_named(self, name: str, by: User) -> str:
        """The thread of a name: what somebody said in the channel when it was first asked for."""
        if name not in self._threads:
            self._threads[name] = self.add_message(self.house, by, name).ts
        return self._threads[name]

    def thread_name(self, ts: str) -> str:
        return next((name for name, root in self._threads.items() if root == ts), ts)

    async def peer(self, name: str) -> SlackPeer:
        def add() -> SlackPeer:
            user = User(f"U{len(self.users):04d}", name)
            self.users[user.id] = user
            direct = Conversation(f"D{len(self.users):04d}", "im", user=user)
            self.conversations[direct.id] = direct
            return SlackPeer(self, user, direct)

        return await self.do(add)

    async def killed(self) -> None:
        self.socket.forget()

    # --- what happens

    def add_message(
        self, place: Conversation, user: User, text: str, thread_ts: str = "", files: Any = (), shared: Any = ()
    ) -> Message:
        """Keep a message, and let the app know of it."""
        self._last_ts = max(time.time(), self._last_ts + 0.000001)
        message = Message(f"{self._last_ts:.6f}", user, text, thread_ts, list(files), shared=list(shared))
        place.messages[message.ts] = message
        event = {**message.as_json(), "channel": place.id, "channel_type": place.kind, "event_ts": message.ts}
        parent = place.messages.get(thread_ts)
        if parent is not None:
            event["parent_user_id"] = parent.user.id
        self.socket.give_event(event)
        if place.kind != "im" and f"<@{self.bot.id}>" in text:
            names = ("user", "text", "ts", "channel", "event_ts", "team", "bot_id", "files")
            mention = {name: event[name] for name in names if name in event}
            self.socket.give_event(
                {**mention, "type": "app_mention", **({"thread_ts": thread_ts} if thread_ts else {})}
            )
        return message

    # --- the Web API

    def name_of(self, request: web.BaseRequest) -> str:
        return request.path.removeprefix("/api/") if request.path.startswith("/api/") else ""

    async def serve(self, request: web.BaseRequest) -> web.StreamResponse:
        return await self.socket.serve(request) if request.path == "/link" else self._file(request)

    def flooded(self, retry_after: float) -> web.Response:
        headers = {"Retry-After": str(int(retry_after))}
        return web.json_response({"ok": False, "error": "ratelimited"}, status=429, headers=headers)

    async def answer(self, request: web.BaseRequest) -> tuple[web.Response, object]:
        try:
            given = await self._arguments(request)
            name, authorization = self.name_of(request), request.headers.get("Authorization", "")
            result = {"ok": True, **self._call(name, given, authorization)}
        except Refused as refused:
            code, _, needed = str(refused).partition(" ")
            result = {"ok": False, "error": code, **({"needed": needed, "provided": ""} if needed else {})}
        return web.json_response(result), result.get("error", "ok")

    def _file(self, request: web.BaseRequest) -> web.StreamResponse:
        """A private file: an app without its token or scope is shown the page to sign in."""
        is_allowed = request.headers.get("Authorization") == f"Bearer {TOKEN}" and "files" not in self.missing_scopes
        data = self.files.get(request.path)
        if data is None:
            return web.Response(status=404)
        return (
            web.Response(body=data)
            if is_allowed
            else web.Response(text="<html>Sign in</html>", content_type="text/html")
        )

    async def _arguments(self, request: web.BaseRequest) -> Json:
        """Arguments of a query, a form or JSON; the limit as a number."""
        given: Json = dict(request.query)
        body = await request.read()
        if body and request.content_type == "application/json":
            return {**given, **json.loads(body)}
        if body:
            given |= dict(await request.post())
        for name in given:
            if name == "limit":
                given[name] = int(given[name])
        return given

    def _call(self, name: str, given: Json, authorization: str) -> Json:
        expected = APP_TOKEN if name == "apps.connections.open" else TOKEN
        if authorization != f"Bearer {expected}" or self.is_token_refused:
            raise Refused("invalid_auth")
        if name in self.missing_scopes:
            raise Refused(f"missing_scope {self.missing_scopes[name]}")
        methods: dict[str, Callable[[Json], Json]] = {
            "auth.test": self._auth_test,
            "apps.connections.open": lambda _given: {"url": self.socket.new_url()},
            "chat.postMessage": self._post,
            "chat.update": self._update,
            "users.info": self._user,
            "users.conversations": self._conversations,
            "conversations.info": lambda given: {"channel": self._place(given).as_json()},
            "conversations.history": self._history,
            "conversations.replies": self._replies,
        }
        return methods[name](given)

    def _auth_test(self, _given: Json) -> Json:
        about = {"url": "https://house.slack.com/", "team": "House", "user": self.bot.name, "team_id": "T1"}
        return {**about, "user_id": self.bot.id, "bot_id": self.bot.bot_id}

    def _post(self, given: Json) -> Json:
        place = self._place(given)
        if place.is_archived:
            raise Refused("is_archived")
        text = _text(given)
        thread = given.get("thread_ts", "")
        if thread and thread not in place.messages:
            raise Refused("thread_not_found")
        message = self.add_message(place, self.bot, text, thread)
        return {"channel": place.id, "ts": message.ts, "message": message.as_json()}

    def _update(self, given: Json) -> Json:
        place = self._place(given)
        message = place.messages.get(given["ts"])
        if message is None:
            raise Refused("message_not_found")
        if message.user is not self.bot:
            raise Refused("cant_update_message")
        message.edits += 1
        self.change_message(place, message, _text(given))
        return {"channel": place.id, "ts": message.ts, "text": message.text, "message": message.as_json()}

    def change_message(self, place: Conversation, message: Message, text: str) -> None:
        """Let a message say something else, and the app know of it."""
        message.text = text
        self.socket.give_event(
            {
                "type": "message",
                "subtype": "message_changed",
                "hidden": True,
                "channel": place.id,
                "message": message.as_json(),
                "ts": f"{time.time():.6f}",
                "channel_type": place.kind,
            }
        )

    def _user(self, given: Json) -> Json:
        user = self.users.get(given["user"])
        if user is None:
            raise Refused("user_not_found")
        profile = {"display_name": user.name.capitalize(), "real_name": user.name.capitalize()}
        return {"user": {"id": user.id, "name": user.name, "is_bot": bool(user.bot_id), "profile": profile}}

    def _conversations(self, given: Json) -> Json:
        kinds = {"public_channel": "channel", "private_channel": "group", "mpim": "mpim", "im": "im"}
        asked = given.get("types", "public_channel").split(",")
        found = [one for one in self.conversations.values() if one.kind in [kinds[kind] for kind in asked]]
        return {"channels": [one.as_json() for one in found], "response_metadata": {"next_cursor": ""}}

    def _history(self, given: Json) -> Json:
        """The newest first, without what was said in threads."""
        place = self._place(given)
        roots = [one for one in place.messages.values() if not one.thread_ts or one.thread_ts == one.ts]
        found = [_with_replies(place, one) for one in roots if one.ts > given.get("oldest", "0")]
        found = found[-given.get("limit", 100) :]
        return {"messages": found[::-1], "has_more": False}

    def _replies(self, given: Json) -> Json:
        """The root, and what was said in its thread, the oldest first."""
        place = self._place(given)
        root = place.messages.get(given["ts"])
        if root is None:
            raise Refused("thread_not_found")
        replies = [
            one for one in place.messages.values() if one.thread_ts == root.ts and one.ts > given.get("oldest", "0")
        ]
        found = [{**one.as_json(), "parent_user_id": root.user.id} for one in replies[: given.get("limit", 100)]]
        return {"messages": [_with_replies(place, root), *found], "has_more": False}

    def _place(self, given: Json) -> Conversation:
        place = self.conversations.get(given["channel"])
        if place is None:
            raise Refused("channel_not_found")
        return place


def _with_replies(place: Conversation, root: Message) -> Json:
    """A message with what its thread is about, if it has one."""
    replies = [one.ts for one in place.messages.values() if one.thread_ts == root.ts]
    if not replies:
        return root.as_json()
    return {**root.as_json(), "thread_ts": root.ts, "reply_count": len(replies), "latest_reply": max(replies)}


def _text(given: Json) -> str:
    """The text of a message that is to be shown."""
    text = given.get("text", "")
    if not text.strip():
        raise Refused("no_text")
    if len(text) > LONGEST_TEXT:
        raise Refused("msg_too_long")
    if "<!" in text or "<@" in text:
        raise Refused("strict_fake_this_calls_people")
    if any(part.partition(";")[0] not in ("amp", "lt", "gt") for part in text.split("&")[1:]):
        raise Refused("strict_fake_this_is_not_escaped")
    return text
