"""Matrix, by its client-server API, with a device and a sync token that outlive restarts.

Answers are m.text, since phones do not announce m.notice; a room is private while it has two
members and needs an invitation.
"""

import logging
import uuid
from collections.abc import Mapping
from html import escape
from typing import Any
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from nio import LoginResponse, ProfileGetDisplayNameResponse, RoomSendResponse, SyncResponse, WhoamiResponse

from engram_host.companion.bridges.errors import BridgeError, BridgeUnavailable, NetworkAway, SendFailed, SignInRefused
from engram_host.companion.bridges.matrix import events as matrix_events
from engram_host.companion.bridges.matrix.client import MatrixClient, TokenRefused, ask, deliver, refusal_in
from engram_host.companion.bridges.matrix.events import Account
from engram_host.companion.bridges.matrix.rooms import MatrixRooms
from engram_host.companion.bridges.network import BridgeHost, Chat, Features, utf8_bytes

POLL_MS = 30_000
TYPING_MS = 20_000

# Text limit; an event of 65,536 bytes holds an edit's text twice, plain and as HTML.
MOST_BYTES = 8000
_HTML_BYTES = 24_000  # longer HTML is left out
_EVENTS_AT_ONCE = 50

# Sync filter that loads only members who speak.
FILTER: dict[str, Any] = {
    "presence": {"types": []},
    "account_data": {"types": []},
    "room": {
        "account_data": {"types": []},
        "ephemeral": {"types": []},
        "state": {"types": [matrix_events.MEMBER], "lazy_load_members": True, "include_redundant_members": True},
        "timeline": {"types": [*matrix_events.TYPES], "limit": _EVENTS_AT_ONCE},
    },
}

_WITHOUT_CONTROLS = {code: None for code in range(32) if chr(code) not in "\t\n"}

_log = logging.getLogger(__name__)


class _SyncRefused(NetworkAway):
    """The homeserver refuses to sync from a token."""


class Matrix:
    features = Features(
        most_units=MOST_BYTES,
        count_units=utf8_bytes,
        # Synapse's default rate limit: ten events at once, then one in five seconds.
        edit_seconds=3.0,
        is_repeatable=True,
        command_signs="/!",
    )

    def __init__(self, server: str, account: str, password: str = "", token: str = ""):
        self._server = server
        self._account = account
        self._password = password
        self._given_token = token
        self._token = token
        self._client: MatrixClient | None = None
        self._rooms: MatrixRooms | None = None

    async def run(self, host: BridgeHost) -> None:
        await host.claim(self._account)
        device, _, since = (await host.load_mark()).partition(" ")
        client = MatrixClient(self._server, self._account, device)
        try:
            await self._sign_in(client)
            await host.save_mark(f"{client.device_id} {since}")
            await self._listen(client, host, since)
        except TokenRefused as error:
            if not self._password:
                raise
            self._token = ""
            raise NetworkAway(f"the account has to sign in again: {error}") from None
        finally:
            self._client = self._rooms = None
            await client.close()

    async def check(self) -> str:
        # A separate device, removed afterwards: signing in with a running bridge's device ends its token.
        client = MatrixClient(self._server, self._account, "")
        try:
            if self._given_token:
                await self._use_token(client, self._given_token)
            else:
                await self._use_password(client)
                await ask(client.logout())
            return client.user_id
        finally:
            await client.close()

    async def send(self, chat: Chat, text: str, key: str, reply_to: str = "", is_plain: bool = False) -> str:
        content = _message(text, is_plain)
        relation: dict[str, Any] = {}
        if chat.thread:
            relation = {"rel_type": "m.thread", "event_id": chat.thread, "is_falling_back": True}
        if chat.thread or reply_to:
            relation["m.in_reply_to"] = {"event_id": reply_to or chat.thread}
            content["m.relates_to"] = relation
        event, rooms = await self._send(chat, content, key), self._rooms
        if rooms is not None:
            rooms.remember_own(event)
        return event

    async def edit(self, chat: Chat, message: str, text: str, is_plain: bool = False) -> None:
        content = _message(text, is_plain)
        # Clients without edits show the star and the new text as a message.
        fallback = {"msgtype": "m.text", "body": f"* {content['body']}", "m.mentions": {}}
        relation = {"rel_type": "m.replace", "event_id": message}
        await self._send(chat, {**fallback, "m.new_content": content, "m.relates_to": relation}, uuid.uuid4().hex)

    async def show_typing(self, chat: Chat, is_typing: bool) -> None:
        if self._client is None:
            return
        try:
            await deliver(self._client.room_typing(chat.id, is_typing, TYPING_MS))
        except SendFailed as error:
            _log.debug("Matrix: no typing sign: %s", error)

    async def _send(self, chat: Chat, content: dict[str, Any], key: str) -> str:
        if self._client is None:
            raise SendFailed("the account is not signed in now.")
        response = await deliver(self._client.room_send(chat.id, matrix_events.MESSAGE, content, tx_id=key))
        assert isinstance(response, RoomSendResponse)
        return response.event_id

    # --- signing in

    async def _sign_in(self, client: MatrixClient) -> None:
        if self._token:
            try:
                return await self._use_token(client, self._token)
            except TokenRefused:
                if not self._password:
                    raise
        await self._use_password(client)
        self._token = client.access_token
        return None

    async def _use_token(self, client: MatrixClient, token: str) -> None:
        client.access_token = token
        response = await ask(client.whoami())
        if not isinstance(response, WhoamiResponse):
            raise _refused(response)
        if self._account not in (response.user_id, response.user_id[1:].partition(":")[0]):
            raise SignInRefused(f"the access token is of {response.user_id}, not of {self._account}.")

    async def _use_password(self, client: MatrixClient) -> None:
        client.access_token = ""
        response = await ask(client.login(self._password, device_name="Engram"))
        if not isinstance(response, LoginResponse):
            raise _refused(response)

    # --- listening

    async def _listen(self, client: MatrixClient, host: BridgeHost, since: str) -> None:
        account = Account(client.user_id, await _shown_name(client))
        rooms = MatrixRooms(client, account, host.receive, host.note_members)
        await rooms.load()
        self._client, self._rooms = client, rooms
        response, since = await self._first_look(client, since)
        await rooms.note_members(response, since)
        host.connected(account.id)
        while True:
            await rooms.take(response, since)
            if response.next_batch != since:
                since = response.next_batch
                await host.save_mark(f"{client.device_id} {since}")
            response = await self._look(client, since, POLL_MS)
            await rooms.note_members(response, since)

    async def _first_look(self, client: MatrixClient, since: str) -> tuple[SyncResponse, str]:
        try:
            return await self._look(client, since, 0), since
        except _SyncRefused:
            if not since:
                raise
            _log.warning(
                "Matrix: the homeserver does not know the kept sync token; what it had until now is not answered"
            )
            return await self._look(client, "", 0), ""

    async def _look(self, client: MatrixClient, since: str, timeout_ms: int) -> SyncResponse:
        response = await ask(client.sync(timeout_ms, FILTER, since or None))
        if not isinstance(response, SyncResponse):
            refusal = refusal_in(response)
            raise _SyncRefused(f"the homeserver refuses to sync: {refusal.reason if refusal else ''}")
        return response


