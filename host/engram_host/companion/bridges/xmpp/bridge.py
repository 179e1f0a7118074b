"""XMPP: an account on any server, direct chats and rooms.

Threads are ignored: clients create one for each window, which people do not see.
"""

import asyncio
import functools
import logging
import re
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import cast
from urllib.parse import urlsplit
from xml.etree import ElementTree

import httpx
from slixmpp import JID
from slixmpp.exceptions import IqError, IqTimeout, PresenceError
from slixmpp.jid import InvalidJID
from slixmpp.plugins.xep_0045 import XEP_0045
from slixmpp.plugins.xep_0199 import XEP_0199
from slixmpp.stanza import Message, Presence

from engram_host.companion.bridges.connections import host_and_port, read_bounded, run_until_one_ends, tls_context
from engram_host.companion.bridges.errors import BridgeUnavailable, FileNotFetched, NetworkAway, SendFailed
from engram_host.companion.bridges.network import BridgeHost, Chat, Features, FileFetch, Incoming, utf8_bytes
from engram_host.companion.bridges.xmpp import stanzas
from engram_host.companion.bridges.xmpp.client import Arrived, XmppClient
from engram_host.companion.supervisor import describe_error
from engram_host.companion.types import BoundedDict

log = logging.getLogger(__name__)

# Text limit; servers may refuse stanzas of more than 10,000 bytes, and escapes take more.
MOST_BYTES = 6000
PING_SECONDS = 120.0
PONG_SECONDS = 30.0

FETCH_SECONDS = 20.0
HISTORY_SECONDS = 120  # overlap of the rooms' history before the mark
MARK_SECONDS = 30  # limit for the age of the mark
MOST_IDS = 1000  # messages known by their senders' ids, for corrections
MOST_NICKNAMES = 3

# Fixed resources, so that a new session replaces a broken one at once.
RESOURCE, CHECKING = "engram", "engram-check"


def connect(values: Mapping[str, str]) -> "XmppNetwork":
    address = _address(values["address"])
    rooms = [_address(room) for room in values["rooms"].split()]
    return XmppNetwork(address, rooms, values)


def _address(value: str) -> str:
    try:
        address = JID(value)
    except InvalidJID:
        address = JID("")
    if not address.user:
        raise BridgeUnavailable(f'"{value}" is no XMPP address: write name@example.org.')
    return address.bare


