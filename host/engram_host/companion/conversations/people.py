"""Admission to boards through IM networks, by the rules of the board's engram.channels.people.

policy      who may talk in private
pairing     approved people; strangers get a code for the owner to approve
allowlist   approved people and the ids in `allow`; strangers get no answer
open        everybody; needs "*" in `allow`
off         nobody
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import cast

from engram.channels import people as board_people
from engram.memory import access
from engram.memory.access import Caller
from engram_host.companion.bridge_settings import BridgeSettings, PeopleSettings, Policy
from engram_host.companion.bridges.network import Incoming
from engram_host.companion.conversations.service import BOARD_ROOM
from engram_host.companion.store.bridges.people import (
    CODE_IDS,
    MOST_WAITING,
    Known,
    PeopleTable,
    fitting_name,
    principal_of,
)
from engram_host.companion.store.bridges.types import Delivery, GroupMode, PairingRequest, Person

MOST_RATED = 4096

LATE_MINUTES = 5
"""Late messages per hour and sender, in minutes' worth: an outage of the network is no flood."""

_MINUTE = 60
_HOUR = 3600
_ROOM_BYTES = access.ROOM_BYTES - len(BOARD_ROOM)
_ID_CHARS = 100


@dataclass(frozen=True)
class AdmissionRules:
    """Admission settings, as checked when they were read: policies by bridge, allowed ids and rate."""

    policy: Policy = "pairing"
    policies: Mapping[str, Policy] = field(default_factory=dict[str, Policy])
    allow: frozenset[str] = frozenset()
    rate: int = 10

    def policy_of(self, bridge: str) -> Policy:
        return self.policies.get(bridge) or self.policy


def admission_rules(people: PeopleSettings, bridges: Iterable[BridgeSettings]) -> AdmissionRules:
    policies: dict[str, Policy] = {bridge.name: bridge.policy for bridge in bridges if bridge.policy}
    return AdmissionRules(cast(Policy, people.policy), policies, frozenset(people.allow.split()), people.rate)


@dataclass(frozen=True)
class Admission:
    caller: Caller | None
    reply: str = ""
    counted: tuple[str, int, int] | None = None


_NOBODY = Admission(None)


