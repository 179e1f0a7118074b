"""Slack, over Socket Mode and the Web API: private chats, channels and threads.

An event is acknowledged once the engine has it; after an outage, messages since the mark are
fetched up to limits.
"""

import asyncio
import contextlib
import functools
import logging
import re
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, cast
from urllib.parse import urlsplit

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from engram_host.companion.bridges.connections import read_bounded
from engram_host.companion.bridges.errors import BridgeUnavailable, FileNotFetched, NetworkAway, SendFailed
from engram_host.companion.bridges.network import Attachment, BridgeHost, Chat, Features, Incoming, edit_id
from engram_host.companion.bridges.slack.client import (
    QUIET,
    connect_errors,
    error_code,
    listen,
    send_errors,
    wanted_pause,
)
from engram_host.companion.bridges.slack.words import edited, escaped_length, readable, rendered, whose
from engram_host.companion.bridges.texts import shorten
from engram_host.companion.types import BoundedDict

_MOST_UNITS = 3900  # leaves room for a table as code, with its escapes
_CALL_SECONDS = 20
# Slack wants an acknowledgement within 3 seconds: look-ups have to be shorter.
_NAME_SECONDS, _PARENT_SECONDS = 1.5, 1.0
_NAMES = 200  # limit for known names, and for known first messages of threads
_CAUGHT_UP_PLACES = 40
# Limit for conversations, and for messages of each, fetched after an outage.
_CAUGHT_UP_MESSAGES = 100
_FETCH_TRIES = 5
_FETCH_PAUSE = 60.0  # limit for the pauses before one answer, and for their seconds
# Permanent errors of one conversation, which is skipped; others abort the catch-up.
_NOT_OPEN = ("channel_not_found", "not_in_channel", "missing_scope", "thread_not_found")
_THREADS = 30  # threads in the mark: each has some 30 characters of its 2,000
_MARK = re.compile(r"[0-9]+\.[0-9]+( |$)")  # form of a mark; a mark of another network is ignored
_TAKEN_SUBTYPES = (None, "file_share", "thread_broadcast")
_PLACES = "im,mpim,public_channel,private_channel"

_log = logging.getLogger(__name__)


def connect(values: Mapping[str, str]) -> "Slack":
    url = values["url"]
    if not url.startswith(("https://", "http://")):
        raise BridgeUnavailable("the address of Slack's Web API begins with https://.")
    for name, prefix in (("token", "xoxb-"), ("app_token", "xapp-")):
        if not values[name].startswith(prefix) or not values[name].isascii() or not values[name].isprintable():
            raise BridgeUnavailable(f"Slack's {name} begins with {prefix}: see the app's settings.")
    return Slack(values["token"], values["app_token"], url.rstrip("/") + "/")


