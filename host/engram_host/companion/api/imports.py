"""Imports into a board over HTTP: a preview, then line by line to the board."""

from typing import Annotated, Literal

from fastapi import FastAPI, Path, Query, Request
from pydantic import BaseModel

from engram_host.companion.api.copies import BINARY, DeviceName
from engram_host.companion.imports.files import ImportStatus, Outcome
from engram_host.companion.imports.service import MOST_BYTES, ImportLines, ImportService

ImportId = Annotated[str, Path(pattern=r"^[0-9a-f]{16}$", description="an import's id")]

_BASE = "/v1/boards/{device}/imports"
_FILE = {
    "required": True,
    "content": {BINARY: {"schema": {"type": "string", "format": "binary", "maxLength": MOST_BYTES}}},
}


class ImportChange(BaseModel):
    """Requested state of an import."""

    action: Literal["start"]


def add_import_routes(app: FastAPI, imports: ImportService) -> None:
    @app.post(_BASE, status_code=201, openapi_extra={"requestBody": _FILE})
    async def preview(
        device: DeviceName,
        request: Request,
        name: Annotated[
            str,
            Query(
                min_length=1,
                max_length=200,
                pattern=r"^[^/\x00-\x1f]+$",
                description="the file's name: .md is Markdown, .json a list of CoClaw's entries, all else JSON Lines",
            ),
        ] = "memories.jsonl",
    ) -> ImportStatus:
        """Say what a file would do, line by line, and keep it for a start. Nothing is sent to the board yet."""
        # The middleware of all routes limits the body.
        return await imports.preview(device, name, await request.body())

    @app.get(_BASE)
    async def all_imports(device: DeviceName) -> list[ImportStatus]:
        """The imports into a board, the newest first, as long as they are kept."""
        return await imports.list_imports(device)

    @app.get(_BASE + "/{id}")
    async def one(device: DeviceName, id: ImportId) -> ImportStatus:
        """Progress of an import."""
        return await imports.find(device, id)

    @app.get(_BASE + "/{id}/lines")
    async def lines(
        device: DeviceName,
        id: ImportId,
        outcome: Annotated[Outcome | None, Query(description="only those of this outcome")] = None,
        offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> ImportLines:
        """Lines of the preview with their outcomes."""
        return await imports.lines(device, id, outcome or "", offset, limit)

    @app.post(_BASE + "/{id}")
    async def start(device: DeviceName, id: ImportId, change: ImportChange) -> ImportStatus:
        """Send the lines to the board, also again where it failed or was cancelled. A board that is away keeps it waiting."""
        return await imports.begin(device, id)

    @app.delete(_BASE + "/{id}", status_code=204)
    async def cancel(device: DeviceName, id: ImportId) -> None:
        """End an import that runs, and keep what the board has of it; remove one that does not run."""
        await imports.cancel(device, id)
