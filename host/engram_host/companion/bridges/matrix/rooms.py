"""Rooms of a bridge's account: joining, incoming messages, and messages missed while away.

The account joins where it is invited, up to MOST_ROOMS.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from nio import (
    JoinedMembersResponse,
    JoinedRoomsResponse,
    JoinError,
    RoomGetEventResponse,
    RoomGetStateEventResponse,
    RoomInfo,
    RoomMessagesResponse,
    SyncResponse,
)

from engram.text import part
from engram_host.companion.bridges.errors import NetworkAway
from engram_host.companion.bridges.matrix import events as matrix_events
from engram_host.companion.bridges.matrix.client import MatrixClient, ask, refusal_in
from engram_host.companion.bridges.matrix.events import Account, Event
from engram_host.companion.bridges.network import Attachment, Chat, Incoming
from engram_host.companion.bridges.texts import shorten
from engram_host.companion.types import BoundedDict

MOST_ROOMS = 200
MOST_MISSED = 500  # missed messages read per room; older ones stay unanswered
_PAGE = 100
_MOST_PAGES = 50  # pages requested per room, empty ones included
_NOT_OPEN = ("M_FORBIDDEN", "M_NOT_FOUND")
# Join rules that need a member's consent; others, such as "restricted", do not.
_CLOSED = ("invite", "private", "knock")
_MOST_SAID = 500  # messages known for replies to them

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Said:
    sender: str = ""
    words: str = ""


class MatrixRooms:
    def __init__(
        self,
        client: MatrixClient,
        account: Account,
        receive: Callable[[Incoming], Awaitable[None]],
        became_group: Callable[[Chat], Awaitable[None]],
    ):
        self._client = client
        self._account = account
        self._receive = receive
        self._became_group = became_group
        self._joined: set[str] = set()
        self._groups: dict[str, bool] = {}
        self._said: BoundedDict[str, _Said] = BoundedDict(_MOST_SAID)

    async def load(self) -> None:
        response = await ask(self._client.joined_rooms())
        if isinstance(response, JoinedRoomsResponse):
            self._joined = set(response.rooms)

    def remember_own(self, event: str) -> None:
        self._said[event] = _Said(self._account.id)

    async def note_members(self, response: SyncResponse, since: str) -> None:
        """Note who has joined, before any further send: a private chat becomes a group for good."""
        for room, info in response.rooms.join.items():
            members = _members_in(info)
            if members or info.timeline.limited:
                self._groups.pop(room, None)
            has_come = any(matrix_events.lets_in_another(event, self._account.id) for event in members)
            if since and (has_come or (info.timeline.limited and await self._is_group(room))):
                await self._became_group(Chat(room, is_group=True))

    async def take(self, response: SyncResponse, since: str) -> None:
        """Pass on the messages since a token ("" at first: none), then accept invitations."""
        for room in response.rooms.leave:
            self._joined.discard(room)
            self._groups.pop(room, None)
        for room, info in response.rooms.join.items():
            self._joined.add(room)
            if since:
                await self._take_room(room, info, since)
        for room in response.rooms.invite:
            await self._accept_invitation(room)

    async def _take_room(self, room: str, info: RoomInfo, since: str) -> None:
        events = [event.source for event in info.timeline.events]
        shown_names = _names([*(event.source for event in info.state), *_members_in(info)])
        for event in await self._since_begun(room, events, info, since):
            await self._take_event(room, event, shown_names)

    async def _since_begun(self, room: str, events: list[Event], info: RoomInfo, since: str) -> Sequence[Event]:
        for place in range(len(events) - 1, -1, -1):
            if matrix_events.begins_membership(events[place], self._account.id):
                return events[place + 1 :]
        if not info.timeline.limited or not info.timeline.prev_batch:
            return events
        # Messages between invitation and joining may be older than the token; they count.
        has_just_joined = any(matrix_events.joins(event, self._account.id) for event in events)
        return [*await self._missed(room, info.timeline.prev_batch, "" if has_just_joined else since), *events]

    async def _missed(self, room: str, newest: str, oldest: str) -> list[Event]:
        """Load the newest MOST_MISSED events between two tokens, oldest first; may raise NetworkAway."""
        found: list[Event] = []
        token: str | None = newest
        for _ in range(_MOST_PAGES):
            if not token:
                return found[::-1]
            page = await ask(
                self._client.room_messages(
                    room, token, oldest or None, limit=_PAGE, message_filter={"types": [*matrix_events.TYPES]}
                )
            )
            if not isinstance(page, RoomMessagesResponse):
                refusal = refusal_in(page)
                if refusal is None or refusal.code not in _NOT_OPEN:
                    # The sync token stays, so that all is loaded again.
                    reason = f"{refusal.code}, {refusal.reason}" if refusal else "no answer that can be read"
                    raise NetworkAway(f"the homeserver does not give what a room missed: {reason}.")
                _log.warning("Matrix: the homeserver does not let the account read what was said in a room meanwhile")
                return found[::-1]
            for event in page.chunk:
                if matrix_events.begins_membership(event.source, self._account.id):
                    return found[::-1]
                found.append(event.source)
            if len(found) >= MOST_MISSED:
                break
            # An empty page may have successors: the account may not see its events, or does not read them.
            token = page.end if page.end != token else None
        _log.warning("Matrix: a room has more than %d missed messages; older ones are passed over", MOST_MISSED)
        return found[::-1]

    async def _take_event(self, room: str, event: Event, shown_names: dict[str, str]) -> None:
        sender, id_ = part(event, "sender", str), part(event, "event_id", str)
        event, edits = matrix_events.as_edited(event)
        if matrix_events.is_spoken(event):
            said = _Said(sender, shorten(matrix_events.shown_in(event)))
            if not edits or self._said.get(edits, said).sender == sender:  # servers let anybody send an edit
                self._said[edits or id_] = said
        if sender == self._account.id:
            return
        if event.get("type") == matrix_events.ENCRYPTED and sender and id_ and not await self._is_group(room):
            await self._receive(Incoming(id_, Chat(room), sender, attachments=(Attachment("encrypted"),)))
        elif sender and id_ and matrix_events.is_spoken(event):
            is_group = await self._is_group(room)
            answered = await self._look_up(room, matrix_events.replied_to(event))
            forwarded = matrix_events.forwarded_from(event)
            is_named = not forwarded and matrix_events.names(event, self._account)
            at = event.get("origin_server_ts")
            await self._receive(
                Incoming(
                    id=id_,
                    chat=Chat(room, matrix_events.thread_of(event), is_group),
                    sender=sender,
                    sender_name=shown_names.get(sender, ""),
                    text=matrix_events.words_of(event) if forwarded else matrix_events.words_to(event, self._account),
                    is_mentioned=not is_group or is_named or answered.sender == self._account.id,
                    attachments=matrix_events.attachments_of(event, self._client.fetch_of),
                    at=at // 1000 if type(at) is int and at > 0 else 0,
                    forwarded=forwarded,
                    quoted=matrix_events.quoted_in(event) or answered.words,
                    edits=edits,
                )
            )

    async def _look_up(self, room: str, original: str) -> "_Said":
        if not original:
            return _Said()
        if original in self._said:
            return self._said[original]
        said = _Said()
        try:
            response = await ask(self._client.room_get_event(room, original))
            if isinstance(response, RoomGetEventResponse):
                said = _Said(response.event.sender, shorten(matrix_events.shown_in(response.event.source)))
        except NetworkAway as problem:  # a message must not wait for the one it replies to
            _log.info("Matrix: an event that a message replies to is not known: %s", problem)
        self._said[original] = said
        return said

    async def _is_group(self, room: str) -> bool:
        known = self._groups.get(room)
        if known is None:
            members = await self._members(room)
            known = members is None or len(members) > 2 or await self._is_public(room)
            self._groups[room] = known
        return known

    async def _members(self, room: str) -> list[str] | None:
        response = await ask(self._client.joined_members(room))
        if isinstance(response, JoinedMembersResponse):
            return [member.user_id for member in response.members]
        return None

    async def _is_public(self, room: str) -> bool:
        response = await ask(self._client.room_get_state_event(room, "m.room.join_rules"))
        return isinstance(response, RoomGetStateEventResponse) and response.content.get("join_rule") not in _CLOSED

    async def _accept_invitation(self, room: str) -> None:
        if len(self._joined) >= MOST_ROOMS:
            _log.warning("Matrix: an invitation is declined, since the account is in %d rooms", MOST_ROOMS)
            await ask(self._client.room_leave(room))
        elif isinstance(await ask(self._client.join(room)), JoinError):
            _log.info("Matrix: an invitation does not hold any more")
        else:
            self._joined.add(room)


def _members_in(info: RoomInfo) -> list[Event]:
    events = [event.source for event in info.timeline.events]
    return [event for event in events if event.get("type") == matrix_events.MEMBER]


def _names(events: Sequence[Any]) -> dict[str, str]:
    shown = {}
    for event in events:
        if event.get("type") == matrix_events.MEMBER:
            name = part(matrix_events.content_of(event), "displayname", str)
            shown[part(event, "state_key", str)] = name[:255]
    return shown
