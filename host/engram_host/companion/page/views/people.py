"""People: pending strangers, approved and blocked people, their accounts, and groups."""

from collections.abc import Awaitable
from typing import Annotated
from urllib.parse import quote

from fastapi import Form, Query, Request, Response

from engram_host.companion.conversations.people import PeopleService
from engram_host.companion.page.formatting import count_pages
from engram_host.companion.page.page import Page, Views, redirect
from engram_host.companion.store.bridges.types import Person

AT_ONCE = 50

_LONGEST = 200

Who = Annotated[str, Form(min_length=1, max_length=_LONGEST)]
Name = Annotated[str, Form(max_length=_LONGEST)]


def add_people_views(views: Views, page: Page, people: PeopleService) -> None:
    _add_changes(views, people)

    @views.get("/people")
    async def list_people(
        request: Request,
        find: Annotated[str, Query(max_length=_LONGEST)] = "",
        group: Annotated[str, Query(max_length=_LONGEST)] = "",
        at: Annotated[int, Query(ge=1, le=1000)] = 1,
    ) -> Response:
        words = find.strip().casefold()
        found = [each for each in await people.list_people() if _fits(each, words)]
        groups = [each for each in (await people.list_groups()).items() if words in each[0].casefold()]
        return page.render(
            request,
            "people.html",
            waiting=await people.waiting(),
            total=len(found),
            people=found[(at - 1) * AT_ONCE : at * AT_ONCE],
            groups_total=len(groups),
            groups=groups[:AT_ONCE],
            has_owner=await people.has_owner(),
            find=find.strip(),
            group=group,
            at=at,
            pages=count_pages(len(found), AT_ONCE),
        )

    @views.get("/people/person")
    async def person(request: Request, who: Annotated[str, Query(min_length=1, max_length=_LONGEST)]) -> Response:
        return page.render(request, "person.html", person=await people.find(who))


def _fits(person: Person, words: str) -> bool:
    return any(words in each.casefold() for each in (person.principal, person.name, *person.ids))


async def _changed(change: Awaitable[Person]) -> Response:
    return redirect(f"/people/person?who={quote((await change).principal, safe='')}")


def _add_changes(views: Views, people: PeopleService) -> None:
    @views.form("/people/block")
    async def block(who: Who) -> Response:
        return await _changed(people.block(who))

    @views.form("/people/owner")
    async def make_owner(who: Who) -> Response:
        return await _changed(people.make_owner(who))

    @views.form("/people/approve")
    async def approve(who: Who, name: Name = "") -> Response:
        return await _changed(people.approve(who, name.strip()))

    @views.form("/people/rename")
    async def rename(who: Who, name: Name = "") -> Response:
        return await _changed(people.rename(who, name.strip()))

    @views.form("/people/link")
    async def link(who: Who, other: Who) -> Response:
        return await _changed(people.link(who, other.strip()))

    @views.form("/people/remove")
    async def remove(who: Who) -> Response:
        await people.remove(who)
        return redirect("/people")

    @views.form("/people/groups")
    async def set_group(id: Who, mode: Annotated[str, Form(max_length=20)]) -> Response:
        await people.set_group(id.strip(), mode)
        return redirect("/people#groups")
