"""XMPP: an account on any server, direct chats and rooms.

Threads are ignored: clients create one for each window, which people do not see.
"""

import asyncio
import hashlib
import json
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import cast
from xml.etree import ElementTree

from slixmpp import JID
from slixmpp.exceptions import IqError, IqTimeout, PresenceError
from slixmpp.jid import InvalidJID
from slixmpp.plugins.xep_0045 import XEP_0045
from slixmpp.plugins.xep_0199 import XEP_0199
from slixmpp.stanza import Message, Presence

from engram_host.companion.bridges.connections import host_and_port, run_until_one_ends, tls_context
from engram_host.companion.bridges.errors import BridgeUnavailable, NetworkAway, SendFailed
from engram_host.companion.bridges.network import BridgeHost, Chat, Features, Incoming, utf8_bytes
from engram_host.companion.bridges.xmpp import stanzas
from engram_host.companion.bridges.xmpp.client import Arrived, XmppClient
from engram_host.companion.bridges.xmpp.files import fetcher
from engram_host.companion.supervisor import describe_error

log = logging.getLogger(__name__)

MOST_ROOMS = 40  # rooms of an account: the mark has a place for each

# Text limit; servers may refuse stanzas of more than 10,000 bytes, and escapes take more.
MOST_BYTES = 6000
PING_SECONDS = 120.0
PONG_SECONDS = 30.0

# Overlap of room history before the mark: clocks differ, and some servers are late.
HISTORY_SECONDS = 120
MARK_SECONDS = 30  # limit for the age of a room's mark
MOST_IDS = 1000  # messages known by their senders' ids, for corrections
MOST_NICKNAMES = 3

# Fixed resources, so that a new session replaces a broken one at once.
RESOURCE, CHECKING = "engram", "engram-check"


def connect(values: Mapping[str, str]) -> "XmppNetwork":
    """Create an account's connection, or raise BridgeUnavailable for an invalid setting."""
    address = _address(values["address"])
    rooms = [_address(room) for room in values["rooms"].split()]
    if len(rooms) > MOST_ROOMS:
        raise BridgeUnavailable(f"an account may be in at most {MOST_ROOMS} rooms.")
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
    """Connection of one account."""

    features = Features(MOST_BYTES, utf8_bytes, edit_seconds=2.0, command_signs="/!")

    def __init__(self, address: str, rooms: Sequence[str], values: Mapping[str, str]):
        self._address = address
        self._rooms_to_join = rooms
        self._nickname = values["nickname"]
        self._password = values["password"]
        self._server = host_and_port(values["server"], 5222) if values["server"] else None
        self._context = tls_context(values["authority"])
        self._fetch_of = fetcher(self._context)
        self._client: XmppClient | None = None
        self._rooms: dict[str, stanzas.Room] = {}
        # Message ids by chat, sender and the sender's own id.
        self._ids: OrderedDict[tuple[str, str, str], str] = OrderedDict()

    async def run(self, host: BridgeHost) -> None:
        client = self._new_client(RESOURCE)
        marks = RoomMarks(host)
        self._rooms.clear()
        client.add_event_handler("groupchat_presence", lambda presence: self._note_presence(client, presence))
        client.add_event_handler("groupchat_message", lambda stanza: self._note_own(client, stanza))
        try:
            await marks.load()
            self._client = client
            await run_until_one_ends(self._stay(client, host, marks), self._pass_on(client, host, marks))
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

    async def _stay(self, client: XmppClient, host: BridgeHost, marks: "RoomMarks") -> None:
        await client.sign_in()
        try:
            await client.get_roster(timeout=PONG_SECONDS)
        except (IqError, IqTimeout):
            raise NetworkAway(f"{client.boundjid.host} does not give the list of contacts.") from None
        client.send_presence()
        for room in self._rooms_to_join:
            await self._join(client, room, marks)
        host.connected(self._address)
        while True:
            await run_until_one_ends(client.wait_for_cut(), self._watch(client))
            reason = await client.wait_for_cut()
            if not client.can_resume:
                raise NetworkAway(f"the connection to {client.boundjid.host} has ended: {reason}")
            await client.resume()
            host.connected(self._address)  # for what was to be sent in between

    @staticmethod
    async def _watch(client: XmppClient) -> None:
        while True:
            await asyncio.sleep(PING_SECONDS)
            try:
                await cast(XEP_0199, client.plugin["xep_0199"]).ping(timeout=PONG_SECONDS)
            except IqTimeout:
                client.abort()
                return

    async def _join(self, client: XmppClient, room: str, marks: "RoomMarks") -> None:
        since = marks.since(room)
        nickname = self._nickname
        for _ in range(MOST_NICKNAMES):
            self._rooms[room] = stanzas.Room(nickname)
            try:
                await cast(XEP_0045, client.plugin["xep_0045"]).join_muc_wait(
                    JID(room), nickname, since=since, maxstanzas=None if since else 0, timeout=PONG_SECONDS
                )
            except (PresenceError, TimeoutError) as error:
                del self._rooms[room]
                condition = error.condition if isinstance(error, PresenceError) else "no answer"
                if condition != "conflict":
                    log.warning("The room %s cannot be joined: %s.", room, condition)
                    return
                nickname += "_"
            else:
                if since is None:
                    await marks.begin(room)
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

    async def _pass_on(self, client: XmppClient, host: BridgeHost, marks: "RoomMarks") -> None:
        while True:
            arrived = await client.next_message()
            if arrived.stanza["type"] == "groupchat":
                await self._take_from_room(arrived, host, marks)
            else:
                await self._take_private(client, arrived.stanza, host)
            client.kept(arrived)

    async def _take_from_room(self, arrived: Arrived, host: BridgeHost, marks: "RoomMarks") -> None:
        if arrived.room is None:
            return
        xml, room_then = arrived.stanza.xml, arrived.room
        message = _read(lambda: stanzas.room_message(xml, room_then, self._fetch_of))
        if message is not None:
            await host.receive(self._with_ids(message, xml))
        room = arrived.stanza["from"].bare
        await marks.note(room, stanzas.stamp_of(xml, room))

    async def _take_private(self, client: XmppClient, stanza: Message, host: BridgeHost) -> None:
        message = _read(lambda: stanzas.private_message(stanza.xml, self._address, self._fetch_of))
        if message is None:
            return
        await host.receive(self._with_ids(message, stanza.xml))
        if stanzas.wants_receipt(stanza.xml):
            receipt = client.make_message(stanza["from"], mtype="chat")
            receipt.xml.append(stanzas.element(stanzas.RECEIPTS, "received", {"id": stanza["id"]}))
            receipt.xml.append(stanzas.element(stanzas.NO_STORE, "store"))
            receipt.send()

    def _with_ids(self, message: Incoming, xml: ElementTree.Element) -> Incoming:
        own, replaced = (
            (message.chat.id, message.sender, id_) for id_ in (xml.get("id", ""), stanzas.replaced_id(xml))
        )
        if message.edits:
            message = replace(message, edits=self._ids.get(replaced, message.edits))
        self._ids[own] = message.edits or message.id
        if len(self._ids) > MOST_IDS:
            self._ids.popitem(last=False)
        return message


