"""Settings of a board: possible and current values, and changes, queued while the board is away."""

from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

from engram_host.companion.api.devices import DeviceName
from engram_host.companion.board_settings.service import BoardSettingsService
from engram_host.companion.board_settings.table import ON_CONSOLE, SECTIONS, all_settings, settings_of, written
from engram_host.companion.overview.service import BoardOverviews
from engram_host.companion.page.page import Page, view

Section = Literal[
    "general",
    "model",
    "prompt",
    "learning",
    "memory",
    "companion",
    "people",
    "console",
    "network",
    "secrets",
]

_SEE_OTHER = 303
_LONGEST = 4000
_RECENT = 10

Name = Annotated[str, Form(max_length=40)]
Value = Annotated[str, Form(max_length=_LONGEST)]


class SettingsView:
    """Views of boards' settings by section."""

    def __init__(self, page: Page, overviews: BoardOverviews, settings: BoardSettingsService):
        self._page = page
        self._overviews = overviews
        self._settings = settings

    async def show(self, request: Request, device: str, section: Section) -> Response:
        found = await self._settings.find(device, _RECENT)
        return self._page.render(
            request,
            "settings.html",
            page_key="boards",
            device=device,
            board=await self._overviews.summary(device),
            section=section,
            sections=list(SECTIONS),
            settings=settings_of(section),
            found=found,
            written=written,
            on_console=ON_CONSOLE,
            most=_LONGEST,
        )

    async def read(self, device: str, section: Section) -> Response:
        await self._settings.read(device)
        return _back(device, section)

    async def change(self, request: Request, device: str, name: str, value: str, is_sure: bool) -> Response:
        info = all_settings().get(name)
        if info and info.is_risky and not is_sure:
            raise HTTPException(422, self._page.visit(request).texts("settings.not_sure", name=name))
        await self._settings.change(device, name, value)
        return _back(device, info.section if info else "general")


def _back(device: str, section: str) -> Response:
    return RedirectResponse(f"/boards/{device}/settings?section={section}", _SEE_OTHER)


def make_router(page: Page, overviews: BoardOverviews, settings: BoardSettingsService) -> APIRouter:
    """Make the routes."""
    router = page.router()
    shown = SettingsView(page, overviews, settings)

    @router.get("/boards/{device}/settings", openapi_extra=view())
    async def show(request: Request, device: DeviceName, section: Annotated[Section, Query()] = "general") -> Response:
        return await shown.show(request, device, section)

    @router.post("/boards/{device}/settings", openapi_extra=view(form=True))
    async def change(
        request: Request, device: DeviceName, name: Name, value: Value = "", sure: Annotated[str, Form()] = ""
    ) -> Response:
        return await shown.change(request, device, name, value, bool(sure))

    @router.post("/boards/{device}/settings/read", openapi_extra=view(form=True))
    async def read(device: DeviceName, section: Annotated[Section, Form()] = "general") -> Response:
        return await shown.read(device, section)

    return router
