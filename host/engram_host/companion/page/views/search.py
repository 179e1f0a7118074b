"""Search in all boards and folders or in one board, with explained scores."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import Query, Request, Response
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field

from engram.memory.access import Caller
from engram.memory.confidence import CERTAIN, WEAK
from engram_host.companion.api.copies import DeviceName
from engram_host.companion.app import CompanionApp
from engram_host.companion.errors import CompanionError
from engram_host.companion.page.formatting import cut_text, day_seconds, html_bytes, part_bytes, take_fitting
from engram_host.companion.page.page import Page, Views, is_part
from engram_host.companion.search.request import MOST_HITS, MOST_QUERY, Explanation, Hit, SearchRequest, SearchResult
from engram_host.companion.types import DEVICE_NAME
from engram_host.time_zones import BoardZone

AT_ONCE = 10

MOST_BYTES = 44000
"""HTML of a view's hits; the next one has the rest."""

OWNER = Caller("owner", "page", False, "")

MOST_LINES = 100

_CUT = 600

_BEFORE, _AROUND = 2, 7
"""Lines of a file before a hit, and in all."""

_MOST_LINE, _MOST_FILE_LINE = 300, 4000

_LINE_BYTES = 30

_MOST_BARS = 12
_POINTS = ("meaning", "session", "speaker", "reply", "importance", "dates")
_DAY = r"^(\d{4}-\d{2}-\d{2})?$"


class SearchForm(BaseModel):
    """Form of a search."""

    q: Annotated[str, Field(max_length=MOST_QUERY)] = ""
    kind: Literal["", "records", "journal", "notes"] = ""
    tag: Annotated[str, Field(max_length=64)] = ""
    since: Annotated[str, Field(pattern=_DAY)] = ""
    until: Annotated[str, Field(pattern=_DAY)] = ""
    history: bool = False
    words: bool = False
    after: Annotated[int, Field(ge=0, lt=MOST_HITS)] = 0

    @property
    def query(self) -> str:
        return self.q.strip()

    @property
    def has_filters(self) -> bool:
        return bool(self.kind or self.tag or self.since or self.until or self.history or self.words)


@dataclass(frozen=True)
class Bar:
    key: str
    name: str
    value: float


@dataclass(frozen=True)
class Context:
    first: int
    lines: tuple[str, ...]
    cited: int


@dataclass(frozen=True)
class ShownHit:
    rank: int
    hit: Hit
    text: str
    address: str
    points: tuple[Bar, ...]
    made_of: tuple[Bar, ...]
    context: Context | None


class _Hits:
    def __init__(self, page: Page, companion: CompanionApp):
        self._page = page
        self._companion = companion

    async def render(self, request: Request, form: SearchForm, result: SearchResult, device: str) -> dict[str, Any]:
        hits = list(enumerate(result.hits, 1))[form.after : form.after + AT_ONCE]
        zones = await self._companion.overviews.zones({hit.device for _, hit in hits})
        rendered: list[str] = []
        for rank, hit in hits:
            shown, zone = await self._shown(rank, hit), zones.get(hit.device)
            rendered.append(self._page.part(request, "parts/search_hit.html", shown=shown, device=device, zone=zone))
        parts = take_fitting(rendered, MOST_BYTES, part_bytes)
        last = form.after + len(parts)
        has_more = last < MOST_HITS and (last < len(result.hits) or (bool(result.left_out) and len(parts) == AT_ONCE))
        return {"result": result, "parts": parts, "certainty": _certainty(result), "next": last if has_more else 0}

    async def _shown(self, rank: int, hit: Hit) -> ShownHit:
        explained = hit.explanation
        return ShownHit(
            rank,
            hit,
            cut_text(hit.text, _CUT),
            _address(hit),
            _points(explained) if explained else (),
            tuple(Bar(what, "", value) for what, value in explained.confidence) if explained else (),
            await self._context(hit),
        )

    async def _context(self, hit: Hit) -> Context | None:
        path, _, line = hit.citation.rpartition("#")
        if not path:
            return None
        first = max(1, int(line) - _BEFORE)
        try:
            found = await self._companion.search.read_lines(OWNER, path, first, _AROUND, hit.device)
        except CompanionError:
            return None
        return Context(first, tuple(cut_text(each, _MOST_LINE) for each in found.lines), int(line))


