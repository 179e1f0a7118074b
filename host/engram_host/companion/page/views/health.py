"""Health: state of the companion, problems and remedies; and the description of its API."""

import asyncio
import json

from fastapi import Request, Response

from engram_host import __version__
from engram_host.companion.app import CompanionApp
from engram_host.companion.auth.access import DECLARED, Role, requires
from engram_host.companion.diagnosis.checks import check_companion
from engram_host.companion.page.page import Page, Views, redirect

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


def add_health_views(views: Views, page: Page, companion: CompanionApp) -> None:
    @views.get("/health")
    async def show(request: Request) -> Response:
        look = await companion.look.look()
        gauges = await asyncio.to_thread(companion.gauges)
        problems = [*([look.down] if look.down else []), *look.problems, *companion.problems()]
        return page.render(
            request,
            "health.html",
            state="down" if look.down else "degraded" if problems else "well",
            problems=problems,
            version=__version__,
            parts=[
                ("store", companion.store.database.name),
                ("mqtt", companion.mqtt_name),
                ("meaning", companion.embedding.status_line()),
            ],
            figures=[(name, int(gauges[_PREFIX + name])) for name in FIGURES if _PREFIX + name in gauges],
            sizes=[(name, int(gauges[_PREFIX + name])) for name in SIZES if _PREFIX + name in gauges],
            backup=int(gauges.get(_BACKUP, 0)),
            checks=await asyncio.to_thread(check_companion, companion.settings),
            tasks=companion.supervisor.statuses(),
            bridges=companion.bridges.statuses(),
        )

    @views.form("/health/reload")
    async def reload() -> Response:
        await companion.reload_bridges()
        return redirect("/health#bridges")

    @views.get("/docs", openapi_extra=requires(Role.ANYBODY))
    async def docs(request: Request) -> Response:
        """Show the API's own description; FastAPI's page would load scripts from another site."""
        described = request.app.openapi()
        return page.render(request, "docs.html", described=described, declared=DECLARED, json=json.dumps)
