"""Bridge commands answered by the companion itself, not by a board."""

import asyncio
import time
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from engram.channels.console.commands import commands as board_commands
from engram.channels.console.commands.people import pair_command, people_command
from engram.errors import EngramError
from engram.memory.access import OWNER, Caller
from engram_host.companion.bridge_types import ChatPlace, Delivery, PairingRequest, Person
from engram_host.companion.bridges.network import Incoming, MenuCommand
from engram_host.companion.conversations.routing import GREETING, Spoken, refusal
from engram_host.companion.conversations.service import ConversationService
from engram_host.companion.errors import CompanionError, StoreUnavailable
from engram_host.companion.store.bridges.deliveries import DeliveryTable
from engram_host.companion.store.bridges.people import PeopleTable
from engram_host.wording import counted, listed

OWN = {
    "board": ("[NAME]", "let a board answer in this chat; alone: say which one does"),
    "boards": ("", "list the boards"),
    "new": ("[TITLE]", "begin a new session"),
    "cancel": ("", "cancel the answer that is being made"),
}

HELP = "\n".join(
    [
        "In this chat, too:",
        *(f"/{name}{' ' + usage if usage else ''}\n    {purpose}" for name, (usage, purpose) in OWN.items()),
        "@NAME before a message asks the board of that name.",
    ]
)

_MENU_CHARS = 256


def menu() -> list[MenuCommand]:
    own = [MenuCommand(name, purpose) for name, (_, purpose) in OWN.items()]
    return own + [MenuCommand(name, purpose[:_MENU_CHARS]) for name, _, purpose in board_commands()]


class BridgeCommands:
    def __init__(
        self,
        *,
        people: PeopleTable,
        deliveries: DeliveryTable,
        conversations: ConversationService,
        now: Callable[[], float] = time.time,
    ):
        self._people = people
        self._deliveries = deliveries
        self._conversations = conversations
        self._now = now

    async def answer(
        self, message: Incoming, spoken: Spoken, caller: Caller, owed: Delivery, boards: Sequence[str]
    ) -> str:
        if not spoken.text:
            return refusal(message) or GREETING
        match spoken.command:
            case "start":
                return GREETING
            case "pair" | "people" as command:
                return await self.people(command, caller, spoken.rest)
            case "board":
                return await self.board(owed.place, owed.ref, caller.room, spoken.rest, boards)
            case "boards":
                return self.boards(boards)
            case "cancel":
                return await self.cancel(owed.place, caller)
            case _:
                return ""

    async def people(self, command: str, caller: Caller, rest: str) -> str:
        run = pair_command if command == "pair" else people_command
        clock = _Clock(self._now)

        def answer() -> str:
            people = _BoardPeople(self._people, clock)
            inbox = SimpleNamespace(
                deliveries=SimpleNamespace(push=lambda *_: None)
            )  # approved people get their message below
            board = SimpleNamespace(clock=clock, find_people=lambda: people, inbox=inbox)
            return "\n".join(run(board, caller, rest))

        try:
            said = await asyncio.to_thread(answer)
            self._conversations.wake_pushes()  # newly approved people are owed a sentence
            return said
        except EngramError as problem:
            return str(problem)

    async def board(self, place: ChatPlace, ref: str, room: str, rest: str, boards: Sequence[str]) -> str:
        name = rest.removeprefix("@").lower()
        if not name:
            chosen = await asyncio.to_thread(self._deliveries.chosen_board, place)
            return (
                f"{chosen} answers in this chat."
                if chosen
                else f"No board is chosen for this chat. {self.boards(boards)}"
            )
        if name not in boards:
            return f"There is no board {name[:32]} here. {self.boards(boards)}"
        await asyncio.to_thread(self._deliveries.choose_board, place, ref, room, name, int(self._now()))
        return f"{name} answers in this chat from now on."

    def boards(self, boards: Sequence[str]) -> str:
        return f"The boards are {listed(list(boards))}." if boards else "No board has connected to this companion yet."

    async def cancel(self, place: ChatPlace, caller: Caller) -> str:
        found = await asyncio.to_thread(self._deliveries.open_answers, place)
        own = [(device, mid) for device, mid, who in found if caller.principal in (who, OWNER.principal)]
        count = 0
        for device, mid in own:
            try:
                await self._conversations.cancel(device, mid)
            except StoreUnavailable:
                raise
            except CompanionError:
                continue  # answered and removed meanwhile
            count += 1
        return (
            f"{counted(count, 'answer is', 'answers are')} cancelled."
            if count
            else "No answer of yours is being made here."
        )


class _Clock:
    def __init__(self, now: Callable[[], float]):
        self._now = now

    def now(self) -> int:
        return int(self._now())


class _BoardPeople:
    def __init__(self, table: PeopleTable, clock: _Clock):
        self._people = table
        self._clock = clock

    @property
    def people(self) -> list[dict[str, Any]]:
        return [_as_board(person) for person in self._people.people()]

    @property
    def groups(self) -> dict[str, str]:
        return dict(self._people.groups())

    def waiting(self) -> list[tuple[str, str, str, int]]:
        return [_stranger(request) for request in self._people.pairing_requests(self._clock.now())]

    def stranger(self, ref: str) -> tuple[str, str, str, int] | None:
        return next((each for each in self.waiting() if ref.upper() == each[0] or ref == each[1]), None)

    def has_owner(self) -> bool:
        return any(person.is_owner for person in self._people.people())

    def approve(self, ref: str, name: str) -> dict[str, Any]:
        return _as_board(self._people.approve_person(ref, name, self._clock.now()))

    def block(self, ref: str) -> dict[str, Any]:
        return _as_board(self._people.block_person(ref, self._clock.now()))

    def remove(self, ref: str) -> dict[str, Any]:
        return _as_board(self._people.remove_person(ref))

    def link(self, ref: str, other: str) -> dict[str, Any]:
        if ref == OWNER.principal and not self.has_owner():
            return _as_board(self._people.make_owner(other))
        return _as_board(self._people.link_person(ref, other, self._clock.now()))

    def set_group(self, ref: str, mode: str) -> None:
        self._people.set_group(ref, mode)


def _as_board(person: Person) -> dict[str, Any]:
    return {"who": person.principal, "ids": list(person.ids), "blocked": person.is_blocked}


def _stranger(request: PairingRequest) -> tuple[str, str, str, int]:
    return request.code, request.ref, request.name, request.at
