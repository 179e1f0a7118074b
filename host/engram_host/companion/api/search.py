"""Searching over HTTP: POST /v1/search, Markdown folders and lines of their files."""

from typing import Annotated

from fastapi import FastAPI, Query
from starlette.exceptions import HTTPException

from engram.memory import access
from engram.memory.access import Caller
from engram_host.companion.app import CompanionApp
from engram_host.companion.auth.access import RequestCaller, Role, requires
from engram_host.companion.folders.service import MOST_LINES, FileExcerpt, FolderState
from engram_host.companion.search.request import SearchRequest, SearchResult
from engram_host.companion.types import DEVICE_NAME

Principal = Annotated[str, Query(min_length=1, max_length=64, description="who asks")]
Group = Annotated[bool, Query(description="whether others read along: then only what is for all is shown")]
Workspace = Annotated[str, Query(max_length=64, description="the workspace that they are in")]


def add_search_routes(app: FastAPI, companion: CompanionApp) -> None:
    @app.post("/v1/search", openapi_extra=requires(Role.DEVICE, reads=True))
    async def search(request: SearchRequest, caller: RequestCaller) -> SearchResult:
        """Find what boards remember and have noted, and what stands in Markdown folders, by words and by meaning.

        Nothing is found that the one who asks may not see, and with the token of a board nothing but what that one remembers.
        """
        if caller.device:
            is_of_others = any(not caller.may_act_for(device) for device in request.devices)
            if is_of_others or not isinstance(request.folders, bool):
                raise HTTPException(403, f"the token is that of {caller.device}, which searches its own memory only")
            request = request.model_copy(update={"devices": [caller.device], "folders": False})
        return await companion.search.search(request)

    @app.get("/v1/folders")
    async def all_folders(
        principal: Principal = "owner", group: Group = False, workspace: Workspace = ""
    ) -> list[FolderState]:
        """The Markdown folders that the one who asks may see, and how far each has been read."""
        return companion.folders.visible_folders(_caller(principal, group, workspace))

    @app.get("/v1/memory")
    async def lines_of_file(
        path: Annotated[str, Query(min_length=1, max_length=1300, description="as citations have it, without #line")],
        first: Annotated[int, Query(alias="from", ge=1, le=1 << 30)] = 1,
        lines: Annotated[int, Query(ge=1, le=MOST_LINES)] = 100,
        principal: Principal = "owner",
        group: Group = False,
        workspace: Workspace = "",
        device: Annotated[str, Query(pattern=f"^({DEVICE_NAME})?$", description="of this board's notes")] = "",
    ) -> FileExcerpt:
        """Lines of a file in a Markdown folder, as it is now, or of a note of the one who asks on a board."""
        caller = _caller(principal, group, workspace)
        return await companion.search.read_lines(caller, path, first, lines, device)


def _caller(principal: str, group: bool, workspace: str) -> Caller:
    return access.check_caller(Caller(principal, "http", group, workspace))