class XmppNetwork:
    features = Features(MOST_BYTES, utf8_bytes, edit_seconds=2.0, command_signs="/!")

    def __init__(self, address: str, rooms: Sequence[str], values: Mapping[str, str]):
        self._address = address
        self._rooms_to_join = rooms
        self._nickname = values["nickname"]
        self._password = values["password"]
        self._server = host_and_port(values["server"], 5222) if values["server"] else None
        self._context = tls_context(values["authority"])
        self._fetch_of = functools.partial(_fetch_of, self._context)
        self._client: XmppClient | None = None
        self._rooms: dict[str, stanzas.Room] = {}
        # Message ids by chat, sender and the sender's own id.
        self._ids: BoundedDict[tuple[str, str, str], str] = BoundedDict(MOST_IDS)

    async def run(self, host: BridgeHost) -> None:
        client = self._new_client(RESOURCE)
        self._rooms.clear()
        client.add_event_handler("groupchat_presence", lambda presence: self._note_presence(client, presence))
        client.add_event_handler("groupchat_message", lambda stanza: self._note_own(client, stanza))
        try:
            await client.sign_in()
            await host.claim(self._address)
            mark = _Mark(await host.load_mark())
            await mark.begin(host)
            self._client = client
            await run_until_one_ends(self._stay(client, host, mark), self._pass_on(client, host, mark))
        finally:
            self._client = None
            await client.end()

    async def check(self) -> str:
        client = self._new_client(CHECKING)
        try:
            await client.sign_in()
            return client.boundjid.bare
        finally:
            await client.end()

    async def send(self, chat: Chat, text: str, key: str, reply_to: str = "", is_plain: bool = False) -> str:
        """Send a message with the key as its id, so that clients can drop a repeat."""
        await self._deliver(chat, text, key, is_plain)
        return key

    async def edit(self, chat: Chat, message: str, text: str, is_plain: bool = False) -> None:
        await self._deliver(chat, text, "", is_plain, corrects=message)

    async def show_typing(self, chat: Chat, is_typing: bool) -> None:
        if self._client is None or not self._client.is_up:
            return
        message = self._message(self._client, chat, "")
        message.xml.append(stanzas.element(stanzas.CHAT_STATES, "composing" if is_typing else "paused"))
        message.xml.append(stanzas.element(stanzas.NO_STORE, "no-store"))
        message.send()

    async def _deliver(self, chat: Chat, text: str, key: str, is_plain: bool, corrects: str = "") -> None:
        client = self._client
        if client is None:
            raise SendFailed("XMPP is not connected now.")
        message = self._message(client, chat, stanzas.body_of(text, is_plain=is_plain))
        if key:
            message["id"] = key
        message.xml.append(stanzas.element(stanzas.UNIQUE_IDS, "origin-id", {"id": message["id"]}))
        message.xml.append(stanzas.element(stanzas.CHAT_STATES, "active"))
        if is_plain:
            message.xml.append(stanzas.element(stanzas.UNSTYLED, "unstyled"))
        if corrects:
            message.xml.append(stanzas.element(stanzas.CORRECTION, "replace", {"id": corrects}))
        await client.deliver(message)

    @staticmethod
    def _message(client: XmppClient, chat: Chat, body: str) -> Message:
        return client.make_message(JID(chat.id), body, mtype="groupchat" if chat.is_group else "chat")

    def _new_client(self, resource: str) -> XmppClient:
        return XmppClient(f"{self._address}/{resource}", self._password, self._context, self._server, self._rooms.get)

    async def _stay(self, client: XmppClient, host: BridgeHost, mark: "_Mark") -> None:
        try:
            await client.get_roster(timeout=PONG_SECONDS)
        except (IqError, IqTimeout):
            raise NetworkAway(f"{client.boundjid.host} does not give the list of contacts.") from None
        client.send_presence()
        for room in self._rooms_to_join:
            await self._join(client, room, mark)
        host.connected(self._address)
        await run_until_one_ends(client.wait_for_cut(), self._watch(client))
        await client.wait_for_cut()

    @staticmethod
    async def _watch(client: XmppClient) -> None:
        while True:
            await asyncio.sleep(PING_SECONDS)
            try:
                await cast(XEP_0199, client.plugin["xep_0199"]).ping(timeout=PONG_SECONDS)
            except IqTimeout:
                client.abort()
                return

    async def _join(self, client: XmppClient, room: str, mark: "_Mark") -> None:
        nickname = self._nickname
        for _ in range(MOST_NICKNAMES):
            self._rooms[room] = stanzas.Room(nickname)
            try:
                await cast(XEP_0045, client.plugin["xep_0045"]).join_muc_wait(
                    JID(room), nickname, since=mark.since, timeout=PONG_SECONDS
                )
            except (PresenceError, TimeoutError) as error:
                del self._rooms[room]
                condition = error.condition if isinstance(error, PresenceError) else "no answer"
                if condition != "conflict":
                    log.warning("The room %s cannot be joined: %s.", room, condition)
                    return
                nickname += "_"
            else:
                return
        log.warning("The room %s cannot be joined: others have the nicknames up to %s.", room, nickname)

    def _note_presence(self, client: XmppClient, presence: Presence) -> None:
        address, nickname = presence["from"].bare, presence["from"].resource
        room = self._rooms.get(address)
        if room is None or presence["type"] == "error":
            return
        codes = presence["muc"]["status_codes"]
        is_own, is_gone = 110 in codes, presence["type"] == "unavailable"
        if is_own and is_gone and 303 not in codes:
            client.fail(NetworkAway(f"the account is no more in the room {address}."))
        room.note(nickname, None if is_gone else stanzas.occupant_of(presence.xml), is_own)

    def _note_own(self, client: XmppClient, stanza: Message) -> None:
        room = self._rooms.get(stanza["from"].bare)
        if room is not None and room.has_sent(stanza["from"].resource, stanza.xml):
            client.reflected(stanza["id"])

    async def _pass_on(self, client: XmppClient, host: BridgeHost, mark: "_Mark") -> None:
        while True:
            arrived = await client.next_message()
            if arrived.stanza["type"] == "groupchat":
                await self._take_from_room(arrived, host, mark)
            else:
                await self._take_private(arrived.stanza, host)
            client.kept(arrived)

    async def _take_from_room(self, arrived: Arrived, host: BridgeHost, mark: "_Mark") -> None:
        if arrived.room is None:
            return
        xml, room_then = arrived.stanza.xml, arrived.room
        message = _read(lambda: stanzas.room_message(xml, room_then, self._fetch_of))
        if message is not None:
            await host.receive(self._with_ids(message, xml))
        await mark.note(stanzas.stamp_of(xml, arrived.stanza["from"].bare), host)

    async def _take_private(self, stanza: Message, host: BridgeHost) -> None:
        message = _read(lambda: stanzas.private_message(stanza.xml, self._address, self._fetch_of))
        if message is not None:
            await host.receive(self._with_ids(message, stanza.xml))

    def _with_ids(self, message: Incoming, xml: ElementTree.Element) -> Incoming:
        own, replaced = (
            (message.chat.id, message.sender, id_) for id_ in (xml.get("id", ""), stanzas.replaced_id(xml))
        )
        if message.edits:
            message = replace(message, edits=self._ids.get(replaced, message.edits))
        self._ids[own] = message.edits or message.id
        return message


