"""Search for boards and people by the same engine."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from typing import Any

from engram import text
from engram.errors import ArgumentError
from engram.memory import access, ids
from engram.memory.access import Caller
from engram_host.companion.embedding.embedding_service import EmbeddingService
from engram_host.companion.embedding.indexer import read_index
from engram_host.companion.errors import (
    BadSearch,
    CompanionError,
    EmbedderError,
    EmbedderUnavailable,
    ExpansionError,
    NoSuchFile,
    Refused,
    RerankerError,
    StoreUnavailable,
    UnknownDevice,
)
from engram_host.companion.folders import note_hits
from engram_host.companion.folders.service import FileExcerpt, FolderService, excerpt
from engram_host.companion.metrics import Metrics
from engram_host.companion.replication.answer_bodies import hits_answer, line_answer
from engram_host.companion.replication.messages import FileHead, GetHead, SearchHead
from engram_host.companion.search.engine import EmbedQuery, QueryVector, SearchEngine
from engram_host.companion.search.expansion import QueryExpander
from engram_host.companion.search.indexes.cache import IndexCache
from engram_host.companion.search.request import (
    MOST_DEVICES,
    MOST_LINES,
    REASONS,
    Hit,
    SearchRequest,
    SearchResult,
    Weights,
)
from engram_host.companion.search.reranker import Reranker
from engram_host.companion.settings import SearchSettings
from engram_host.companion.store.board_notes import NoteFileTable
from engram_host.companion.store.boards.table import BoardTable
from engram_host.companion.store.markdown_files import FolderTable
from engram_host.companion.store.values import ValueTable
from engram_host.companion.store.vectors import VectorTable
from engram_host.companion.types import FOLDER, LOGS, LogName

_log = logging.getLogger("engram.searching")

MOST_AT_ONCE = 4
"""Maximum concurrent searches; more would share the cores and need more memory."""

EMBED_SECONDS = 10.0

QUICK_EMBED_SECONDS = 0.8
"""Longest wait for a board's query vector; the board waits 1.5 s for the whole answer."""

QUICK_SECONDS = 1.2

MOST_FILE_CHARACTERS = 3000