def _is_link(url: str) -> bool:
    return url.lower().startswith(("http://", "https://", "mailto:"))


_MARKDOWN = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["table", "strikethrough"])
# No images: clients would fetch them from any address, or show none but Matrix' own uploads.
_MARKDOWN.disable("image")
_MARKDOWN.validateLink = _is_link


def render(text: str) -> str:
    """Render Markdown as HTML with tags escaped, "" if it adds nothing to the text."""
    html = str(_MARKDOWN.render(text)).strip()
    inner = html.removeprefix("<p>").removesuffix("</p>")
    if len(inner) == len(html) - len("<p></p>") and "</p>" not in inner:
        html = inner  # one paragraph is a line of the chat
    return "" if html == escape(text.strip()).replace("&#x27;", "'") else html


def connect(values: Mapping[str, str]) -> Matrix:
    """Create a bridge's connection, or raise BridgeUnavailable for an invalid setting."""
    server = values["server"].strip().rstrip("/")
    try:
        address = urlsplit(server)
        is_address = address.scheme in ("http", "https") and bool(address.hostname) and (address.port or True)
    except ValueError:
        is_address = False
    if not is_address:
        raise BridgeUnavailable("server: give the address of the homeserver, such as https://matrix.example.org.")
    if not values["account"].strip():
        raise BridgeUnavailable("account: give the account, such as @kitchen:example.org.")
    if not (values["password"] or values["token"]):
        raise BridgeUnavailable("password: give the account's password, or an access token.")
    return Matrix(server, values["account"].strip(), values["password"], values["token"].strip())


async def _shown_name(client: MatrixClient) -> str:
    response = await ask(client.get_displayname())
    return (response.displayname or "") if isinstance(response, ProfileGetDisplayNameResponse) else ""


def _message(text: str, is_plain: bool) -> dict[str, Any]:
    text = text.translate(_WITHOUT_CONTROLS)
    content: dict[str, Any] = {"msgtype": "m.text", "body": text, "m.mentions": {}}
    html = "" if is_plain else render(text)
    if html and utf8_bytes(html) <= _HTML_BYTES:
        content |= {"format": "org.matrix.custom.html", "formatted_body": html}
    return content


def _refused(response: object) -> BridgeError:
    refusal = refusal_in(response)  # pyright: ignore[reportArgumentType]
    code, reason = (refusal.code, refusal.reason) if refusal else ("", "")
    if code == "M_UNRECOGNIZED":
        return BridgeUnavailable("there is no Matrix homeserver at this address.")
    if code == "M_UNKNOWN":
        reason += " If accounts of this server sign in by a web page only, give an access token."
    return SignInRefused(f"the homeserver refuses the account: {reason or code}")