class Slack:
    def __init__(self, token: str, app_token: str, url: str):
        self._token = token
        self._app_token = app_token
        self._url = url
        self._web: AsyncWebClient | None = None
        self._me = self._team = self._account = ""
        self._names: BoundedDict[str, str] = BoundedDict(_NAMES)
        self._parents: BoundedDict[str, str] = BoundedDict(_NAMES)  # first messages of threads

    @property
    def features(self) -> Features:
        return Features(_MOST_UNITS, escaped_length, edit_seconds=1.5, has_typing=False, command_signs="/!")

    async def check(self) -> str:
        async with self._signed_in() as web:
            with connect_errors():
                await web.apps_connections_open(app_token=self._app_token)
            return self._account

    async def run(self, host: BridgeHost) -> None:
        async with self._signed_in() as web:
            self._web = web
            await host.claim(f"{self._team} {self._me}")
            inbox = _Inbox(self, web, host, await host.load_mark())
            assert web.session is not None
            try:
                await listen(web, web.session, self._app_token, inbox.greet, inbox.take)
            finally:
                self._web = None

    async def send(self, chat: Chat, text: str, key: str, reply_to: str = "", is_plain: bool = False) -> str:
        more: dict[str, Any] = {"thread_ts": chat.thread} if chat.thread else {}
        with send_errors():
            sent = await self._open_web().chat_postMessage(
                channel=chat.id,
                text=rendered(text, is_plain=is_plain),
                mrkdwn=not is_plain,
                unfurl_links=False,
                unfurl_media=False,
                **more,
            )
        return str(sent["ts"])

    async def edit(self, chat: Chat, message: str, text: str, is_plain: bool = False) -> None:
        with send_errors():
            await self._open_web().chat_update(channel=chat.id, ts=message, text=rendered(text, is_plain=is_plain))

    async def show_typing(self, chat: Chat, is_typing: bool) -> None:
        """Do nothing: Slack has no typing sign for bots."""

    @contextlib.asynccontextmanager
    async def _signed_in(self) -> AsyncIterator[AsyncWebClient]:
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=_CALL_SECONDS)) as session:
            # No retry handlers: they would send a message twice.
            web = AsyncWebClient(self._token, base_url=self._url, session=session, retry_handlers=[], logger=QUIET)
            with connect_errors():
                found = await web.auth_test()
            self._me, self._team = str(found["user_id"]), str(found.get("team_id"))
            self._account = f"@{found['user']} in {found['team']}"
            yield web

    def _open_web(self) -> AsyncWebClient:
        if self._web is None:
            raise SendFailed("the bridge is not connected to Slack now.")
        return self._web

    # --- incoming messages

    async def incoming(self, web: AsyncWebClient, event: dict[str, Any]) -> Incoming | None:
        """Parse a person's message or edit; None for anything else."""
        change = edited(event)
        event = change or event
        sender, ts, channel = (str(event.get(name) or "") for name in ("user", "ts", "channel"))
        is_message = event.get("type") in ("message", "app_mention") and event.get("subtype") in _TAKEN_SUBTYPES
        is_bots = bool(event.get("bot_id")) or sender == self._me
        attachments = tuple(self._attachment(file) for file in event.get("files") or () if isinstance(file, dict))
        text, quoted, forwarded = whose(event, has_files=bool(attachments))
        if not is_message or is_bots or not (sender and ts and channel) or not (text or quoted or attachments):
            return None
        is_group = not channel.startswith("D")
        thread = str(event.get("thread_ts") or "")
        chat = Chat(channel, thread if thread != ts else "", is_group)
        own, is_named = f"<@{self._me}>", False
        if not forwarded:
            text, is_named = text.removeprefix(own).lstrip(" ,:\n") or text, own in text
        is_mentioned = not is_group or is_named or event.get("parent_user_id") == self._me
        if chat.thread and is_mentioned and not change:
            quoted = "\n".join(part for part in (await self._parent(web, chat), quoted) if part)
        names = {self._me: self._account.partition(" ")[0].removeprefix("@"), **self._names}
        return Incoming(
            id=edit_id(ts, change["edited"].get("ts"), text) if change else ts,
            chat=chat,
            sender=sender,
            sender_name=await self._name(web, sender),
            text=readable(text, names),
            is_mentioned=is_mentioned,
            attachments=attachments,
            at=int(ts.partition(".")[0]) if ts.partition(".")[0].isdigit() else 0,
            forwarded=forwarded,
            quoted=readable(quoted, names),
            edits=ts if change else "",
        )

    def _attachment(self, file: dict[str, Any]) -> Attachment:
        kinds = {"image": "photo", "audio": "audio", "video": "video"}
        kind: Any = kinds.get(str(file.get("mimetype") or "").partition("/")[0], "file")
        size, address = file.get("size"), str(file.get("url_private_download") or file.get("url_private") or "")
        fetch = functools.partial(self._fetch, address) if self._is_slacks(address) else None
        return Attachment(kind, str(file.get("name") or ""), size if isinstance(size, int) else 0, fetch)

    def _is_slacks(self, address: str) -> bool:
        """True for Slack's own files; the token must not be sent to other addresses."""
        try:
            own, there = urlsplit(self._url), urlsplit(address)
        except ValueError:
            return False
        is_one_of_slack = (own.hostname or "") == "slack.com" and (there.hostname or "").endswith(".slack.com")
        return own.scheme == there.scheme and (is_one_of_slack or own.netloc == there.netloc)

    async def _fetch(self, address: str, most: int) -> bytes:
        session = self._web.session if self._web is not None else None
        if session is None:
            raise FileNotFetched("the bridge is not connected to Slack now: send it again.")
        headers = {"Authorization": f"Bearer {self._token}"}
        try:
            async with session.get(address, headers=headers, allow_redirects=False) as response:
                # Without the scope files:read Slack returns a sign-in page.
                if response.status != 200 or response.content_type == "text/html":
                    raise FileNotFetched("Slack does not give it: does the app have the scope files:read?")
                return await read_bounded(response.content.iter_any(), most)
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise FileNotFetched(f"Slack cannot be reached ({type(error).__name__}): send it again.") from None

    async def _parent(self, web: AsyncWebClient, chat: Chat) -> str:
        key = f"{chat.id}/{chat.thread}"
        if key not in self._parents:
            text = ""
            with contextlib.suppress(SlackClientError, aiohttp.ClientError, OSError, TimeoutError):
                async with asyncio.timeout(_PARENT_SECONDS):
                    found = (await web.conversations_replies(channel=chat.id, ts=chat.thread, limit=1)).get("messages")
                text = next((whose(one, has_files=False)[0] for one in found or ()), "")
            self._parents[key] = shorten(text)
        return self._parents[key]

    async def _name(self, web: AsyncWebClient, user: str) -> str:
        if user not in self._names:
            name = ""
            with contextlib.suppress(SlackClientError, aiohttp.ClientError, OSError, TimeoutError):
                async with asyncio.timeout(_NAME_SECONDS):
                    found = (await web.users_info(user=user)).get("user") or {}
                name = str(
                    found.get("profile", {}).get("display_name") or found.get("real_name") or found.get("name") or ""
                )
            self._names[user] = name  # also where the app may not ask: it is not asked again
        return self._names[user]


