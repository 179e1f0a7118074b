"""Settings of a board: possible and current values, and changes, queued while the board is away."""

from typing import Annotated, Literal

from fastapi import Form, Query, Request, Response
from starlette.exceptions import HTTPException

from engram_host.companion.api.copies import DeviceName
from engram_host.companion.app import CompanionApp
from engram_host.companion.board_settings import (
    MODEL_TEST,
    ON_CONSOLE,
    SECTIONS,
    all_settings,
    settings_of,
    written,
)
from engram_host.companion.page.page import Page, Views, redirect
from engram_host.services import all_services

_SECTION = f"^({'|'.join(SECTIONS)})$"
_LONGEST = 4000
_RECENT = 10


def add_settings_views(views: Views, page: Page, companion: CompanionApp) -> None:
    settings = companion.board_settings

    @views.get("/boards/{device}/settings")
    async def show(
        request: Request, device: DeviceName, section: Annotated[str, Query(pattern=_SECTION)] = "general"
    ) -> Response:
        return page.render(
            request,
            "settings.html",
            device=device,
            board=await companion.overviews.summary(device),
            section=section,
            sections=list(SECTIONS),
            settings=settings_of(section),
            found=await settings.find(device, _RECENT),
            written=written,
            on_console=ON_CONSOLE,
            most=_LONGEST,
            services=all_services() if section == "model" else (),
            model_test=MODEL_TEST,
        )

    @views.form("/boards/{device}/settings")
    async def change(
        request: Request,
        device: DeviceName,
        name: Annotated[str, Form(max_length=40)],
        value: Annotated[str, Form(max_length=_LONGEST)] = "",
        sure: Annotated[str, Form()] = "",
    ) -> Response:
        info = all_settings().get(name)
        if info and info.is_risky and not sure:
            raise HTTPException(422, page.visit(request).texts("settings.not_sure", name=name))
        await settings.change(device, name, value)
        return _back(device, info.section if info else "general")

    @views.form("/boards/{device}/settings/service")
    async def choose_service(
        device: DeviceName,
        service: Annotated[str, Form(max_length=40)],
        sure: Annotated[Literal["yes"], Form()],
        computer: Annotated[str, Form(max_length=100)] = "",
        model: Annotated[str, Form(max_length=100)] = "",
        key: Annotated[str, Form(max_length=500)] = "",
    ) -> Response:
        chosen = next((each for each in all_services() if each.name == service), None)
        if chosen is None:
            raise HTTPException(422)
        await settings.choose_service(device, chosen, computer, model, key)
        return _back(device, "model")

    @views.form("/boards/{device}/settings/test")
    async def test_model(device: DeviceName) -> Response:
        await settings.test_model(device)
        return _back(device, "model")

    @views.form("/boards/{device}/settings/read")
    async def read(device: DeviceName, section: Annotated[str, Form(pattern=_SECTION)] = "general") -> Response:
        await settings.read(device)
        return _back(device, section)


def _back(device: str, section: str) -> Response:
    return redirect(f"/boards/{device}/settings?section={section}")