def _read(read: Callable[[], Incoming | None]) -> Incoming | None:
    try:
        return read()
    # Guards against malformed stanzas: the server repeats an unconfirmed one after each sign-in,
    # and the bridge would never get beyond it.
    except Exception as error:  # noqa: BLE001
        log.error("XMPP: the bridge passes over a stanza that it cannot read: %s", describe_error(error))
        return None


class _Mark:
    """Time in Unix seconds up to which the rooms' messages were received."""

    def __init__(self, saved: str):
        self._is_new = not re.fullmatch("[0-9]{1,10}", saved)
        self._saved = self._newest = int(time.time()) if self._is_new else int(saved)

    @property
    def since(self) -> datetime:
        """Start of the history to ask for: clocks differ, and some servers are late."""
        return datetime.fromtimestamp(self._saved - HISTORY_SECONDS, UTC)

    async def begin(self, host: BridgeHost) -> None:
        if self._is_new:
            await host.save_mark(str(self._saved))

    async def note(self, seconds: int, host: BridgeHost) -> None:
        """Move on to a time (0: now), and save it unless the saved one is nearly as late."""
        self._newest = max(self._newest, seconds or int(time.time()))
        if self._newest - self._saved >= MARK_SECONDS:
            await host.save_mark(str(self._newest))
            self._saved = self._newest


def _fetch_of(context: ssl.SSLContext, link: str) -> FileFetch | None:
    """Return the fetch of an address; None if it is not https."""
    try:
        is_https = urlsplit(link).scheme == "https" and bool(urlsplit(link).hostname)
    except ValueError:
        is_https = False
    return functools.partial(_fetch, context, link) if is_https else None


async def _fetch(context: ssl.SSLContext, link: str, most: int) -> bytes:
    # The address is the sender's: redirects are not followed.
    try:
        headers = {"Accept-Encoding": "identity"}
        async with (
            httpx.AsyncClient(verify=context, timeout=FETCH_SECONDS, headers=headers) as client,
            client.stream("GET", link) as answer,
        ):
            if answer.status_code != httpx.codes.OK:
                raise FileNotFetched(f"its server does not give it (status {answer.status_code}).")
            return await read_bounded(answer.aiter_raw(), most)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise FileNotFetched(f"its server cannot be reached ({type(error).__name__}): send it again.") from None
