"""Searching over HTTP: POST /v1/search, Markdown folders and lines of their files."""

from typing import Annotated, Literal

from fastapi import FastAPI, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from engram.memory import access
from engram.memory.access import Caller
from engram_host.companion.api.backend import Backend
from engram_host.companion.auth.middleware import RequestCaller, Role, requires
from engram_host.companion.folders.service import MOST_LINES, FileExcerpt, FolderState
from engram_host.companion.search.request import (
    MOST_DEVICES,
    MOST_FOLDERS,
    MOST_HITS,
    MOST_OFFSET,
    MOST_QUERY,
    MOST_TAGS,
    SearchRequest,
    SearchResult,
)
from engram_host.companion.types import DEVICE_NAME

_LATEST = 1 << 40

Text = Annotated[str, Field(max_length=64)]
Share = Annotated[float, Field(ge=0, le=1)]
Time = Annotated[int, Field(ge=0, le=_LATEST)]
FolderNames = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=255)]], Field(min_length=1, max_length=MOST_FOLDERS)
]
Principal = Annotated[str, Query(min_length=1, max_length=64, description="who asks")]
Group = Annotated[bool, Query(description="whether others read along: then only what is for all is shown")]
Workspace = Annotated[str, Query(max_length=64, description="the workspace that they are in")]


class SearchQuery(BaseModel):
    """A query, its caller, and options."""

    model_config = ConfigDict(
        strict=True, extra="forbid", json_schema_extra={"example": {"query": "what does Ann drink?"}}
    )

    query: str = Field(min_length=1, max_length=MOST_QUERY, pattern=r"\S")
    devices: list[Annotated[str, Field(pattern=f"^{DEVICE_NAME}$")]] = Field(
        [], max_length=MOST_DEVICES, description="the boards to search; empty: all, if they are no more than 64"
    )
    folders: bool | FolderNames = Field(
        True,
        description="whether Markdown folders are searched too; not if `log` is given. Names restrict it to these folders, "
        "and without `devices` no board is searched.",
    )
    principal: str = Field(
        "owner", min_length=1, max_length=64, description="who asks: only what they may see is found"
    )
    group: bool = Field(False, description="whether others read along: then only what is for all is found")
    workspace: Text = Field("", description="the workspace that they are in")
    limit: int = Field(10, ge=1, le=MOST_HITS)
    offset: int = Field(0, ge=0, le=MOST_OFFSET, description="hits to pass over: those of the pages before")
    log: Literal["records", "journal", "notes"] | None = Field(None, description="memories, turns or notes only")
    tags: list[Text] = Field([], max_length=MOST_TAGS, description="memories that have all of these")
    type: Text = Field("", description="memories of this type")
    session: Text = Field("", description="turns of this session")
    speaker: Text = Field("", description="turns of this speaker")
    since: Time = Field(0, description="from this time on, Unix seconds")
    until: Time = Field(0, description="before this time, Unix seconds")
    history: bool = Field(False, description="also what something newer took the place of")
    words: bool | None = Field(None, description="whether to search by words; by default as the settings say")
    meaning: bool | None = Field(None, description="whether to search by meaning; by default as the settings say")
    weight: Share | None = Field(None, description="of meaning against words; by default by the shape of the query")
    candidates: int = Field(8, ge=1, le=50, description="so many times the limit are taken from each side")
    min_words: Share = Field(0, description="least share of the query's words, by weight, that a find by words matches")
    min_cosine: float = Field(SearchRequest.min_cosine, ge=-1, le=1, description="least cosine of a find by meaning")
    mmr: Share | None = Field(
        None, description="1 looks only at scores, less prefers what differs from what is above it"
    )
    dates: bool = Field(True, description="whether what was said at a time that the query names comes higher")
    rerank: bool = Field(True, description="false: without the reranker, if the settings name one")
    expand: bool = Field(True, description="false: without other wordings of the query, if the settings ask for them")
    explain: bool = Field(False, description="whether to explain each score")

    @property
    def asking(self) -> Caller:
        return _caller(self.principal, self.group, self.workspace)


_CALLER = {"principal", "group", "workspace"}


def add_search_routes(app: FastAPI, companion: Backend) -> None:
    # Omits the reranker's text of each hit, which is as long as the hit.
    @app.post(
        "/v1/search",
        response_model_exclude={"hits": {"__all__": {"document"}}},
        openapi_extra=requires(Role.DEVICE, reads=True),
    )
    async def search(question: SearchQuery, caller: RequestCaller) -> SearchResult:
        """Find what boards remember and have noted, and what stands in Markdown folders, by words and by meaning.

        Nothing is found that the one who asks may not see, and with the token of a board nothing but what that one remembers.
        """
        if caller.device:
            is_of_others = any(not caller.may_act_for(device) for device in question.devices)
            if is_of_others or not isinstance(question.folders, bool):
                raise HTTPException(403, f"the token is that of {caller.device}, which searches its own memory only")
            question.devices, question.folders = [caller.device], False
            question.expand = False  # model calls are for the operator
        return await companion.search.search(question.asking, **question.model_dump(exclude=_CALLER))

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