def _read(read: Callable[[], Incoming | None]) -> Incoming | None:
    try:
        return read()
    # Guards against malformed stanzas: the server repeats an unconfirmed one after each sign-in,
    # and the bridge would never get beyond it.
    except Exception as error:  # noqa: BLE001
        log.error("XMPP: the bridge passes over a stanza that it cannot read: %s", describe_error(error))
        return None


_MOST_SECONDS = 1 << 36  # later times are invalid: datetime ends in 9999


class RoomMarks:
    """Times up to which each room's messages were received, saved as the bridge's mark."""

    def __init__(self, host: BridgeHost):
        self._host = host
        self._seconds: dict[str, int] = {}

    async def load(self) -> None:
        mark = await self._host.load_mark()
        self._seconds = _seconds_in(mark)

    def since(self, room: str) -> datetime | None:
        """Return the start of the history to request; None for a new room, which needs none."""
        seconds = self._seconds.get(_short(room))
        return None if seconds is None else datetime.fromtimestamp(seconds - HISTORY_SECONDS, UTC)

    async def begin(self, room: str) -> None:
        await self.note(room, int(time.time()) + HISTORY_SECONDS)

    async def note(self, room: str, seconds: int) -> None:
        """Move a room's mark forward to a time (0: now), unless the saved one is nearly as late."""
        seconds = seconds or int(time.time())
        if seconds - self._seconds.get(_short(room), 0) >= MARK_SECONDS:
            former = {key: kept for key, kept in self._seconds.items() if key != _short(room)}
            # Left rooms are dropped first.
            kept = list(former.items())[-(MOST_ROOMS - 1) :]
            self._seconds = {**dict(kept), _short(room): seconds}
            await self._host.save_mark(json.dumps(self._seconds, separators=(",", ":")))


def _seconds_in(mark: str) -> dict[str, int]:
    try:
        kept = json.loads(mark or "{}")
    except ValueError:
        return {}
    rooms = cast(dict[str, object], kept).items() if isinstance(kept, dict) else ()
    return {room: seconds for room, seconds in rooms if type(seconds) is int and 0 < seconds < _MOST_SECONDS}


def _short(room: str) -> str:
    return hashlib.sha256(room.encode()).hexdigest()[:16]
