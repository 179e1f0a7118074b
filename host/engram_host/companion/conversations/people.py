"""Admission to boards through IM networks, by the rules of the board's engram.channels.people.

policy      who may talk in private
pairing     approved people; strangers get a code for the owner to approve
allowlist   approved people and the ids in `allow`; strangers get no answer
open        everybody; needs "*" in `allow`
off         nobody
"""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import cast

from engram.channels import people as board_people
from engram.errors import ArgumentError
from engram.memory import access
from engram.memory.access import Caller
from engram_host.companion.bridge_settings import EVERYBODY, POLICIES, BridgeSettings, PeopleSettings, Policy
from engram_host.companion.bridge_types import ChatPlace, GroupMode, PairingRequest, Person, fitting_name, principal_of
from engram_host.companion.bridges.network import Incoming
from engram_host.companion.conversations.service import BOARD_ROOM
from engram_host.companion.errors import SettingError, StoreUnavailable
from engram_host.companion.store.bridges.people import MOST_WAITING, Known, PeopleTable

_log = logging.getLogger("engram.conversations")

MOST_RATED = 4096

LATE_MINUTES = 5
"""Minutes' worth of late messages per hour and sender that count at their claimed time."""

CODE_PAUSE = 60.0

_MINUTE = 60
_HOUR = 3600
_ROOM_BYTES = access.ROOM_BYTES - len(BOARD_ROOM)
_ID_CHARS = 100


@dataclass(frozen=True)
class AdmissionRules:
    """Admission settings: policies by bridge, allowed ids and rate. Raises SettingError."""

    policy: Policy = "pairing"
    policies: Mapping[str, Policy] = field(default_factory=dict[str, Policy])
    allow: frozenset[str] = frozenset()
    rate: int = 10

    def __post_init__(self) -> None:
        for policy in (self.policy, *self.policies.values()):
            if policy not in POLICIES:
                raise SettingError("people.policy", f"must be one of {', '.join(POLICIES)}.")
            if policy == "open" and EVERYBODY not in self.allow:
                raise SettingError(
                    "people.policy",
                    f'open lets everybody talk: write people.allow = "{EVERYBODY}", too, if that is meant.',
                )
        for ref in self.allow - {EVERYBODY}:
            try:
                board_people.checked_id(ref)
            except ArgumentError as error:
                raise SettingError("people.allow", error.problem) from None

    def policy_of(self, bridge: str) -> Policy:
        return self.policies.get(bridge) or self.policy


def admission_rules(people: PeopleSettings, bridges: Iterable[BridgeSettings]) -> AdmissionRules:
    policies: dict[str, Policy] = {bridge.name: bridge.policy for bridge in bridges if bridge.policy}
    everybody = [EVERYBODY for policy in policies.values() if policy == "open"]
    return AdmissionRules(
        cast(Policy, people.policy), policies, frozenset((*people.allow.split(), *everybody)), people.rate
    )


@dataclass(frozen=True)
class Admission:
    caller: Caller | None
    reply: str = ""
    counted: tuple[tuple[str, int, int], ...] = ()
    request: PairingRequest | None = None


_NOBODY = Admission(None)