class SearchService:
    def __init__(
        self,
        *,
        boards: BoardTable,
        notes: NoteFileTable,
        passages: FolderTable,
        values: ValueTable,
        vectors: VectorTable,
        settings: SearchSettings,
        meaning: EmbeddingService,
        folders: FolderService | None = None,
        metrics: Metrics | None = None,
        reranker: Reranker | None = None,
        expander: QueryExpander | None = None,
        clock: Callable[[], float] = time.time,
    ):
        self._boards = boards
        self._notes = notes
        self._passages = passages
        self._values = values
        self._vectors = vectors
        self._settings = settings
        self._folders = folders
        self._clock = clock
        self._metrics = metrics or Metrics()
        self._meaning = meaning
        self._reranker = reranker
        self._expander = expander
        self._cache = IndexCache(boards, vectors, settings.index_megabytes << 20)
        self._making: asyncio.Task[None] | None = None
        self._room = asyncio.Semaphore(MOST_AT_ONCE)
        self._room_of_people = asyncio.Semaphore(MOST_AT_ONCE - 1)

    @property
    def indexes(self) -> IndexCache:
        return self._cache

    @property
    def index_bytes(self) -> int:
        return self._cache.nbytes

    @property
    def indexed(self) -> list[str]:
        return self._cache.board_names

    def start(self) -> None:
        self._making = asyncio.create_task(asyncio.to_thread(self._make_indexes))

    def _make_indexes(self) -> None:
        try:
            sources = sorted(self._boards.sources(), key=lambda device: -device.heard)
            self._cache.make_ahead(sources, read_index(self._values).made)
        except StoreUnavailable as problem:
            _log.info("the first searches make the other indexes: %s", problem)

    async def stop(self) -> None:
        self._cache.close()
        if self._making:
            await self._making

    async def search(
        self,
        caller: Caller,
        *,
        devices: Iterable[str] = (),
        words: bool | None = None,
        meaning: bool | None = None,
        weight: float | None = None,
        is_quick: bool = False,
        folders: bool | Collection[str] = False,
        rerank: bool = True,
        expand: bool = True,
        **options: Any,
    ) -> SearchResult:
        """Search some or all boards; `options` are those of SearchRequest. Raise BadSearch.

        `is_quick` skips a slow vector and query expansion, and limits notes to those that the board lacks.
        `folders` without `devices` searches no board; `rerank` and `expand` only switch settings off.
        """
        names = tuple(devices)
        chosen = None if isinstance(folders, bool) else folders
        is_in_folders_only = chosen is not None and not names
        if chosen is not None and options.get("log"):
            raise BadSearch("folders", "cannot be named together with log, which is one of a board")
        # Most searches are in one board and need no list of the others.
        if len(names) != 1 and (names or chosen is None):
            names = await asyncio.to_thread(self._boards_of, names)
        kept = self._folders if self._is_in_folders(folders, options.get("log")) else None
        boards, log = names, options.get("log")
        names, options = await asyncio.to_thread(self._with_notes, names, options, only_left=is_quick)
        notes_until = len(names)
        if kept:
            names += await asyncio.to_thread(kept.searchable_folders, caller, chosen)
        settings = self._settings
        if not names:
            missing = "no_notes" if boards else "no_boards" if chosen is None else "folders_unread"
            empty = SearchResult((), why_empty=REASONS.say(missing))
            return kept.with_citations(empty, "", caller, chosen) if kept else empty
        if weight is None and settings.weight >= 0:
            weight = settings.weight
        options["tags"] = tuple(options.get("tags", ()))
        request = SearchRequest(
            devices=names,
            caller=caller,
            now=int(self._clock()),
            use_words=settings.words if words is None else words,
            use_meaning=settings.meaning if meaning is None else meaning,
            weights=Weights(meaning=weight),
            reranked=self._reranker.candidates if self._reranker and rerank and not options.get("offset") else 0,
            **options,
        )
        with self._metrics.measure_search("board" if is_quick else "person"):
            # A board waits 1.5 s; a chat model takes longer.
            result = await self._search(request, is_quick, expand and not is_quick)
        if result.plan:
            kinds = [] if is_in_folders_only else _kinds(result.plan.kinds, log, len(boards) < notes_until)
            result = replace(result, plan=replace(result.plan, kinds=kinds + ["folders"] * bool(kept)))
        if kept:
            asked = " ".join((request.query, *result.wordings))
            result = await asyncio.to_thread(kept.with_citations, result, asked, caller, chosen)
        if any(hit.device.startswith(FOLDER) for hit in result.hits):
            result = await asyncio.to_thread(note_hits.with_citations, self._passages, result)
        return result

    def _with_notes(
        self, boards: tuple[str, ...], options: dict[str, Any], *, only_left: bool
    ) -> tuple[tuple[str, ...], dict[str, Any]]:
        log = options.get("log")
        if not boards or log in LOGS:
            return boards, options
        notes = tuple(self._notes.note_sources(boards, only_left))
        if log == "notes":
            for name in boards:
                self._boards.device(name)  # else an unknown board is not reported
            return notes, options | {"log": None}
        return boards + notes, options

    def _is_in_folders(self, folders: bool | Collection[str], log: LogName | None) -> bool:
        if self._folders is None or not folders or log:
            return False
        return not isinstance(folders, bool) or bool(self._folders.standings)

    async def _search(self, request: SearchRequest, is_quick: bool, expand: bool) -> SearchResult:
        began = time.perf_counter()
        (embedded, took), (request, problem) = await asyncio.gather(
            self._embedded(request, QUICK_EMBED_SECONDS if is_quick else EMBED_SECONDS),
            self._expanded(request) if expand else _unchanged(request),
        )
        engine = SearchEngine(self._boards, self._vectors, self._cache, embedded)
        # One slot is always free for boards, which wait only briefly.
        async with contextlib.nullcontext() if is_quick else self._room_of_people, self._room:
            result = await asyncio.to_thread(engine.search, request)
        result = replace(result, embed_ms=took, degraded=_join(result.degraded, problem))
        if not (self._reranker and request.reranked):
            return result
        # Outside the limit: it waits for a service and needs neither an index nor a core.
        left = QUICK_SECONDS - (time.perf_counter() - began) if is_quick else self._reranker.longest_seconds
        return await self._reranked(self._reranker, request, result, left)

    async def _reranked(
        self, reranker: Reranker, request: SearchRequest, result: SearchResult, seconds: float
    ) -> SearchResult:
        began = time.perf_counter()
        hits, degraded = result.hits, result.degraded
        try:
            hits = await reranker.rerank(request.query, hits, max(0.0, seconds))
        except RerankerError as error:
            self._metrics.search_step_failed("rerank")
            degraded = _join(degraded, REASONS.say("not_reranked", problem=str(error)))
        took = 1000 * (time.perf_counter() - began)
        return replace(result, hits=hits[: request.limit], degraded=degraded, rerank_ms=took)

    async def _expanded(self, request: SearchRequest) -> tuple[SearchRequest, str]:
        if not (self._expander and request.use_words):
            return request, ""
        try:
            return replace(request, wordings=await self._expander.wordings_of(request.query)), ""
        except ExpansionError as error:
            self._metrics.search_step_failed("expand")
            return request, f"the query was searched without other wordings: {error}"

    async def _embedded(self, request: SearchRequest, seconds: float) -> tuple[EmbedQuery, float]:
        began = time.perf_counter()
        found: QueryVector | EmbedderError
        if request.use_meaning:
            try:
                found = await self._meaning.vector_of(request.query, seconds)
            except EmbedderError as error:
                found = error
        else:
            found = EmbedderUnavailable("meaning is not wanted.")

        def give(_query: str) -> QueryVector:
            if isinstance(found, EmbedderError):
                raise found
            return found

        return give, 1000 * (time.perf_counter() - began)

    def _boards_of(self, names: tuple[str, ...]) -> tuple[str, ...]:
        boards = [self._boards.device(name) for name in names] if names else self._boards.devices()
        lines = sum(sum(board.have.values()) for board in boards)
        if len(boards) > MOST_DEVICES:
            raise BadSearch("devices", f"must name the boards to search, at most {MOST_DEVICES} of the {len(boards)}")
        if len(boards) > 1 and lines > MOST_LINES:
            raise BadSearch("devices", f"must name fewer boards: these have {lines:,} lines, more than {MOST_LINES:,}")
        return tuple(board.name for board in boards)

    async def answer_get(self, device: str, head: GetHead) -> list[bytes]:
        caller = Caller(head["principal"], "link", head["group"], head["workspace"])
        ref = head["id"]
        try:
            access.check_caller(caller)
            number = ids.number("id", ref, "t" if ref[:1] == "t" else "m")
            log: LogName = "journal" if ref[:1] == "t" else "records"
            async with self._room:
                engine = SearchEngine(self._boards, self._vectors, self._cache)
                line = await asyncio.to_thread(engine.read, device, log, number, caller, int(self._clock()))
        except UnknownDevice:
            raise Refused("the companion has nothing of this board yet.", 0) from None
        except (ArgumentError, CompanionError) as problem:
            raise Refused(str(problem), 60) from None
        return [line_answer(head, line)]

    async def answer_file(self, device: str, head: FileHead) -> list[bytes]:
        caller = Caller(head["principal"], "link", head["group"], head["workspace"])
        try:
            access.check_caller(caller)
            found = await asyncio.to_thread(self._read_file, device, caller, head["path"], head["first"], head["count"])
        except (ArgumentError, CompanionError) as problem:
            raise Refused(str(problem), 60) from None
        lines: list[str] = []
        room = MOST_FILE_CHARACTERS
        for line in found.lines:
            if lines and len(line) > room:
                break
            lines.append(text.cut(line, room))
            room -= len(lines[-1])
        answer: dict[str, Any] = {"file": found.path, "first": found.first, "lines": lines}
        if len(lines) < len(found.lines) or found.following:
            answer["next_first"] = found.first + len(lines)
        return [line_answer(head, text.dumps(answer).encode())]

    async def read_lines(self, caller: Caller, path: str, first: int, count: int, device: str = "") -> FileExcerpt:
        """Return the lines of a citation, with `device` of a note of that board. Raise NoSuchFile, FileUnreadable."""
        if device:
            return await asyncio.to_thread(self._read_note, device, caller, path, first, count)
        return await asyncio.to_thread(self._read_file, device, caller, path, first, count)

    def _read_note(self, device: str, caller: Caller, path: str, first: int, count: int) -> FileExcerpt:
        lines = None if caller.group else self._notes.note_lines(device, path, access.notebook_of(caller))
        if lines is None:
            raise NoSuchFile(path)
        return excerpt(path, lines, first, count)

    def _read_file(self, device: str, caller: Caller, path: str, first: int, count: int) -> FileExcerpt:
        if device:
            with contextlib.suppress(NoSuchFile):
                return self._read_note(device, caller, path, first, count)
        if not self._folders:
            raise NoSuchFile(path)
        return self._folders.lines(caller, path, first, count)

    async def answer_board(self, device: str, head: SearchHead) -> list[bytes]:
        """Answer a board's search: ids of its entries, and the text of archived ones."""
        caller = Caller(head["principal"], "link", head["group"], head["workspace"])
        try:
            access.check_caller(caller)
            result = await self.search(
                caller,
                devices=(device,),
                is_quick=True,
                query=head["query"],
                limit=head["limit"],
                tags=head["tags"],
                since=head["since"],
                until=head["until"],
                folders=head["folders"],
            )
        except UnknownDevice:
            raise Refused("the companion has nothing of this board yet.", 0) from None
        except (ArgumentError, CompanionError) as problem:
            raise Refused(str(problem), 60) from None
        return [hits_answer(head, _with_falling_scores(result.hits), result.degraded, result.confidence)]


def _kinds(of_logs: list[str], log: str | None, has_notes: bool) -> list[str]:
    return ["notes"] if log == "notes" else of_logs + ["notes"] * has_notes


async def _unchanged(request: SearchRequest) -> tuple[SearchRequest, str]:
    return request, ""


def _join(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


def _with_falling_scores(hits: tuple[Hit, ...]) -> list[Hit]:
    """Lower scores where a hit exceeds the one before, since boards sort by score."""
    scores = sorted((hit.score for hit in hits), reverse=True)
    return [replace(hit, score=score) for hit, score in zip(hits, scores, strict=True)]
