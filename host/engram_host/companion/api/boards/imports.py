"""Imports into a board over HTTP: a preview, then line by line to the board."""

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, Field

from engram_host.companion.api.devices import BINARY, DeviceName
from engram_host.companion.api.errors import NO_DEVICE, REFUSALS, ErrorResponse, responses
from engram_host.companion.auth.middleware import Role, requires
from engram_host.companion.imports.service import MOST_BYTES, ImportService
from engram_host.companion.imports.types import ImportState, ImportStatus, Outcome

_MOST_LISTED = 1000
_MOST_OFFSET = 1_000_000

ImportId = Annotated[str, Path(pattern=r"^[0-9a-f]{16}$", description="an import's id")]
FileName = Annotated[
    str,
    Query(
        min_length=1,
        max_length=200,
        pattern=r"^[^/\x00-\x1f]+$",
        description="the file's name: .md is Markdown, .json a list of CoClaw's entries, all else JSON Lines",
    ),
]
_FILE = {
    "required": True,
    "content": {BINARY: {"schema": {"type": "string", "format": "binary", "maxLength": MOST_BYTES}}},
}
_NO_IMPORT = responses(ErrorResponse, {404: "there is no such board, or no import of that id"})


class ProblemShown(BaseModel):
    """A line that the board refused."""

    line: int
    why: str


class ImportShown(BaseModel):
    """An import into a board, and how far it is."""

    id: str
    device: str
    file: str
    made: int = Field(description="in Unix seconds")
    changed: int
    state: ImportState
    total: int = Field(description="lines of the file that have something")
    sent: int = Field(description="lines that the board has answered")
    attempt: int = Field(description="how often it was started")
    told: str = Field(description="why it waits for the board, or why it failed")
    expected: dict[str, int] = Field(description="how many lines there are of each outcome that the preview says")
    counts: dict[str, int] = Field(description="how many there are of each that the board said")
    problems: list[ProblemShown] = Field(description="refused lines, the first 100")
    notes: list[str] = Field(description="sentences on the whole file")
    unknown: list[str] = Field(description="fields for which a memory has no place")


class LineShown(BaseModel):
    """A line of the file, and what the preview says becomes of it."""

    number: int
    outcome: Outcome
    why: str = Field(description="why it is refused; else empty")
    text: str = Field(description="what a person recognises it by")


class LinesShown(BaseModel):
    """Some lines of a file, and how many fit in all."""

    total: int
    lines: list[LineShown]


class ImportChange(BaseModel):
    """Requested state of an import."""

    action: Literal["start"]


def make_import_router(imports: ImportService) -> APIRouter:
    """Make the routes."""
    router = APIRouter(prefix="/v1/boards/{device}/imports", responses=REFUSALS | NO_DEVICE)
    rules: dict[str, Any] = {"responses": _NO_IMPORT, "openapi_extra": requires(Role.OPERATOR)}

    @router.post("", status_code=201, openapi_extra=requires(Role.OPERATOR) | {"requestBody": _FILE})
    async def preview(device: DeviceName, request: Request, name: FileName = "memories.jsonl") -> ImportShown:
        """Say what a file would do, line by line, and keep it for a start. Nothing is sent to the board yet."""
        # The middleware of all routes limits the body.
        return _shown(await imports.preview(device, name, await request.body()))

    @router.get("", openapi_extra=requires(Role.OPERATOR))
    async def all_imports(device: DeviceName) -> list[ImportShown]:
        """The imports into a board, the newest first, as long as they are kept."""
        return [_shown(each) for each in await imports.list_imports(device)]

    @router.get("/{id}", **rules)
    async def one(device: DeviceName, id: ImportId) -> ImportShown:
        """Progress of an import."""
        return _shown(await imports.find(device, id))

    @router.get("/{id}/lines", **rules)
    async def lines(
        device: DeviceName,
        id: ImportId,
        outcome: Annotated[Outcome | None, Query(description="only those of this outcome")] = None,
        offset: Annotated[int, Query(ge=0, le=_MOST_OFFSET)] = 0,
        limit: Annotated[int, Query(ge=1, le=_MOST_LISTED)] = 100,
    ) -> LinesShown:
        """Lines of the preview with their outcomes."""
        found, total = await imports.lines(device, id, outcome or "", offset, limit)
        shown = [LineShown(number=each.number, outcome=each.outcome, why=each.why, text=each.text) for each in found]
        return LinesShown(total=total, lines=shown)

    @router.post("/{id}", **rules)
    async def start(device: DeviceName, id: ImportId, change: ImportChange) -> ImportShown:
        """Send the lines to the board, also again where it failed or was cancelled. A board that is away keeps it waiting."""
        return _shown(await imports.begin(device, id))

    @router.delete("/{id}", status_code=204, **rules)
    async def cancel(device: DeviceName, id: ImportId) -> None:
        """End an import that runs, and keep what the board has of it; remove one that does not run."""
        await imports.cancel(device, id)

    return router


def _shown(status: ImportStatus) -> ImportShown:
    return ImportShown(**asdict(status))
