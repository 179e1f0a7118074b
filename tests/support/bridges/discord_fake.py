"""A strict fake of Discord: its REST API, version 10, for one bot in one guild. discord_gateway.py has the gateway.

It refuses texts beyond 2,000 characters, empty ones, edits of other people's messages, a missing or wrong token; and it counts
calls.
"""

import json
import time
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from discord_gateway import Gateway
from discord_peer import DiscordPeer
from discord_records import Channel, Json, Message, User, snowflake, timestamp
from fake_service import FakeService

TOKEN = "MTIzNDU2Nzg5MDEyMzQ1Njc4.Gfake0.engram-fake-of-discords-api"
LONGEST_TEXT = 2000
_NONCE_SECONDS = 300
"""The documentation: checked for uniqueness in the past few minutes."""
_ADMINISTRATOR = "2147483647"


class Refused(Exception):
    """An answer that is an error: the HTTP status, and the code and words of the JSON."""

    def __init__(self, status: int, code: int, problem: str):
        super().__init__(problem)
        self.status, self.code = status, code


class DiscordServer(FakeService):
    """Implements bridge_peers.Server, with a guild's channel that all people are in. Its records are used in its own loop: with
    do(), or from handlers.
    """

    def __init__(self) -> None:
        super().__init__("discord")
        self.bot = User("engram", is_bot=True)
        self.application_id = snowflake()
        self.guild_id = snowflake()
        self.users: dict[int, User] = {self.bot.id: self.bot}
        self.house = Channel("house", self.guild_id)
        self.channels: dict[int, Channel] = {self.house.id: self.house}
        self.typing: list[int] = []
        """The channels in which the bot was seen typing."""
        self.has_message_content = True
        self.gateway = Gateway(self)
        self._nonces: dict[str, tuple[float, Message]] = {}
        self._threads: dict[str, Channel] = {}

    @property
    def url(self) -> str:
        return f"http://{self.address}/api"

    @property
    def settings(self) -> Mapping[str, str]:
        return {"token": TOKEN, "url": self.url}

    @property
    def account_id(self) -> str:
        """The id of the bridge's account."""
        return str(self.bot.id)

    def thread_named(self, name: str) -> Channel:
        """A thread of the channel, made when it is first asked for."""
        if name not in self._threads:
            thread = self._threads[name] = Channel(name, self.guild_id, parent=self.house)
            self.channels[thread.id] = thread
            self.gateway.dispatch("THREAD_CREATE", {**thread.as_json(self.bot), "newly_created": True})
        return self._threads[name]

    async def peer(self, name: str) -> DiscordPeer:
        def add() -> DiscordPeer:
            user = User(name)
            self.users[user.id] = user
            direct = Channel(recipient=user)
            self.channels[direct.id] = direct
            return DiscordPeer(self, user, direct)

        return await self.do(add)

    async def killed(self) -> None:
        self.gateway.forget()

    # --- what the gateway and people need

    def is_bots_token(self, token: str) -> bool:
        return token == TOKEN and not self.is_token_refused

    def guild_as_json(self) -> Json:
        channels = [channel for channel in self.channels.values() if channel.guild_id]
        role = {"id": str(self.guild_id), "name": "@everyone", "permissions": _ADMINISTRATOR}
        return {
            "id": str(self.guild_id),
            "name": "House",
            "owner_id": "1",
            "roles": [role],
            "unavailable": False,
            "member_count": len(self.users),
            "members": [{"user": self.bot.as_json(), **self.bot.as_member()}],
            "channels": [channel.as_json(self.bot) for channel in channels if not channel.parent],
            "threads": [channel.as_json(self.bot) for channel in channels if channel.parent],
        }

    def add_message(self, message: Message) -> Message:
        """Keep a message, and let the bot know of it."""
        message.channel.messages[message.id] = message
        self.gateway.dispatch("MESSAGE_CREATE", self.message_event(message))
        return message

    def message_event(self, message: Message) -> Json:
        """The message as the gateway gives it."""
        event = message.as_json(self.users)
        if message.channel.guild_id:
            event |= {"guild_id": str(message.channel.guild_id), "member": message.author.as_member()}
        is_for_bot = (
            message.author is self.bot or not message.channel.guild_id or f"<@{self.bot.id}>" in message.content
        )
        if not self.has_message_content and not is_for_bot:
            event |= {"content": "", "attachments": []}
        return event

    # --- REST

    def name_of(self, request: web.BaseRequest) -> str:
        path = request.path.strip("/").split("/")
        return f"{request.method} {_route(path[2:])}" if path[0] == "api" else ""

    async def serve(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.path == "/gateway":
            return await self.gateway.serve(request)
        data = self.files.get(request.path)  # the content delivery network asks for no token
        return web.Response(body=data) if data is not None else web.Response(status=404)

    def flooded(self, retry_after: float) -> web.Response:
        body = {"message": "You are being rate limited.", "retry_after": retry_after, "global": False}
        return self._response(429, body, retry_after)

    async def answer(self, request: web.BaseRequest) -> tuple[web.Response, object]:
        path, data = request.path.strip("/").split("/"), await request.read()
        try:
            status, result = self._call(request, path, data)
        except Refused as refused:
            status, result = refused.status, {"code": refused.code, "message": str(refused)}
        return self._response(status, result), status

    def _response(self, status: int, body: object, retry_after: float = 0) -> web.Response:
        headers = {
            "Via": "1.1 google",
            "X-RateLimit-Limit": "50",
            "X-RateLimit-Remaining": "0" if retry_after else "49",
            "X-RateLimit-Reset": str(time.time() + (retry_after or 1)),
            "X-RateLimit-Reset-After": str(retry_after or 1),
            "X-RateLimit-Bucket": "fake",
        }
        if retry_after:
            headers["Retry-After"] = str(retry_after)
        if status == 204:
            return web.Response(status=204, headers=headers)
        # The library reads JSON of this very type, without a charset.
        return web.Response(
            status=status, body=json.dumps(body).encode(), headers={**headers, "Content-Type": "application/json"}
        )

    def _call(self, request: web.BaseRequest, path: list[str], data: bytes) -> tuple[int, object]:
        if path[:2] != ["api", "v10"]:
            raise Refused(404, 0, "404: Not Found")
        if not self.is_bots_token(request.headers.get("Authorization", "").removeprefix("Bot ")):
            raise Refused(401, 0, "401: Unauthorized")
        body: Any = json.loads(data) if data else {}
        if path[2] == "channels" and len(path) > 3:
            return self._call_channel(request, self._channel(path[3]), path[4:], body)
        match request.method, path[2:]:
            case "GET", ["users", "@me"]:
                return 200, {**self.bot.as_json(), "verified": True, "mfa_enabled": False, "email": None}
            case "GET", ["oauth2", "applications", "@me"]:
                return 200, self._application()
            case "GET", ["gateway", "bot"]:
                limit = {"total": 1000, "remaining": 999, "reset_after": 14400000, "max_concurrency": 1}
                return 200, {"url": self.gateway.url, "shards": 1, "session_start_limit": limit}
        raise Refused(404, 0, "404: Not Found")

    def _call_channel(
        self, request: web.BaseRequest, channel: Channel, path: list[str], body: Any
    ) -> tuple[int, object]:
        match request.method, path:
            case "GET", ["messages"]:
                return 200, self._history(channel, dict(request.query))
            case "POST", ["messages"]:
                return 200, self._create(channel, body).as_json(self.users)
            case "PATCH", ["messages", message]:
                return 200, self._edit(self._message(channel, message), body).as_json(self.users)
            case "POST", ["typing"]:
                self.typing.append(channel.id)
                return 204, None
        raise Refused(404, 0, "404: Not Found")

    def _application(self) -> Json:
        about = {"id": str(self.application_id), "name": "Engram", "icon": None, "description": "", "verify_key": "00"}
        flags = {
            "bot_public": False,
            "bot_require_code_grant": False,
            "flags": 1 << 19 if self.has_message_content else 0,
        }
        return {**about, **flags, "owner": User("owner").as_json()}

    def _channel(self, number: str) -> Channel:
        channel = self.channels.get(int(number)) if number.isdigit() else None
        if channel is None:
            raise Refused(404, 10003, "Unknown Channel")
        if channel.is_forbidden:
            code, problem = (
                (50007, "Cannot send messages to this user") if channel.recipient else (50001, "Missing Access")
            )
            raise Refused(403, code, problem)
        return channel

    def _message(self, channel: Channel, number: str) -> Message:
        message = channel.messages.get(int(number)) if number.isdigit() else None
        if message is None:
            raise Refused(404, 10008, "Unknown Message")
        return message

    def _history(self, channel: Channel, query: dict[str, str]) -> list[Json]:
        """The newest first; with `after`, those nearest to it."""
        limit, after = int(query.get("limit", "50")), int(query.get("after", "0"))
        before = int(query.get("before", "0"))
        found = [
            one
            for number, one in sorted(channel.messages.items())
            if number > after and (not before or number < before)
        ]
        chosen = found[:limit] if after else found[-limit:]
        return [message.as_json(self.users) for message in reversed(chosen)]

    def _create(self, channel: Channel, body: Any) -> Message:
        content = _content(body)
        nonce = str(body.get("nonce", ""))
        said_at, known = self._nonces.get(nonce, (0.0, None))
        if known and body.get("enforce_nonce") and time.time() - said_at < _NONCE_SECONDS:
            return known
        replied = self._reference(channel, body.get("message_reference"))
        message = self.add_message(Message(channel, self.bot, content, replied, nonce))
        if nonce:
            self._nonces[nonce] = (time.time(), message)
        return message

    def _reference(self, channel: Channel, reference: Any) -> Message | None:
        if reference is None:
            return None
        replied = channel.messages.get(int(reference["message_id"]))
        if replied is None and reference.get("fail_if_not_exists", True):
            raise Refused(400, 50035, "Invalid Form Body: message_reference: Unknown message")
        return replied

    def _edit(self, message: Message, body: Any) -> Message:
        if message.author is not self.bot:
            raise Refused(403, 50005, "Cannot edit a message authored by another user")
        message.content = _content(body)
        message.edits += 1
        message.edited_at = timestamp(snowflake())
        self.gateway.dispatch("MESSAGE_UPDATE", self.message_event(message))
        return message


def _route(path: list[str]) -> str:
    """What a path is called, without its ids: "channels messages"."""
    return " ".join(part for part in path if not part.isdigit() and len(part) < 20)


def _content(body: Any) -> str:
    """The text of a message that is to be shown."""
    content = body.get("content", "")
    if not content.strip():
        raise Refused(400, 50006, "Cannot send an empty message")
    if len(content) > LONGEST_TEXT:
        raise Refused(400, 50035, "Invalid Form Body: content: Must be 2000 or fewer in length.")
    allowed = body.get("allowed_mentions")
    if "@everyone" in content and (allowed is None or "everyone" in allowed.get("parse", [])):
        raise Refused(400, 50035, "strict fake: this pings everyone")
    return content