class _Inbox:
    def __init__(self, slack: Slack, web: AsyncWebClient, host: BridgeHost, mark: str):
        self._slack, self._web, self._host = slack, web, host
        self._since, *threads = mark.split() if _MARK.match(mark) else [""]
        self._newest = self._since
        self._threads: deque[str] = deque(threads, _THREADS)
        self._saved = mark
        self._is_caught_up = False

    async def greet(self) -> None:
        self._host.connected(self._slack._account)
        if not self._is_caught_up:
            await self._catch_up()

    async def take(self, envelope: dict[str, Any]) -> None:
        if envelope.get("type") == "events_api" and isinstance(envelope["payload"].get("event"), dict):
            await self._take_event(envelope["payload"]["event"])
            await self._save()

    async def _take_event(self, event: dict[str, Any]) -> None:
        message = await self._slack.incoming(self._web, event)
        if message is None:
            return
        await self._host.receive(message)
        self._newest = max(self._newest, message.edits or message.id)
        if message.chat.thread:  # a channel's history lacks messages of older threads
            thread = f"{message.chat.id}/{message.chat.thread}"
            with contextlib.suppress(ValueError):
                self._threads.remove(thread)
            self._threads.append(thread)

    async def _save(self) -> None:
        mark = " ".join((self._newest, *self._threads))
        if mark != self._saved and self._newest and self._is_caught_up:
            await self._host.save_mark(mark)
            self._saved = mark

    async def _catch_up(self) -> None:
        """Fetch messages since the mark, which stays if that fails."""
        if self._since:
            threads = dict.fromkeys(self._threads)
            for channel in await self._places():
                threads |= dict.fromkeys(await self._take_history(channel))
            for thread in threads:
                channel, _, ts = thread.partition("/")
                await self._take_replies(channel, ts)
        self._is_caught_up = True
        await self._save()

    async def _places(self) -> list[str]:
        found = await _fetched(self._web.users_conversations, types=_PLACES, exclude_archived=True, limit=200)
        places = [str(one["id"]) for one in _objects(found, "channels")]
        return sorted(places, key=lambda place: not place.startswith("D"))[:_CAUGHT_UP_PLACES]

    async def _take_history(self, channel: str) -> list[str]:
        window: Any = {"channel": channel, "oldest": self._since, "limit": _CAUGHT_UP_MESSAGES}
        found = await _fetched(self._web.conversations_history, **window)
        if found.get("has_more"):
            _log.warning(
                "more than %d messages came while the bridge was away: older ones are left", _CAUGHT_UP_MESSAGES
            )
        messages = sorted(_objects(found, "messages"), key=lambda one: one["ts"])
        for message in messages:
            await self._take_event({**message, "channel": channel})
        return [f"{channel}/{one['ts']}" for one in messages if one.get("reply_count")]

    async def _take_replies(self, channel: str, ts: str) -> None:
        window: Any = {"channel": channel, "ts": ts, "oldest": self._since, "limit": _CAUGHT_UP_MESSAGES}
        found = await _fetched(self._web.conversations_replies, **window)
        for message in _objects(found, "messages"):
            if message["ts"] > self._since and message["ts"] != ts:
                await self._take_event({**message, "channel": channel})


async def _fetched(call: Callable[..., Awaitable[AsyncSlackResponse]], **arguments: Any) -> Mapping[str, Any]:
    """Call the API with the pauses that it wants; empty if the app lacks access. May raise NetworkAway."""
    for _ in range(_FETCH_TRIES):
        try:
            return cast(Mapping[str, Any], (await call(**arguments)).data)
        except SlackApiError as error:
            if error_code(error) in _NOT_OPEN:
                _log.warning("what came meanwhile in one place is not fetched: Slack answers %s", error_code(error))
                return {}
            pause = wanted_pause(error)
            if pause is None:
                raise
        await asyncio.sleep(min(pause, _FETCH_PAUSE))
    raise NetworkAway("Slack asks to wait again and again before it gives what came meanwhile.")


def _objects(found: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    return list(found.get(name) or ())