class PeopleService:
    """People, groups and pairing codes; raises ArgumentError, NotFound or StoreUnavailable."""

    def __init__(
        self,
        store: PeopleTable,
        rules: AdmissionRules | None = None,
        on_request: Callable[[PairingRequest], None] = lambda request: None,
        now: Callable[[], float] = time.time,
        on_owed: Callable[[], None] = lambda: None,
    ):
        """`on_request` is called for each new code, `on_owed` once a person is owed a code or a welcome."""
        self._store = store
        self._rules = rules or AdmissionRules()
        self._on_request = on_request
        self._on_owed = on_owed
        self._now = now
        self._counts: dict[tuple[str, int, int], int] = {}

    def set_rules(self, rules: AdmissionRules) -> None:
        self._rules = rules

    # --- administration

    async def list_people(self) -> list[Person]:
        return await asyncio.to_thread(self._store.people)

    async def list_groups(self) -> dict[str, GroupMode]:
        return await asyncio.to_thread(self._store.groups)

    async def waiting(self) -> list[PairingRequest]:
        return await asyncio.to_thread(self._store.pairing_requests, int(self._now()))

    async def find(self, ref: str) -> Person:
        return await asyncio.to_thread(self._store.person, ref)

    async def approve(self, ref: str, name: str = "") -> Person:
        person = await asyncio.to_thread(self._store.approve_person, ref, name, int(self._now()))
        self._on_owed()
        return person

    async def block(self, ref: str) -> Person:
        return await asyncio.to_thread(self._store.block_person, ref, int(self._now()))

    async def remove(self, ref: str) -> Person:
        return await asyncio.to_thread(self._store.remove_person, ref)

    async def rename(self, ref: str, name: str) -> Person:
        return await asyncio.to_thread(self._store.rename_person, ref, name)

    async def link(self, ref: str, other: str) -> Person:
        person = await asyncio.to_thread(self._store.link_person, ref, other, int(self._now()))
        self._on_owed()
        return person

    async def make_owner(self, ref: str) -> Person:
        return await asyncio.to_thread(self._store.make_owner, ref)

    async def has_owner(self) -> bool:
        return any(person.is_owner for person in await self.list_people())

    async def set_group(self, ref: str, mode: str) -> None:
        await asyncio.to_thread(self._store.set_group, ref, mode)

    # --- for bridges, and for the relays of programs

    async def admit(self, bridge: str, network: str, message: Incoming) -> Admission:
        chat = message.chat
        ref = f"{network}:{message.sender}"
        group = f"{network}:{chat.id}" if chat.is_group else ""
        if not message.sender or len(ref) > _ID_CHARS:
            return _NOBODY
        known = await asyncio.to_thread(self._store.known_sender, ref, group, int(self._now()))
        person = known.person
        if person and person.is_blocked:
            return _NOBODY
        if chat.is_group:
            if known.mode != "always" and not (known.mode == "mention" and message.is_mentioned):
                return _NOBODY
        else:
            policy = self._rules.policy_of(bridge)
            if policy == "off":
                return _NOBODY
            if not self._is_let_in(person, ref, policy):
                return await self._give_code(known, ref, bridge, message) if policy == "pairing" else _NOBODY
        principal = person.principal if person else principal_of(ref)
        return self._rated(
            ref, message.at, Caller(principal, room_of(network, chat.id, chat.thread), chat.is_group, "")
        )

    async def is_owner(self, ref: str) -> bool:
        person = (await asyncio.to_thread(self._store.known_sender, ref, "", int(self._now()))).person
        return person is not None and person.is_owner

    async def is_blocked(self, principal: str) -> bool:
        return await asyncio.to_thread(self._store.is_blocked, principal)

    def take_back(self, admission: Admission) -> None:
        """Uncount an admitted message that was not stored."""
        if admission.counted and admission.counted in self._counts:
            self._counts[admission.counted] -= 1

    async def may_hear(self, bridge: str, network: str, delivery: Delivery) -> bool:
        """True if a delivery to a chat is still allowed."""
        place, ref = delivery.place, delivery.ref
        group = f"{network}:{place.chat}" if place.is_group else ""
        known = await asyncio.to_thread(self._store.known_sender, ref, group, int(self._now()))
        if known.person and known.person.is_blocked:
            return False
        if place.is_group:
            return bool(known.mode)
        policy = self._rules.policy_of(bridge)
        if policy == "pairing" and known.request and not delivery.device and delivery.mid.startswith(CODE_IDS):
            return True
        return policy != "off" and self._is_let_in(known.person, ref, policy)

    async def silenced_rooms(self) -> set[str]:
        """Return rooms of blocked people and closed groups, which get no pushes."""
        refs = await asyncio.to_thread(self._store.silenced_refs)
        return {room_of(network, chat) for network, _, chat in (ref.partition(":") for ref in refs)}

    def _is_let_in(self, person: Person | None, ref: str, policy: Policy) -> bool:
        return person is not None or policy == "open" or ref in self._rules.allow

    def _rated(self, ref: str, at: int, caller: Caller) -> Admission:
        """Count a message; exceeding the rate gives one notice, then silence."""
        now, rate = int(self._now()), self._rules.rate
        is_late = 0 < at < now - _MINUTE
        key = (ref, _HOUR, now // _HOUR) if is_late else (ref, _MINUTE, now // _MINUTE)
        most = LATE_MINUTES * rate if is_late else rate
        count = self._counts[key] = self._counts.pop(key, 0) + 1
        if len(self._counts) > MOST_RATED:
            del self._counts[next(iter(self._counts))]
        if count <= most:
            return Admission(caller, counted=key)
        return Admission(None, board_people.TOO_FAST % rate if count == most + 1 else "")

    async def _give_code(self, known: Known, ref: str, bridge: str, message: Incoming) -> Admission:
        if known.request or known.codes >= MOST_WAITING:
            return _NOBODY
        name, chat = board_people.shown(message.sender_name), message.chat.id if bridge else ""
        code, now = board_people.new_code(), int(self._now())
        request = PairingRequest(code, ref, name, now, bridge=bridge, chat=chat)
        if not await asyncio.to_thread(self._store.add_code, request):
            return _NOBODY
        self._on_request(request)
        self._on_owed()
        return Admission(None, "" if bridge else board_people.ASK % (code, code))


def room_of(network: str, chat: str, thread: str = "") -> str:
    return fitting_name(board_people.room_of(network, chat, thread), network + " ", _ROOM_BYTES)
