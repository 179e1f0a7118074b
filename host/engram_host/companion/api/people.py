"""People who talk through bridges, over HTTP: who may, in which groups, and what one of them sees."""

import asyncio
from datetime import date
from typing import Annotated

from fastapi import FastAPI, Path, Query
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from engram_host.companion.api.copies import DeviceName
from engram_host.companion.api.senses import SenseName, SenseShown, SeriesRange, SeriesShown, show_sense, show_series
from engram_host.companion.auth.sessions import PersonLink, Sessions
from engram_host.companion.bridge_types import GroupMode, PairingRequest, Person
from engram_host.companion.conversations.people import PeopleService
from engram_host.companion.memories.sessions import TurnsByDay
from engram_host.companion.memories.types import MemoryPage
from engram_host.companion.overview.personal import PersonalMemory
from engram_host.companion.search.request import MOST_QUERY, SearchResult

MOST_AT_ONCE = 2

_LONGEST = 200

Who = Annotated[
    str,
    Field(
        min_length=1,
        max_length=_LONGEST,
        description="an id such as telegram:12345, a principal, a name, or a stranger's code",
    ),
]
Name = Annotated[str, Field(max_length=_LONGEST)]


class Somebody(BaseModel):
    """A person, by a code, a name or an id."""

    who: Who


class Approval(Somebody):
    """A person to approve."""

    name: Name = Field("", description="what they are called; it becomes the principal of a new person")


class Renaming(Somebody):
    """A person and the new name for lists."""

    name: Name


class Linking(Somebody):
    """Somebody and another account, or person, that is the same."""

    other: Who


class GroupChange(BaseModel):
    """A group and the rule for boards' answers in it."""

    id: Who = Field(description="network:id")
    mode: str = Field(max_length=20, description="mention, always, or off")


def add_people_routes(app: FastAPI, people: PeopleService, personal: PersonalMemory, sessions: Sessions) -> None:
    _add_lists(app, people)
    _add_changes(app, people)
    _add_personal_routes(app, people, personal)

    @app.post("/v1/people/page")
    async def make_page(somebody: Somebody) -> PersonLink:
        """Make a link to a page of somebody's own, on which they see what is theirs: good once, for a day, in any browser."""
        return await sessions.make_person_link((await people.find_for_page(somebody.who)).principal)


def _add_lists(app: FastAPI, people: PeopleService) -> None:
    @app.get("/v1/people")
    async def list_people() -> list[Person]:
        """All who were approved or blocked; the principal of the owner is `owner`."""
        return await people.list_people()

    @app.get("/v1/people/waiting")
    async def waiting() -> list[PairingRequest]:
        """Strangers with a code that is valid now, for an hour; their names prove nothing."""
        return await people.waiting()

    @app.get("/v1/people/groups")
    async def groups() -> dict[str, GroupMode]:
        """The groups in which boards answer, by network:id: when they are mentioned or replied to, or always."""
        return dict(await people.list_groups())


def _add_changes(app: FastAPI, people: PeopleService) -> None:
    @app.post("/v1/people/groups")
    async def set_group(change: GroupChange) -> dict[str, GroupMode]:
        """Answer in a group on a mention, always, or not at all."""
        await people.set_group(change.id, change.mode)
        return dict(await people.list_groups())

    @app.post("/v1/people/approve")
    async def approve(approval: Approval) -> Person:
        """Let somebody talk to boards."""
        return await people.approve(approval.who, approval.name)

    @app.post("/v1/people/block")
    async def block(somebody: Somebody) -> Person:
        """Answer somebody no more, in private and in groups."""
        return await people.block(somebody.who)

    @app.post("/v1/people/remove")
    async def remove(somebody: Somebody) -> Person:
        """Forget that somebody was approved or blocked. Their memories stay."""
        return await people.remove(somebody.who)

    @app.post("/v1/people/rename")
    async def rename(renaming: Renaming) -> Person:
        """Call somebody by another name in lists."""
        return await people.rename(renaming.who, renaming.name)

    @app.post("/v1/people/link")
    async def link(linking: Linking) -> Person:
        """Take another account, or another person, for the same one."""
        return await people.link(linking.who, linking.other)

    @app.post("/v1/people/owner")
    async def make_owner(somebody: Somebody) -> Person:
        """Let somebody be the owner, with the memory of the boards' consoles."""
        return await people.make_owner(somebody.who)


# --- what one person sees, for the operator; people have a page of their own, see docs/design/page.md


# A name, or an id such as @ann/home:example.org, may have a slash: the routes take it as a path.
PersonPath = Annotated[
    str, Path(max_length=_LONGEST, description="an id such as telegram:12345, a principal, or a name")
]


def _add_personal_routes(app: FastAPI, people: PeopleService, personal: PersonalMemory) -> None:
    base = "/v1/people/{who:path}"
    room = asyncio.Semaphore(MOST_AT_ONCE)

    async def principal_of(who: str) -> str:
        return (await people.find_for_page(who)).principal

    @app.get(base + "/boards")
    async def boards(who: PersonPath) -> list[str]:
        """The boards that a person reaches through bridges."""
        return await personal.boards(await principal_of(who))

    @app.get(base + "/boards/{device}/memories")
    async def memories(
        who: PersonPath,
        device: DeviceName,
        limit: Annotated[int, Query(ge=1, le=1000)] = 50,
        offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    ) -> MemoryPage:
        """The memories of a board that a person sees: their own and those of all, the one that changed last first."""
        principal = await principal_of(who)
        async with room:
            return await personal.memories(principal, device, offset, limit)

    @app.get(base + "/boards/{device}/days")
    async def days(
        who: PersonPath,
        device: DeviceName,
        day: Annotated[date | None, Query(description="in the board's zone; without it, the latest one")] = None,
        offset: Annotated[int, Query(ge=0, le=1_000_000, description="newest turns of the day to pass over")] = 0,
    ) -> TurnsByDay:
        """Turns with a person on a board, by day."""
        return await personal.days(await principal_of(who), device, day, offset)

    @app.get(base + "/boards/{device}/senses")
    async def senses(who: PersonPath, device: DeviceName) -> list[SenseShown]:
        """The senses of a board that a person sees: those that its settings share, for the owner all."""
        return [show_sense(each) for each in await personal.senses(await principal_of(who), device)]

    @app.get(base + "/boards/{device}/senses/{sense:path}/readings")
    async def readings(who: PersonPath, device: DeviceName, sense: SenseName, wanted: SeriesRange) -> SeriesShown:
        """Readings of a sense that a person sees, without events."""
        return show_series(await personal.series(await principal_of(who), device, sense, *wanted))

    @app.get(base + "/search")
    async def search(
        who: PersonPath, query: Annotated[str, Query(min_length=1, max_length=MOST_QUERY, pattern=r"\S")]
    ) -> SearchResult:
        """Hits of a search that a person may see, on the boards within reach."""
        principal = await principal_of(who)
        found = await personal.search(principal, query)
        if found is None:
            raise HTTPException(404, f"{principal} reaches no board: no bridge of their networks leads to one")
        return found