class PeopleService:
    """People, groups and pairing codes; raises ArgumentError, NotFound or StoreUnavailable."""

    def __init__(
        self,
        store: PeopleTable,
        rules: AdmissionRules | None = None,
        on_request: Callable[[PairingRequest], None] = lambda request: None,
        now: Callable[[], float] = time.time,
        on_approved: Callable[[], None] = lambda: None,
    ):
        """Store callbacks: `on_request` for each new code, `on_approved` after an approval."""
        self._store = store
        self._rules = rules or AdmissionRules()
        self._on_request = on_request
        self._on_approved = on_approved
        self._now = now
        self._counts: OrderedDict[tuple[str, int, int], int] = OrderedDict()
        self._asking: set[str] = set()
        self._put_off: dict[str, float] = {}

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
        self._on_approved()
        return person

    async def block(self, ref: str) -> Person:
        return await asyncio.to_thread(self._store.block_person, ref, int(self._now()))

    async def remove(self, ref: str) -> Person:
        return await asyncio.to_thread(self._store.remove_person, ref)

    async def rename(self, ref: str, name: str) -> Person:
        return await asyncio.to_thread(self._store.rename_person, ref, name)

    async def link(self, ref: str, other: str) -> Person:
        person = await asyncio.to_thread(self._store.link_person, ref, other, int(self._now()))
        self._on_approved()
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
                return await self._ask(known, ref, bridge, message) if policy == "pairing" else _NOBODY
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
        for key in admission.counted:
            if key in self._counts:
                self._counts[key] -= 1

    async def mark_sent(self, admission: Admission) -> None:
        """Mark a code as delivered, so that it is not sent again."""
        if not admission.request:
            return
        try:
            await asyncio.to_thread(self._store.mark_code_sent, admission.request.code)
        except StoreUnavailable as problem:
            _log.info("a code is sent again with the stranger's next message: %s", problem)

    def end_notice(self, admission: Admission) -> None:
        """End an admission's notice; an undelivered code goes with the next message."""
        if admission.request:
            self._asking.discard(admission.request.ref)

    def put_off_code(self, admission: Admission) -> None:
        if admission.request:
            now = self._now()
            self._put_off = {ref: until for ref, until in self._put_off.items() if now < until}
            self._put_off[admission.request.ref] = now + CODE_PAUSE

    async def may_hear(self, bridge: str, network: str, place: ChatPlace, ref: str) -> bool:
        """True if a delivery to a chat is still allowed; `ref` is its reader, "" for a group."""
        group = f"{network}:{place.chat}" if place.is_group else ""
        known = await asyncio.to_thread(self._store.known_sender, ref, group, int(self._now()))
        if known.person and known.person.is_blocked:
            return False
        if place.is_group:
            return bool(known.mode)
        policy = self._rules.policy_of(bridge)
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
        minute, hour = (ref, _MINUTE, now // _MINUTE), (ref, _HOUR, now // _HOUR)
        counted = [minute]
        if 0 < at < now - _MINUTE and self._counts.get(hour, 0) < LATE_MINUTES * rate:
            self._count(hour)
            counted = [hour, (ref, _MINUTE, at // _MINUTE)]
        count = self._count(counted[-1])
        if count <= rate:
            return Admission(caller, counted=tuple(counted))
        return Admission(None, board_people.TOO_FAST % rate if count == rate + 1 else "")

    def _count(self, key: tuple[str, int, int]) -> int:
        count = self._counts[key] = self._counts.pop(key, 0) + 1
        if len(self._counts) > MOST_RATED:
            self._counts.popitem(last=False)
        return count

    async def _ask(self, known: Known, ref: str, bridge: str, message: Incoming) -> Admission:
        now = self._now()
        is_put_off = now < self._put_off.get(ref, 0.0) <= now + CODE_PAUSE  # unless the clock was set back
        if (
            is_put_off
            or ref in self._asking
            or (known.request.is_sent if known.request else known.codes >= MOST_WAITING)
        ):
            return _NOBODY
        self._asking.add(ref)
        admission = _NOBODY
        try:
            admission = await (self._repeat_code(ref) if known.request else self._give_code(ref, bridge, message))
        finally:
            if admission.request is None:
                self._asking.discard(ref)
        return admission

    async def _give_code(self, ref: str, bridge: str, message: Incoming) -> Admission:
        name, chat = board_people.shown(message.sender_name), message.chat.id if bridge else ""
        code, now = board_people.new_code(), int(self._now())
        request = PairingRequest(code, ref, name, now, bridge=bridge, chat=chat)
        if not await asyncio.to_thread(self._store.add_code, request):
            return _NOBODY
        self._on_request(request)
        return Admission(None, board_people.ASK % (code, code), request=request)

    async def _repeat_code(self, ref: str) -> Admission:
        # Read again: the notice may have been sent meanwhile.
        now = int(self._now())
        request = (await asyncio.to_thread(self._store.known_sender, ref, "", now)).request
        if request is None or request.is_sent:
            return _NOBODY
        minutes = (now - request.at) // _MINUTE
        age = f" The code was made {minutes} min ago." if minutes > 0 else ""
        return Admission(None, board_people.ASK % (request.code, request.code) + age, request=request)


def room_of(network: str, chat: str, thread: str = "") -> str:
    return fitting_name(board_people.room_of(network, chat, thread), network + " ", _ROOM_BYTES)
