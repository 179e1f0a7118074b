"""The companion itself over HTTP: health, checks, figures, bridges, the audit log, and sessions of the page."""

import asyncio
from typing import Annotated, Literal

from fastapi import FastAPI, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from engram import log_line
from engram_host import __version__
from engram_host.companion.app import CompanionApp
from engram_host.companion.auth.access import RequestCaller, Role, requires
from engram_host.companion.auth.middleware import shown_token
from engram_host.companion.auth.sessions import NO_TOKEN
from engram_host.companion.auth.tokens import token_digest
from engram_host.companion.bridges.runner import BridgeStatus
from engram_host.companion.diagnosis.checks import check_companion
from engram_host.companion.diagnosis.findings import Finding
from engram_host.companion.supervisor import TaskStatus
from engram_host.companion.types import AuditEntry

METRICS = "text/plain; version=0.0.4; charset=utf-8"

_TOTALS = {"lines_taken": "lines_taken", "refused": "refusals"}
_DOWN = "the companion cannot serve now: its operator sees why."


class Health(BaseModel):
    """Health status; details for operators only."""

    status: Literal["well", "degraded", "down"] = Field(description="down: the database cannot be used")
    problem: str | None = Field(default=None, description="why it is down")
    version: str = __version__
    problems: list[str] | None = None
    store: str | None = None
    mqtt: str | None = None
    meaning: str | None = None
    lines: int | None = Field(default=None, description="lines taken from boards since the start")
    tasks: list[TaskStatus] | None = None
    bridges: list[BridgeStatus] | None = None


def add_health_routes(app: FastAPI, companion: CompanionApp) -> None:
    @app.get(
        "/v1/alive",
        response_class=Response,
        status_code=204,
        responses={503: {"description": "it cannot serve now"}},
        openapi_extra=requires(Role.ANYBODY),
    )
    async def alive() -> Response:
        """Liveness of the companion for monitoring: 204 or 503, without details."""
        return Response(status_code=503 if (await companion.look.look()).down else 204)

    @app.get(
        "/v1/health",
        response_model=Health,
        response_model_exclude_none=True,
        responses={503: {"model": Health, "description": "the database cannot be used: `problem` says why"}},
        openapi_extra=requires(Role.DEVICE),
    )
    async def health(caller: RequestCaller) -> Health | Response:
        """Health status; operators also get the problems, which name folders and the broker."""
        look = await companion.look.look()
        problems = [*([look.down] if look.down else []), *look.problems, *companion.problems()]
        shown = Health(status="down" if look.down else "degraded" if problems else "well")
        if companion.access.may_use_all(caller):
            shown.problem, shown.problems = look.down or None, problems
            shown.store, shown.mqtt = companion.store.database.name, companion.mqtt_name
            shown.meaning, shown.lines = (
                companion.embedding.status_line(),
                companion.metrics.total("engram_lines_taken"),
            )
            shown.tasks, shown.bridges = companion.supervisor.statuses(), companion.bridges.statuses()
        elif look.down:
            shown.problem = _DOWN
        return JSONResponse(shown.model_dump(exclude_none=True), status_code=503) if look.down else shown

    _add_operator_routes(app, companion)


def _add_operator_routes(app: FastAPI, companion: CompanionApp) -> None:
    @app.get(
        "/metrics",
        response_class=Response,
        responses={200: {"content": {METRICS: {}}, "description": "figures as Prometheus reads them"}},
    )
    async def metrics() -> Response:
        """Prometheus metrics: counts and durations, without names of boards."""
        await companion.look.look()
        return Response(await asyncio.to_thread(companion.metrics.render), media_type=METRICS)

    @app.get("/v1/stats")
    async def stats() -> dict[str, float]:
        """Figures of the companion: boards, lines, memory and disk."""
        figures = await asyncio.to_thread(companion.gauges)
        counts = {name: companion.metrics.total(f"engram_{of}") for name, of in _TOTALS.items()}
        return counts | {name.removeprefix("engram_"): value for name, value in figures.items()}

    @app.get("/v1/checks")
    async def checks() -> list[Finding]:
        """Checks of the disk, the clock, files, certificates, the gateway and alerts."""
        return await asyncio.to_thread(check_companion, companion.settings)

    @app.get("/v1/bridges")
    async def list_bridges() -> list[BridgeStatus]:
        """Status of each bridge."""
        return companion.bridges.statuses()

    @app.post("/v1/bridges/reload")
    async def reload_bridges(request: Request) -> list[BridgeStatus]:
        """Read the settings and secrets of bridges, people and alerts again: what has changed, or was stopped, starts again."""
        await request.body()  # unused, and refused if too long like any other body
        await companion.reload_bridges()
        return companion.bridges.statuses()

    @app.get("/v1/audit")
    async def audit(
        before: Annotated[int, Query(ge=0, le=log_line.MAX_SEQ, description="continue below this number")] = 0,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> list[AuditEntry]:
        """Actions of operators, newest first."""
        return await asyncio.to_thread(companion.audit.audit, limit, before)

    # Readers may end their own sessions, too, as on the page.
    @app.delete("/v1/page/sessions", openapi_extra=requires(Role.OPERATOR, reads=True))
    async def sign_out_everywhere(request: Request) -> dict[str, int]:
        """Sign out all browsers that signed in on the page with the token of this request, and end its unused links."""
        session, shown = request.state.session, shown_token(request.headers)
        token = session.row.token if session else token_digest(shown) if shown else NO_TOKEN
        return {"ended": await companion.access.sessions.end_all(token)}
