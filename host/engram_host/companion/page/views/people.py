"""People: pending strangers, approved and blocked people, their accounts, and groups."""

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from engram_host.companion.bridge_types import GroupMode, Person
from engram_host.companion.conversations.people import PeopleService
from engram_host.companion.page.fitting import count_pages
from engram_host.companion.page.page import Page, view

AT_ONCE = 50

_SEE_OTHER = 303
_LONGEST = 200
_MOST_PAGES = 1000

Who = Annotated[str, Form(min_length=1, max_length=_LONGEST)]
Name = Annotated[str, Form(max_length=_LONGEST)]


@dataclass(frozen=True)
class FoundPeople:
    """Some matching people and groups, with their total numbers."""

    total: int
    people: list[Person]
    groups_total: int
    groups: list[tuple[str, GroupMode]]


class PeopleView:
    """Views and forms of people."""

    def __init__(self, page: Page, people: PeopleService):
        self.page = page
        self.people = people

    async def list(self, request: Request, find: str, group: str, at: int) -> Response:
        found = await self._find(find, (at - 1) * AT_ONCE)
        return self.page.render(
            request,
            "people.html",
            page_key="people",
            waiting=await self.people.waiting(),
            found=found,
            has_owner=await self.people.has_owner(),
            find=find,
            group=group,
            at=at,
            pages=count_pages(found.total, AT_ONCE),
        )

    async def person(self, request: Request, who: str) -> Response:
        return self._render_person(request, await self.people.find(who), "")

    async def make_page(self, request: Request, who: str) -> Response:
        """Show a person with a new link to their own page; it is shown only once."""
        person = await self.people.find_for_page(who)
        path = await self.page.sessions.make_person_path(person.principal)
        return self._render_person(request, person, str(request.base_url).rstrip("/") + path)

    def _render_person(self, request: Request, person: Person, page_link: str) -> Response:
        return self.page.render(request, "person.html", page_key="people", person=person, page_link=page_link)

    async def changed(self, change: Awaitable[Person]) -> Response:
        return person_address((await change).principal)

    async def _find(self, find: str, offset: int) -> FoundPeople:
        words = find.casefold()
        people = [each for each in await self.people.list_people() if _fits(each, words)]
        groups = [each for each in (await self.people.list_groups()).items() if words in each[0].casefold()]
        return FoundPeople(len(people), people[offset : offset + AT_ONCE], len(groups), groups[:AT_ONCE])


def _fits(person: Person, words: str) -> bool:
    return any(words in each.casefold() for each in (person.principal, person.name, *person.ids))


def person_address(principal: str) -> Response:
    """Redirect to the view of a person."""
    return RedirectResponse(f"/people/person?who={quote(principal, safe='')}", _SEE_OTHER)


def make_router(page: Page, people: PeopleService) -> APIRouter:
    """Make the routes."""
    router = page.router()
    shown = PeopleView(page, people)

    @router.get("/people", openapi_extra=view())
    async def list_people(
        request: Request,
        find: Annotated[str, Query(max_length=_LONGEST)] = "",
        group: Annotated[str, Query(max_length=_LONGEST)] = "",
        at: Annotated[int, Query(ge=1, le=_MOST_PAGES)] = 1,
    ) -> Response:
        return await shown.list(request, find.strip(), group, at)

    @router.get("/people/person", openapi_extra=view())
    async def person(request: Request, who: Annotated[str, Query(min_length=1, max_length=_LONGEST)]) -> Response:
        return await shown.person(request, who)

    _add_changes(router, shown)
    return router


def _add_changes(router: APIRouter, shown: PeopleView) -> None:
    people = shown.people

    @router.post("/people/block", openapi_extra=view(form=True))
    async def block(who: Who) -> Response:
        return await shown.changed(people.block(who))

    @router.post("/people/owner", openapi_extra=view(form=True))
    async def make_owner(who: Who) -> Response:
        return await shown.changed(people.make_owner(who))

    @router.post("/people/approve", openapi_extra=view(form=True))
    async def approve(who: Who, name: Name = "") -> Response:
        return await shown.changed(people.approve(who, name.strip()))

    @router.post("/people/rename", openapi_extra=view(form=True))
    async def rename(who: Who, name: Name = "") -> Response:
        return await shown.changed(people.rename(who, name.strip()))

    @router.post("/people/link", openapi_extra=view(form=True))
    async def link(who: Who, other: Who) -> Response:
        return await shown.changed(people.link(who, other.strip()))

    @router.post("/people/page", openapi_extra=view(form=True))
    async def make_page(request: Request, who: Who) -> Response:
        return await shown.make_page(request, who)

    @router.post("/people/remove", openapi_extra=view(form=True))
    async def remove(who: Who) -> Response:
        await people.remove(who)
        return RedirectResponse("/people", _SEE_OTHER)

    @router.post("/people/groups", openapi_extra=view(form=True))
    async def set_group(id: Who, mode: Annotated[str, Form(max_length=20)]) -> Response:
        await people.set_group(id.strip(), mode)
        return RedirectResponse("/people#groups", _SEE_OTHER)
