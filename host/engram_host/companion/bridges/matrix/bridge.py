"""A bridge to Matrix, by its client-server API.

The account signs in with a password, as a device that is the same at each start, or with an access token. A sync token is
kept once all that came before it was taken, so that what people write while the companion is away is answered once.

Answers are m.text, not m.notice, though a bot sends them: clients announce no notice on a phone. What other bots say as
m.notice is not answered. A room is private as long as it has two members and cannot be joined without an invitation; a
third makes a group of it. rooms.py has the rules of joining.

Encrypted rooms need a part of the library that is not installed with Engram: there one sentence says so, once.
"""

import json
import logging
import uuid
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from nio import LoginResponse, ProfileGetDisplayNameResponse, RoomSendResponse, SyncResponse, WhoamiResponse

from engram_host.companion.bridges.errors import (
    BridgeError,
    BridgeUnavailable,
    NetworkAway,
    SendFailed,
    SignInRefused,
    SlowDown,
)
from engram_host.companion.bridges.matrix import events as matrix_events
from engram_host.companion.bridges.matrix.client import MatrixClient, TokenRefused, ask, deliver, refusal_in
from engram_host.companion.bridges.matrix.events import Account
from engram_host.companion.bridges.matrix.html import render
from engram_host.companion.bridges.matrix.rooms import MatrixRooms
from engram_host.companion.bridges.network import BridgeHost, Chat, Features, utf8_bytes

POLL_MS = 30_000
"""How long the homeserver keeps a look open while nothing comes."""

TYPING_MS = 20_000
"""How long an account is shown typing, unless it says so again."""

MOST_BYTES = 8000
"""An event has at most 65,536 bytes, and that of an edit has its text twice, as plain text and as HTML."""

_HTML_BYTES = 24_000
"""A text whose HTML is longer goes without."""

_EVENTS_AT_ONCE = 50
_ROOMS_TOLD = 60
"""Of how many rooms a bridge knows that it has said there that it cannot read them."""

_CANNOT_READ = (
    "This room is encrypted, and I cannot read encrypted messages. Please invite me to a room without encryption: it can only "
    "be left off while a room is made."
)

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
"""What a look at the account's rooms gives: members only of whom speaks."""

_WITHOUT_CONTROLS = {code: None for code in range(32) if chr(code) not in "\t\n"}
"""Homeservers refuse some of them, and each takes six bytes of an event."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Mark:
    """What a bridge keeps: its account, its device, the sync token, and the rooms where it said that it cannot read."""

    account: str = ""
    device: str = ""
    since: str = ""
    told: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str, account: str) -> "Mark":
        """A mark as it was kept; an empty one if it was another account's."""
        try:
            kept = cls(**json.loads(text or "{}"))
            kept = replace(kept, told=tuple(kept.told))
        except (ValueError, TypeError):
            kept = cls()  # it was kept for another network
        is_own = kept.account == account and isinstance(kept.device, str) and isinstance(kept.since, str)
        return kept if is_own else cls(account)

    @property
    def text(self) -> str:
        """The mark, to be kept."""
        return json.dumps(asdict(self), separators=(",", ":"))


class _SyncRefused(NetworkAway):
    """The homeserver gives nothing from a token on."""


class Matrix:
    """One account on one homeserver."""

    features = Features(
        most_units=MOST_BYTES,
        count_units=utf8_bytes,
        # Synapse takes ten events at once and then one in five seconds, unless it is set otherwise.
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
        self._failed_looks: list[str] = []

    async def run(self, host: BridgeHost) -> None:
        mark = Mark.parse(await host.load_mark(), self._account)
        client = MatrixClient(self._server, self._account, mark.device)
        try:
            await self._sign_in(client)
            mark = replace(mark, device=client.device_id)
            await host.save_mark(mark.text)
            await self._listen(client, host, mark)
        except TokenRefused as error:
            if not self._password:
                raise
            self._token = ""
            raise NetworkAway(f"the account has to sign in again: {error}") from None
        finally:
            self._client = self._rooms = None
            await client.close()

    async def check(self) -> str:
        # As a device of its own, which is gone afterwards: signing in again as that of a running bridge would end its token.
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
        # A client that knows no edits shows the star and the new text as a message.
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
        """Sign in with the token that there is, which saves the homeserver a sign-in at each reconnection, or by password."""
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

    async def _listen(self, client: MatrixClient, host: BridgeHost, mark: Mark) -> None:
        """Pass on what comes, until cancelled."""
        account = Account(client.user_id, await _shown_name(client))

        async def cannot_read(room: str) -> None:
            nonlocal mark
            mark = await self._say_unreadable(room, mark)

        rooms = MatrixRooms(client, account, host.receive, cannot_read, host.note_members, self._failed_looks)
        await rooms.load()
        self._client, self._rooms = client, rooms
        response, since = await self._first_look(client, mark.since)
        mark = replace(mark, since=since)
        await rooms.note_members(response, since)
        host.connected(account.id)
        while True:
            await rooms.take(response, mark.since)
            if response.next_batch != mark.since:
                mark = replace(mark, since=response.next_batch)
                await host.save_mark(mark.text)
            response = await self._look(client, mark.since, POLL_MS)
            await rooms.note_members(response, mark.since)

    async def _first_look(self, client: MatrixClient, since: str) -> tuple[SyncResponse, str]:
        """What has come since a token, and that token: "" if the homeserver does not know it."""
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

    async def _say_unreadable(self, room: str, mark: Mark) -> Mark:
        """Say in a room, once, that it cannot be read; the mark that knows it."""
        told = f"{zlib.crc32(room.encode()):08x}"
        if told in mark.told:
            return mark
        try:
            await self._send(
                Chat(room), {"msgtype": "m.notice", "body": _CANNOT_READ, "m.mentions": {}}, "engram-encrypted"
            )
        except SlowDown:
            return mark
        except SendFailed as error:
            _log.warning("Matrix: a room is encrypted, and it could not be said there: %s", error)
        return replace(mark, told=(*mark.told, told)[-_ROOMS_TOLD:])


def connect(values: Mapping[str, str]) -> Matrix:
    """The connection of a bridge's settings; BridgeUnavailable if they cannot be meant."""
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
    """The content of a message that mentions nobody, whatever its text says."""
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
