"""The companion's state over HTTP: /v1/health, /v1/checks, /v1/stats, and /metrics for Prometheus."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Literal, Protocol, cast

from fastapi import APIRouter, Response, status
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from engram_host import __version__
from engram_host.companion.api.bridges import BridgeShown, show_bridge
from engram_host.companion.api.errors import REFUSALS
from engram_host.companion.auth.middleware import HttpAccess, RequestCaller, Role, requires
from engram_host.companion.bridges.runner import BridgeRunner
from engram_host.companion.diagnosis.checks import check_companion
from engram_host.companion.embedding.embedding_service import EmbeddingService
from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.metrics import Metrics
from engram_host.companion.replication.protocol import Replication
from engram_host.companion.settings import Settings
from engram_host.companion.supervisor import State, Supervisor

METRICS = "text/plain; version=0.0.4; charset=utf-8"


class Task(BaseModel):
    """A background task of the companion."""

    name: str
    state: State = Field(description="restarting: it failed, and is started again")
    since: int = Field(description="when that state began, in Unix seconds")
    restarts: int = Field(description="since the companion started")
    error: str = Field(description="what it failed with last, empty if it never did")


class Health(BaseModel):
    """Health status; details for operators only."""

    status: Literal["well", "degraded", "down"] = Field(
        description="down: the database cannot be used; the status is 503"
    )
    problem: str | None = Field(default=None, description="why it is down")
    version: str
    problems: list[str] | None = None
    store: str | None = None
    mqtt: str | None = None
    meaning: str | None = None
    lines: int | None = Field(default=None, description="lines taken from boards since the start")
    tasks: list[Task] | None = None
    bridges: list[BridgeShown] | None = None


CheckState = Literal["well", "watch", "wrong"]


class CheckShown(BaseModel):
    """Result of a check."""

    name: str
    state: CheckState = Field(description="watch: it works, and a person may want to know")
    detail: str = Field(description="how it is")
    advice: str = Field(description="what to do about it, empty if nothing")


class Stats(BaseModel):
    """Figures of the companion; null where there is nothing to show."""

    up_seconds: float
    lines_taken: int = Field(description="lines of boards since the start")
    refused: int = Field(description="messages that were refused since the start")
    waiting_batches: int
    devices: int | None = None
    index_bytes: int = Field(description="memory of the search indexes, about")
    backlog_lines: int = Field(description="changes of lines that the embedder has still to look at")
    database_bytes: int | None = None
    folder_files: int = Field(description="of Markdown folders")
    folder_passages: int = Field(description="of these files, that searches go through")
    archived_records: int | None = Field(None, description="memories that boards have archived here")
    damaged_lines: int | None = Field(
        None, description="found damaged in the database; boards are asked for them again"
    )
    flash_most_percent: int | None = Field(None, description="how full the fullest flash of a board is")
    broker_connected: float | None = None
    bridges_connected: int | None = Field(None, description="bridges that are connected; null without bridges")
    bridges_down: int | None = Field(None, description="bridges that are away or stopped; null without bridges")


class HealthSource(Protocol):
    """State of a companion."""

    access: HttpAccess
    settings: Settings
    look: "StoreLook"
    supervisor: Supervisor
    metrics: Metrics
    replication: Replication
    embedding: EmbeddingService
    bridges: BridgeRunner

    @property
    def store_name(self) -> str: ...

    @property
    def mqtt_name(self) -> str: ...

    def problems(self) -> list[str]: ...

    def gauges(self) -> dict[str, float]:
        """Return current values by their names in metrics.GAUGES."""
        ...


KEPT_SECONDS = 1.0
"""Lifetime of a cached look, to bound the cost of health requests."""

LOOK_SECONDS = 3.0
"""Timeout of a look: a slower database cannot serve."""


@dataclass(frozen=True)
class Look:
    """Result of a look: `down` is the reason of an outage, `problems` are lesser ones."""

    down: str = ""
    problems: tuple[str, ...] = ()


class StoreLook:
    """Probe of the database: one at a time in its own thread, at most one a second."""

    def __init__(self, probe: Callable[[], list[str]]):
        """`probe()` writes and reads; it returns problems, or raises."""
        self._probe = probe
        # In its own thread, not one that waits for the database: it has to report if all of these hang.
        self._thread = ThreadPoolExecutor(1, "health")
        self._under_way: asyncio.Future[Look] | None = None
        self._began = 0.0
        self._until = 0.0
        self._found = Look()

    async def look(self) -> Look:
        """Return a result that is at most a second old."""
        now = time.monotonic()
        if now < self._until:
            return self._found
        if self._under_way is None or self._under_way.done():
            self._began = now
            self._under_way = asyncio.get_running_loop().run_in_executor(self._thread, self._look)
        done, _ = await asyncio.wait([self._under_way], timeout=max(self._began + LOOK_SECONDS - now, 0))
        self._found = done.pop().result() if done else Look(_SLOW)
        self._until = time.monotonic() + KEPT_SECONDS
        return self._found

    @property
    def is_usable(self) -> bool:
        return not self._found.down

    def _look(self) -> Look:
        try:
            return Look(problems=tuple(self._probe()))
        except StoreUnavailable as problem:
            return Look(str(problem))
        except Exception as error:  # noqa: BLE001 - detects a database that answers nonsense
            return Look(f"the database answers what it should not ({type(error).__name__}: {error}): look at the log.")


_SLOW = f"the database did not answer within {LOOK_SECONDS:.0f} s: look at its disk, and at other programs that use it."
_DOWN = "the companion cannot serve now: its operator sees why."


def make_health_router(companion: HealthSource) -> APIRouter:
    """Make the routes."""
    router = APIRouter(responses=REFUSALS)

    @router.get(
        "/v1/alive",
        response_class=Response,
        status_code=status.HTTP_204_NO_CONTENT,
        responses={503: {"description": "it cannot serve now"}},
        openapi_extra=requires(Role.ANYBODY),
    )
    async def alive() -> Response:
        """Liveness of the companion for monitoring: 204 or 503, without details."""
        is_down = (await companion.look.look()).down
        return Response(status_code=status.HTTP_503_SERVICE_UNAVAILABLE if is_down else status.HTTP_204_NO_CONTENT)

    @router.get(
        "/v1/health",
        response_model=Health,
        response_model_exclude_none=True,
        responses={503: {"model": Health, "description": "the database cannot be used: `problem` says why"}},
        openapi_extra=requires(Role.DEVICE),
    )
    async def health(caller: RequestCaller) -> Health | Response:
        """Health status; operators also get the problems, which name folders and the broker."""
        look = await companion.look.look()
        shown = _health(look, companion.access.may_use_all(caller))
        return JSONResponse(shown.model_dump(exclude_none=True), status_code=503) if look.down else shown

    def _health(look: Look, is_operator: bool) -> Health:
        down = [look.down] if look.down else []
        problems = [*down, *look.problems, *companion.problems()]
        state = "down" if down else "degraded" if problems else "well"
        if not is_operator:
            return Health(status=state, problem=_DOWN if down else None, version=__version__)
        return Health(
            status=state,
            problem=look.down or None,
            version=__version__,
            problems=problems,
            store=companion.store_name,
            mqtt=companion.mqtt_name,
            meaning=companion.embedding.status_line(),
            lines=companion.replication.lines,
            tasks=[Task.model_validate(asdict(status)) for status in companion.supervisor.statuses()],
            bridges=[show_bridge(status) for status in companion.bridges.statuses()],
        )

    @router.get(
        "/metrics",
        response_class=Response,
        responses={200: {"content": {METRICS: {}}, "description": "figures as Prometheus reads them"}},
        openapi_extra=requires(Role.OPERATOR),
    )
    async def metrics() -> Response:
        """Prometheus metrics: counts and durations, without names of boards."""
        await companion.look.look()
        return Response(await asyncio.to_thread(companion.metrics.render), media_type=METRICS)

    @router.get("/v1/checks", openapi_extra=requires(Role.OPERATOR))
    async def checks() -> list[CheckShown]:
        """Checks of the disk, the clock, files, certificates, the gateway and alerts."""
        found = await asyncio.to_thread(check_companion, companion.settings)
        return [
            CheckShown(name=each.name, state=cast(CheckState, each.state), detail=each.detail, advice=each.advice)
            for each in found
        ]

    @router.get("/v1/stats", openapi_extra=requires(Role.OPERATOR))
    async def stats() -> Stats:
        """Figures of the companion: boards, lines, memory and disk."""
        figures = await asyncio.to_thread(companion.gauges)
        counts = {"lines_taken": companion.replication.lines, "refused": companion.replication.refused}
        return Stats.model_validate(counts | {name.removeprefix("engram_"): value for name, value in figures.items()})

    return router
