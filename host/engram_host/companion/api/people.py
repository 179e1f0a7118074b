"""People who talk through bridges, over HTTP: who may, and in which groups."""

from typing import Annotated

from fastapi import FastAPI
from pydantic import BaseModel, Field

from engram_host.companion.conversations.people import PeopleService
from engram_host.companion.store.bridges.types import GroupMode, PairingRequest, Person

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


def add_people_routes(app: FastAPI, people: PeopleService) -> None:
    _add_changes(app, people)

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
