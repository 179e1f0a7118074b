"""Health: state of the companion, problems and remedies."""

import asyncio
from typing import Protocol

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from engram_host import __version__
from engram_host.companion.api.health import HealthSource, Look
from engram_host.companion.diagnosis.checks import check_companion
from engram_host.companion.diagnosis.findings import Finding
from engram_host.companion.page.page import Page, view

FIGURES = (
    "devices",
    "damaged_lines",
    "archived_records",
    "backlog_lines",
    "waiting_batches",
    "folder_files",
    "folder_passages",
)

SIZES = ("database_bytes", "disk_free_bytes", "index_bytes")

_PREFIX = "engram_"
_BACKUP = "engram_last_backup_timestamp_seconds"
_SEE_OTHER = 303


class HealthBackend(HealthSource, Protocol):
    """Companion as the view needs it."""

    async def reload_bridges(self) -> None:
        """Apply the current settings of bridges and alerts; raises SettingError."""
        ...


class HealthView:
    """Views of the companion's health."""

    def __init__(self, page: Page, companion: HealthBackend):
        self._page = page
        self._companion = companion

    async def show(self, request: Request) -> Response:
        companion = self._companion
        look = await companion.look.look()
        gauges, checks = await asyncio.to_thread(self._read)
        return self._page.render(
            request,
            "health.html",
            page_key="health",
            state=self._state(look),
            problems=[*([look.down] if look.down else []), *look.problems, *companion.problems()],
            version=__version__,
            parts=[
                ("store", companion.store_name),
                ("mqtt", companion.mqtt_name),
                ("meaning", companion.embedding.status_line()),
            ],
            figures=[(name, int(gauges[_PREFIX + name])) for name in FIGURES if _PREFIX + name in gauges],
            sizes=[(name, int(gauges[_PREFIX + name])) for name in SIZES if _PREFIX + name in gauges],
            backup=int(gauges.get(_BACKUP, 0)),
            checks=checks,
            tasks=companion.supervisor.statuses(),
            bridges=companion.bridges.statuses(),
        )

    async def reload(self) -> Response:
        await self._companion.reload_bridges()
        return RedirectResponse("/health#bridges", _SEE_OTHER)

    def _read(self) -> tuple[dict[str, float], list[Finding]]:
        return self._companion.gauges(), check_companion(self._companion.settings)

    def _state(self, look: Look) -> str:
        if look.down:
            return "down"
        return "degraded" if look.problems or self._companion.problems() else "well"


def make_router(page: Page, companion: HealthBackend) -> APIRouter:
    """Make the routes."""
    router = page.router()
    health = HealthView(page, companion)

    @router.get("/health", openapi_extra=view())
    async def show(request: Request) -> Response:
        return await health.show(request)

    @router.post("/health/reload", openapi_extra=view(form=True))
    async def reload() -> Response:
        return await health.reload()

    return router
