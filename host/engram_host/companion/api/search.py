"""Searching over HTTP: POST /v1/search."""

from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from engram.memory import access
from engram.memory.access import Caller
from engram_host.companion.api.entries import ENTRY_ID
from engram_host.companion.api.errors import NO_DEVICE, REFUSALS
from engram_host.companion.auth.middleware import RequestCaller, Role, requires
from engram_host.companion.overview.absence import AbsenceFinder, AbsenceReason
from engram_host.companion.search.request import (
    MOST_DEVICES,
    MOST_FOLDERS,
    MOST_HITS,
    MOST_OFFSET,
    MOST_QUERY,
    MOST_TAGS,
    HitKind,
    SearchRequest,
    SearchResult,
)
from engram_host.companion.search_service import SearchService
from engram_host.companion.types import DEVICE_NAME

_LATEST = 1 << 40

Text = Annotated[str, Field(max_length=64)]
Share = Annotated[float, Field(ge=0, le=1)]
Time = Annotated[int, Field(ge=0, le=_LATEST)]


FolderNames = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=255)]], Field(min_length=1, max_length=MOST_FOLDERS)
]


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


class ScoreParts(BaseModel):
    """Parts of a score; their sum is the score."""

    words: list[tuple[str, float]]
    beside: list[tuple[str, float]]
    expansion: float = Field(description="from words of other wordings of the query")
    session: float
    meaning: float
    speaker: float
    reply: float
    importance: float
    dates: float
    cosine: float | None
    rerank: float | None = Field(description="what the reranker gave it, which decides its place; no part of the score")
    confidence: list[tuple[str, float]] = Field(
        description="what the confidence is made of: the mean of words and meaning, times each factor; no part of the score"
    )


class HitShown(BaseModel):
    """Something that was found."""

    kind: HitKind
    device: str = Field(description="the board; empty for what stands in a Markdown folder")
    id: str = Field(
        description="m12 for a memory, t34 for a turn, path#line for a note or a Markdown file, empty if it is not cited"
    )
    citation: str = Field(
        description="path#line of what stands in a note or a Markdown folder and is cited, else empty"
    )
    heading: str = Field(description="the headings that it stands under there, and the day of a note")
    at: int = Field(description="Unix seconds")
    who: str
    text: str
    score: float
    confidence: float = Field(description="0 to 1: how sure it is that this is an answer")
    state: str
    coverage: float = Field(description="the share of the query's words that it matches, by their weight")
    cosine: float | None
    explanation: ScoreParts | None


class PlanShown(BaseModel):
    """Plan of a search for a query."""

    first: str = Field(description="the first of the days that it names, empty if it names none")
    last: str
    kinds: list[str] = Field(description="what is searched, of memories, turns and folders")
    order: str
    limit: int = Field(description="hits at most")


class SearchAnswer(BaseModel):
    """Hits, best first, and the plan."""

    hits: list[HitShown]
    why_empty: str = Field(description="why nothing was found")
    degraded: str = Field(
        description="why the search went by words alone, or by a part of the vectors, was not reranked or not expanded"
    )
    left_out: list[str]
    confidence: float = Field(
        description="0 to 1: how sure it is, by words and meaning, that an answer was found; below .1 nothing is certain"
    )
    plan: PlanShown | None = Field(
        description="what the search did with the query; null if there was nothing to search"
    )
    weight: float = Field(description="of meaning against words, as it was used")
    shape: str = Field(description="why the weight is what it is")
    wordings: list[str] = Field(description="other wordings of the query, by a model, whose words count less")
    boards: int = Field(description="how many boards were searched; notes and folders count as one each")
    entries: int = Field(description="what this caller may see on these boards, in all")
    embed_ms: float
    search_ms: float
    rerank_ms: float


class AbsenceQuery(SearchQuery):
    """A search of one board, and a memory or a turn that it does not show."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        json_schema_extra={"example": {"query": "what does Ann drink?", "devices": ["kitchen"], "entry": "m12"}},
    )

    devices: list[Annotated[str, Field(pattern=f"^{DEVICE_NAME}$")]] = Field(
        min_length=1, max_length=1, description="the board that has it"
    )
    entry: str = Field(pattern=ENTRY_ID, description="a memory's or a turn's id, such as m12 or t34")


class AbsenceShown(BaseModel):
    """Reason why something is not among the hits of a search."""

    entry: str
    reason: AbsenceReason
    sentence: str
    rank: int = Field(description="its place among the hits, from 1, if the search ranked it; else 0")


def make_search_router(searching: SearchService, absences: AbsenceFinder) -> APIRouter:
    """Make the routes."""
    router = APIRouter(responses=REFUSALS)

    @router.post("/v1/search", responses=NO_DEVICE, openapi_extra=requires(Role.DEVICE, reads=True))
    async def search(question: SearchQuery, caller: RequestCaller) -> SearchAnswer:
        """Find what boards remember and have noted, and what stands in Markdown folders, by words and by meaning.

        Nothing is found that the one who asks may not see, and with the token of a board nothing but what that one remembers.
        """
        if caller.device:
            is_of_others = any(not caller.may_act_for(device) for device in question.devices)
            if is_of_others or not isinstance(question.folders, bool):
                raise HTTPException(403, f"the token is that of {caller.device}, which searches its own memory only")
            question.devices, question.folders = [caller.device], False
            question.expand = False  # model calls are for the operator
        asking = access.check_caller(Caller(question.principal, "http", question.group, question.workspace))
        options = question.model_dump(exclude={"principal", "group", "workspace"})
        return show_answer(await searching.search(asking, **options), question.limit)

    @router.post("/v1/search/absence", responses=NO_DEVICE, openapi_extra=requires(Role.OPERATOR, reads=True))
    async def absence(question: AbsenceQuery) -> AbsenceShown:
        """Say why a search of a board does not show a memory or a turn that is known."""
        asking = access.check_caller(Caller(question.principal, "http", question.group, question.workspace))
        excluded = {"principal", "group", "workspace", "devices", "entry", "limit", "offset"}
        options = question.model_dump(exclude=excluded)
        found = await absences.explain(asking, question.devices[0], question.entry, question.limit, **options)
        return AbsenceShown(**vars(found))

    return router


def show_answer(result: SearchResult, limit: int) -> SearchAnswer:
    """Convert the result of a search for at most `limit` hits for the API."""
    hits = [vars(hit) | {"kind": hit.kind, "heading": hit.heading if hit.citation else ""} for hit in result.hits]
    found = {
        "hits": hits,
        "plan": PlanShown(**result.plan._asdict(), limit=limit) if result.plan else None,
        "weight": result.meaning_weight,
    }
    return SearchAnswer.model_validate(vars(result) | found, from_attributes=True)