def add_search_views(views: Views, page: Page, companion: CompanionApp) -> None:
    hits = _Hits(page, companion)

    async def show(request: Request, form: SearchForm, device: str = "") -> Response:
        zone = (await companion.overviews.summary(device)).zone if device else BoardZone()
        found: dict[str, Any] | None = None
        if form.query:
            limit = min(MOST_HITS, form.after + AT_ONCE)
            result = await companion.search.search(_search_request(form, device, zone, limit))
            found = await hits.render(request, form, result, device)
        results = page.part(request, "parts/search_results.html", form=form, found=found, device=device)
        if is_part(request):
            return HTMLResponse(results)
        return page.render(request, "search.html", device=device, form=form, results=results, most=MOST_QUERY)

    @views.get("/search")
    async def search(request: Request, form: Annotated[SearchForm, Query()]) -> Response:
        return await show(request, form)

    @views.get("/boards/{device}/search")
    async def search_board(request: Request, device: DeviceName, form: Annotated[SearchForm, Query()]) -> Response:
        return await show(request, form, device)

    @views.get("/search/file")
    async def file(
        request: Request,
        path: Annotated[str, Query(min_length=1, max_length=1300)],
        first: Annotated[int, Query(alias="from", ge=1, le=1 << 30)] = 1,
        board: Annotated[str, Query(pattern=f"^({DEVICE_NAME})?$")] = "",
    ) -> Response:
        found = await companion.search.read_lines(OWNER, path, first, MOST_LINES, board)
        cut = (cut_text(each, _MOST_FILE_LINE) for each in found.lines)
        lines = take_fitting(cut, MOST_BYTES, lambda each: html_bytes(each) + _LINE_BYTES)
        return page.render(
            request,
            "file.html",
            device=board,
            found=found,
            lines=lines,
            following=first + len(lines) if lines and first + len(lines) <= found.total else 0,
            before=max(1, first - MOST_LINES) if first > 1 else 0,
        )


def _search_request(form: SearchForm, device: str, zone: BoardZone, limit: int) -> SearchRequest:
    """Return the search of a form; days in the board's zone, else UTC; raises HTTPException."""
    return SearchRequest(
        query=form.query,
        devices=[device] if device else [],
        folders=not device,
        limit=limit,
        log=form.kind or None,
        tags=[form.tag.strip()] if form.tag.strip() else [],
        since=day_seconds(form.since, zone),
        until=day_seconds(form.until, zone, 1),  # inclusive
        history=form.history,
        meaning=False if form.words else None,
        explain=True,
    )


def _address(hit: Hit) -> str:
    if hit.kind == "memory":
        return f"/boards/{hit.device}/memories/{hit.id}"
    if hit.kind == "turn":
        return f"/boards/{hit.device}/days?turn={hit.id}"
    path, _, line = hit.citation.rpartition("#")
    if not path:
        return ""
    board = f"&board={hit.device}" if hit.device else ""
    return f"/search/file?path={quote(path)}&from={line}{board}"


def _points(explained: Explanation) -> tuple[Bar, ...]:
    bars = [Bar("word", word, value) for word, value in explained.words]
    bars += [Bar("beside", turn, value) for turn, value in explained.beside]
    bars += [Bar(name, "", getattr(explained, name)) for name in _POINTS]
    return tuple(sorted((bar for bar in bars if bar.value), key=lambda bar: -abs(bar.value))[:_MOST_BARS])


def _certainty(result: SearchResult) -> str:
    thousandths = result.confidence * 1000
    if not result.hits:
        return ""
    return "sure" if thousandths >= WEAK else "weak" if thousandths >= CERTAIN else "uncertain"
