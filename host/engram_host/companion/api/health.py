"""The companion's state over HTTP: /v1/health, /v1/stats, and /metrics for Prometheus."""

import asyncio
from dataclasses import asdict
from typing import Literal, Protocol

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from engram_host import __version__
from engram_host.companion.api.errors import REFUSALS
from engram_host.companion.auth.middleware import HttpAccess, RequestCaller, Role, requires
from engram_host.companion.embedding.embedding_service import EmbeddingService
from engram_host.companion.metrics import Metrics
from engram_host.companion.replication.protocol import Replication
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
    """Whether all works; a board gets the status and the version only."""

    status: Literal["well", "degraded"]
    version: str
    problems: list[str] | None = None
    store: str | None = None
    mqtt: str | None = None
    meaning: str | None = None
    lines: int | None = Field(default=None, description="lines taken from boards since the start")
    tasks: list[Task] | None = None


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
    broker_connected: float | None = None


class HealthSource(Protocol):
    """The parts of a companion that report its state."""

    access: HttpAccess
    metrics: Metrics
    supervisor: Supervisor
    replication: Replication
    embedding: EmbeddingService

    @property
    def store_name(self) -> str:
        """Which database it is."""
        ...

    @property
    def mqtt_name(self) -> str:
        """Which broker it is, and whether it is reached."""
        ...

    def problems(self) -> list[str]:
        """What does not work now, a sentence each."""
        ...

    def gauges(self) -> dict[str, float]:
        """The figures that stand now, by the names in metrics.GAUGES."""
        ...


def make_health_router(companion: HealthSource) -> APIRouter:
    """Make the routes that report the state of a companion."""
    router = APIRouter(responses=REFUSALS)

    @router.get("/v1/health", response_model_exclude_none=True, openapi_extra=requires(Role.DEVICE))
    async def health(caller: RequestCaller) -> Health:
        """Whether all works. The operator also gets what does not: folders and the broker are named in that."""
        problems = companion.problems()
        status = "degraded" if problems else "well"
        if not companion.access.may_use_all(caller):
            return Health(status=status, version=__version__)
        return Health(
            status=status,
            version=__version__,
            problems=problems,
            store=companion.store_name,
            mqtt=companion.mqtt_name,
            meaning=companion.embedding.status_line(),
            lines=companion.replication.lines,
            tasks=[Task.model_validate(asdict(status)) for status in companion.supervisor.statuses()],
        )

    @router.get(
        "/metrics",
        response_class=Response,
        responses={200: {"content": {METRICS: {}}, "description": "figures as Prometheus reads them"}},
        openapi_extra=requires(Role.OPERATOR),
    )
    async def metrics() -> Response:
        """What the companion does and how long it takes, for Prometheus; no board is named."""
        return Response(await asyncio.to_thread(companion.metrics.render), media_type=METRICS)

    @router.get("/v1/stats", openapi_extra=requires(Role.OPERATOR))
    async def stats() -> Stats:
        """How much there is: of boards, of lines, of memory and of disk."""
        figures = await asyncio.to_thread(companion.gauges)
        counts = {"lines_taken": companion.replication.lines, "refused": companion.replication.refused}
        return Stats.model_validate(counts | {name.removeprefix("engram_"): value for name, value in figures.items()})

    return router
