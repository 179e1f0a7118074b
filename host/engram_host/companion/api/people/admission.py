"""People who talk through bridges, over HTTP: pending, approved and blocked ones, and groups."""

import time
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from engram_host.companion.api.errors import REFUSALS, ErrorResponse, responses
from engram_host.companion.auth.middleware import Role, requires
from engram_host.companion.auth.sessions import PERSON_CODE_SECONDS, Sessions
from engram_host.companion.bridge_types import GroupMode, PairingRequest, Person
from engram_host.companion.conversations.people import PeopleService

_NOBODY = responses(ErrorResponse, {404: "nobody, or no group, is called so"})
_RULES: dict[str, Any] = {"openapi_extra": requires(Role.OPERATOR)}
_CHANGES: dict[str, Any] = _RULES | {"responses": _NOBODY}
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


class PersonShown(BaseModel):
    """Somebody who was approved, or blocked."""

    principal: str = Field(description="what memories know them by; it never changes")
    name: str
    ids: list[str] = Field(description="network:id of each of their accounts")
    owner: bool
    blocked: bool


class RequestShown(BaseModel):
    """A stranger who was given a code, and waits."""

    code: str
    id: str = Field(description="network:id")
    name: str = Field(description="what they call themselves, which proves nothing")
    at: int = Field(description="when, in Unix seconds; the code is valid for an hour")


class GroupShown(BaseModel):
    """A group in which boards answer."""

    id: str = Field(description="network:id")
    mode: GroupMode = Field(description="mention: when a board is mentioned or replied to; always")


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


class PageLink(BaseModel):
    """A link that opens the page of a person once."""

    principal: str
    path: str = Field(description="at the companion's address")
    ends: int = Field(description="when it is good no more, in Unix seconds")


class GroupChange(BaseModel):
    """A group and the rule for boards' answers in it."""

    id: Who = Field(description="network:id")
    mode: str = Field(max_length=20, description="mention, always, or off")


def make_people_router(people: PeopleService, sessions: Sessions) -> APIRouter:
    """Make the routes."""
    router = APIRouter(prefix="/v1/people", responses=REFUSALS)
    _add_lists(router, people)
    _add_changes(router, people)

    @router.post("/page", **_CHANGES)
    async def make_page(somebody: Somebody) -> PageLink:
        """Make a link to a page of somebody's own, on which they see what is theirs: good once, for a day, in any browser."""
        person = await people.find_for_page(somebody.who)
        path = await sessions.make_person_path(person.principal)
        return PageLink(principal=person.principal, path=path, ends=int(time.time()) + PERSON_CODE_SECONDS)

    return router


def _add_lists(router: APIRouter, people: PeopleService) -> None:
    @router.get("", **_RULES)
    async def list_people() -> list[PersonShown]:
        """All who were approved or blocked."""
        return [_shown(person) for person in await people.list_people()]

    @router.get("/waiting", **_RULES)
    async def waiting() -> list[RequestShown]:
        """Strangers with a code that is valid now."""
        return [_request(each) for each in await people.waiting()]

    @router.get("/groups", **_RULES)
    async def groups() -> list[GroupShown]:
        """The groups in which boards answer."""
        return _groups(await people.list_groups())


def _add_changes(router: APIRouter, people: PeopleService) -> None:
    @router.post("/groups", **_CHANGES)
    async def set_group(change: GroupChange) -> list[GroupShown]:
        """Answer in a group on a mention, always, or not at all."""
        await people.set_group(change.id, change.mode)
        return _groups(await people.list_groups())

    @router.post("/approve", **_CHANGES)
    async def approve(approval: Approval) -> PersonShown:
        """Let somebody talk to boards."""
        return _shown(await people.approve(approval.who, approval.name))

    @router.post("/block", **_CHANGES)
    async def block(somebody: Somebody) -> PersonShown:
        """Answer somebody no more, in private and in groups."""
        return _shown(await people.block(somebody.who))

    @router.post("/remove", **_CHANGES)
    async def remove(somebody: Somebody) -> PersonShown:
        """Forget that somebody was approved or blocked. Their memories stay."""
        return _shown(await people.remove(somebody.who))

    @router.post("/rename", **_CHANGES)
    async def rename(renaming: Renaming) -> PersonShown:
        """Call somebody by another name in lists."""
        return _shown(await people.rename(renaming.who, renaming.name))

    @router.post("/link", **_CHANGES)
    async def link(linking: Linking) -> PersonShown:
        """Take another account, or another person, for the same one."""
        return _shown(await people.link(linking.who, linking.other))

    @router.post("/owner", **_CHANGES)
    async def make_owner(somebody: Somebody) -> PersonShown:
        """Let somebody be the owner, with the memory of the boards' consoles."""
        return _shown(await people.make_owner(somebody.who))


def _groups(found: Mapping[str, GroupMode]) -> list[GroupShown]:
    return [GroupShown(id=ref, mode=mode) for ref, mode in found.items()]


def _shown(person: Person) -> PersonShown:
    return PersonShown(
        principal=person.principal,
        name=person.name,
        ids=list(person.ids),
        owner=person.is_owner,
        blocked=person.is_blocked,
    )


def _request(request: PairingRequest) -> RequestShown:
    return RequestShown(code=request.code, id=request.ref, name=request.name, at=request.at)
