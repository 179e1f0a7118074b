"""Markdown folders over HTTP: their status, and lines of their files."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from engram.memory import access
from engram.memory.access import Caller
from engram_host.companion.api.errors import NO_FILE, REFUSALS
from engram_host.companion.auth.middleware import Role, requires
from engram_host.companion.errors import NoSuchFile
from engram_host.companion.folders.service import (
    MOST_LINES,
    FileExcerpt,
    FolderService,
    FolderState,
    FolderStatus,
    excerpt,
)
from engram_host.companion.store.board_notes import NoteFileTable
from engram_host.companion.types import DEVICE_NAME

_LAST_LINE = 1 << 30
_LONGEST_PATH = 1300
_LINES = 100

Principal = Annotated[str, Query(min_length=1, max_length=64, description="who asks")]
Group = Annotated[bool, Query(description="whether others read along: then only what is for all is shown")]
Workspace = Annotated[str, Query(max_length=64, description="the workspace that they are in")]


class FolderShown(BaseModel):
    """A Markdown folder."""

    name: str = Field(description="how the paths of its citations begin")
    scope: str = Field(description="who may see it")
    state: FolderStatus
    done: int = Field(description="files that have been read, of `total`")
    total: int
    passages: int
    links: int = Field(description="symbolic links that were not followed")
    read_at: int = Field(description="when it was last read to its end, Unix seconds; 0 if it was not yet")
    problems: list[str] = Field(description="what of it is not read, and why")
    more_problems: int = Field(description="such problems that are not listed")


class FileLines(BaseModel):
    """Lines of a Markdown file."""

    path: str
    first: int = Field(description="the number of the first line here, from 1")
    lines: list[str]
    total: int = Field(description="lines of the file")
    following: int = Field(description="the line to go on with, 0 if there is none")


def make_folder_router(folders: FolderService, notes: NoteFileTable) -> APIRouter:
    """Make the routes of Markdown folders, and of lines in their files and in boards' notes."""
    router = APIRouter(responses=REFUSALS)

    @router.get("/v1/folders", openapi_extra=requires(Role.OPERATOR))
    async def all_folders(
        principal: Principal = "owner", group: Group = False, workspace: Workspace = ""
    ) -> list[FolderShown]:
        """The Markdown folders that the one who asks may see, and how far each has been read."""
        caller = access.check_caller(Caller(principal, "http", group, workspace))
        return [_shown(one) for one in folders.visible_folders(caller)]

    @router.get("/v1/memory", responses=NO_FILE, openapi_extra=requires(Role.OPERATOR))
    async def memory(
        path: Annotated[
            str, Query(min_length=1, max_length=_LONGEST_PATH, description="as citations have it, without #line")
        ],
        first: Annotated[int, Query(alias="from", ge=1, le=_LAST_LINE)] = 1,
        lines: Annotated[int, Query(ge=1, le=MOST_LINES)] = _LINES,
        principal: Principal = "owner",
        group: Group = False,
        workspace: Workspace = "",
        device: Annotated[str, Query(pattern=f"^({DEVICE_NAME})?$", description="of this board's notes")] = "",
    ) -> FileLines:
        """Lines of a file in a Markdown folder, as it is now, or of a note of the one who asks on a board."""
        caller = access.check_caller(Caller(principal, "http", group, workspace))
        if device:
            found = None if group else await asyncio.to_thread(notes.note_lines, device, path, principal)
            if found is None:
                raise NoSuchFile(path)
            return _lines(excerpt(path, found, first, lines))
        return _lines(await asyncio.to_thread(folders.lines, caller, path, first, lines))

    return router


def _shown(one: FolderState) -> FolderShown:
    names = {"name": one.place.name, "scope": one.place.scope, "more_problems": one.progress.left_out}
    return FolderShown.model_validate(vars(one.progress) | vars(one) | names)


def _lines(found: FileExcerpt) -> FileLines:
    return FileLines(
        path=found.path, first=found.first, lines=found.lines, total=found.total, following=found.following
    )
