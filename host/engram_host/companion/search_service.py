"""Search for boards and people by the same engine."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from engram import text
from engram.memory import access, ids, principal_files
from engram.memory.access import Caller
from engram_host.companion.embedding.embedding_service import EmbeddingService
from engram_host.companion.embedding.indexer import read_index
from engram_host.companion.errors import BadSearch, EmbedderError, NoSuchFile, Refused, StoreUnavailable, UnknownDevice
from engram_host.companion.folders.service import FileExcerpt, FolderService, excerpt
from engram_host.companion.metrics import Metrics
from engram_host.companion.replication.messages import Head, hits_answer, line_answer
from engram_host.companion.search.engine import SearchEngine
from engram_host.companion.search.request import MOST_DEVICES, MOST_LINES, REASONS, Hit, SearchRequest, SearchResult
from engram_host.companion.search.view import QueryVector
from engram_host.companion.settings import SearchSettings
from engram_host.companion.store.board_notes import NoteFileTable
from engram_host.companion.store.boards.table import BoardTable
from engram_host.companion.store.markdown_files import FolderTable
from engram_host.companion.store.values import ValueTable
from engram_host.companion.store.vectors import VectorTable
from engram_host.companion.types import FOLDER, LEFT_NOTES, LOGS, NOTES, Device, LogName

_log = logging.getLogger("engram.searching")

MOST_AT_ONCE = 4
"""Maximum concurrent searches; more would share the cores and need more memory."""

EMBED_SECONDS = 10.0

QUICK_EMBED_SECONDS = 0.8
"""Longest wait for a board's query vector; the board waits 1.5 s for the whole answer."""

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
        clock: Callable[[], float] = time.time,
    ):
        self._boards = boards
        self._notes = notes
        self._passages = passages
        self._values = values
        self._settings = settings
        self._folders = folders
        self._clock = clock
        self._metrics = metrics or Metrics()
        self._meaning = meaning
        self._engine = SearchEngine(boards, vectors, settings.index_megabytes << 20)
        self.indexes = self._engine.indexes
        self._making: asyncio.Task[None] | None = None
        self._room = asyncio.Semaphore(MOST_AT_ONCE)
        self._room_of_people = asyncio.Semaphore(MOST_AT_ONCE - 1)

    def start(self) -> None:
        self._making = asyncio.create_task(asyncio.to_thread(self._make_indexes))

    def _make_indexes(self) -> None:
        try:
            sources = sorted(self._boards.sources(), key=lambda device: -device.heard)
            self.indexes.make_ahead(sources, read_index(self._values).made)
        except StoreUnavailable as problem:
            _log.info("the first searches make the other indexes: %s", problem)

    async def stop(self) -> None:
        self.indexes.close()
        if self._making:
            await self._making

    async def search(self, request: SearchRequest, *, is_quick: bool = False) -> SearchResult:
        """Search some or all boards, notes and folders. Raise BadSearch.

        `is_quick` skips a slow vector.
        """
        caller = access.check_caller(Caller(request.principal, "http", request.group, request.workspace))
        if not isinstance(request.folders, bool) and request.log:
            raise BadSearch("folders", "cannot be named together with log, which is one of a board")
        if request.until and request.since >= request.until:
            raise BadSearch("until", "must be later than since")
        if request.offset and request.mmr is not None:
            raise BadSearch("offset", "cannot be used together with mmr")
        request = self._with_defaults(request)
        if not request.words and not request.meaning:
            raise BadSearch("words", "or meaning has to stay on")
        with self._metrics.searches.labels("board" if is_quick else "person").time(), self.indexes.asking():
            began = time.perf_counter()
            vector, problem = await self._vector(request, QUICK_EMBED_SECONDS if is_quick else EMBED_SECONDS)
            took = 1000 * (time.perf_counter() - began)
            # One slot is always free for boards, which wait only briefly.
            async with contextlib.nullcontext() if is_quick else self._room_of_people, self._room:
                result = await asyncio.to_thread(self._search, request, caller, vector)
        return replace(result, embed_ms=took, degraded=result.degraded or problem)

    def _with_defaults(self, request: SearchRequest) -> SearchRequest:
        settings = self._settings
        sides: dict[str, Any] = {
            "words": settings.words if request.words is None else request.words,
            "meaning": settings.meaning if request.meaning is None else request.meaning,
        }
        if request.weight is None and settings.weight >= 0:
            sides["weight"] = settings.weight
        return request.model_copy(update=sides)

    async def _vector(self, request: SearchRequest, seconds: float) -> tuple[QueryVector | None, str]:
        if not request.meaning:
            return None, ""
        try:
            return await self._meaning.vector_of(request.query, seconds), ""
        except EmbedderError as error:
            return None, REASONS.say("query_unembedded", problem=str(error))

    def _search(self, request: SearchRequest, caller: Caller, vector: QueryVector | None) -> SearchResult:
        found = self._sources(request)
        notes = [device for device in found if device.name.startswith(FOLDER)]
        searched = notes if request.log == "notes" else found
        named = None if isinstance(request.folders, bool) else request.folders
        kept = self._folders if request.folders and not request.log else None
        if kept and (kept.standings or named):
            searched = searched + kept.searchable_folders(caller, named)
        else:
            kept = None
        if searched:
            result = self._engine.search(request, caller, searched, int(self._clock()), vector)
        else:
            missing = "no_notes" if found else "folders_unread" if named else "no_boards"
            result = SearchResult((), why_empty=REASONS.say(missing))
        if result.plan:
            kinds = _kinds(request, has_boards=bool(found), has_notes=bool(notes), has_folders=bool(kept))
            result = replace(result, plan=replace(result.plan, kinds=kinds))
        if kept:
            result = kept.with_citations(result, request.query, caller, named)
        return replace(result, hits=tuple(hit for each in result.hits if (hit := self._with_citation(each))))

    def _sources(self, request: SearchRequest) -> list[Device]:
        """Return the wanted boards and their notes."""
        names = list(dict.fromkeys(request.devices))
        if not names:
            if not isinstance(request.folders, bool):
                return []
            names = [device.name for device in self._boards.devices()]
        if len(names) > MOST_DEVICES:
            raise BadSearch("devices", f"must name the boards to search, at most {MOST_DEVICES} of the {len(names)}")
        kinds = () if request.log in LOGS else (NOTES, LEFT_NOTES)
        try:
            found = self._boards.search_sources(names, kinds)
        except UnknownDevice as unknown:
            self.indexes.drop(unknown.name)
            raise
        lines = sum(sum(device.have.values()) for device in found)
        if len(names) > 1 and lines > MOST_LINES:
            raise BadSearch("devices", f"must name fewer boards: these have {lines:,} lines, more than {MOST_LINES:,}")
        return found

    def _with_citation(self, hit: Hit) -> Hit | None:
        """Return a hit in notes, which are stored as passages of a folder, as a line of a board's notes."""
        prefix = next((prefix for prefix in (NOTES, LEFT_NOTES) if hit.device.startswith(prefix)), "")
        if not prefix:
            return hit
        file = self._passages.file(hit.device, hit.path)
        line = next((first for seq, first, _ in file.places if seq == hit.seq), 0) if file else 0
        name, _ = principal_files.principal_of(hit.path)
        cited = f"{name}#{line}"
        found = replace(hit, device=hit.device.removeprefix(prefix), id=cited, path=name, citation=cited, kind="note")
        return replace(found, is_on_board=prefix == NOTES) if line else None

    async def answer_get(self, device: str, head: Head) -> list[bytes]:
        ref = head["id"]
        number = ids.number("id", ref, "t" if ref[:1] == "t" else "m")
        log: LogName = "journal" if ref[:1] == "t" else "records"
        async with self._room:
            line = await asyncio.to_thread(self._engine.read, device, log, number, _caller(head), int(self._clock()))
        return [line_answer(head, line)]

    async def answer_file(self, device: str, head: Head) -> list[bytes]:
        span = head["path"], head["first"], head["count"]
        found = await asyncio.to_thread(self._read_file, device, _caller(head), *span)
        lines = excerpt(found.path, found.lines, 1, len(found.lines), MOST_FILE_CHARACTERS).lines
        answer: dict[str, Any] = {"file": found.path, "first": found.first, "lines": lines}
        if len(lines) < len(found.lines) or found.following:
            answer["next_first"] = found.first + len(lines)
        return [line_answer(head, text.dumps(answer).encode())]

    async def read_lines(self, caller: Caller, path: str, first: int, count: int, device: str = "") -> FileExcerpt:
        """Return the lines of a citation, with `device` of a note of that board. Raise NoSuchFile, FileUnreadable."""
        return await asyncio.to_thread(
            self._read_note if device else self._read_file, device, caller, path, first, count
        )

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

    async def answer_board(self, device: str, head: Head) -> list[bytes]:
        """Answer a board's search: ids of its entries, and the text of archived ones."""
        fields = ("query", "limit", "tags", "since", "until", "folders", "principal", "group", "workspace")
        try:
            request = SearchRequest.model_validate({"devices": [device]} | {name: head[name] for name in fields})
        except ValidationError as problem:
            raise Refused(f"{problem.errors()[0]['loc'][0]} is out of its bounds.") from None
        result = await self.search(request, is_quick=True)
        near = [hit for hit in result.hits if hit.is_near]
        return [hits_answer(head, near, result.degraded, result.confidence)]


def _caller(head: Head) -> Caller:
    return access.check_caller(Caller(head["principal"], "link", head["group"], head["workspace"]))


def _kinds(request: SearchRequest, *, has_boards: bool, has_notes: bool, has_folders: bool) -> list[str]:
    only_turns = request.log == "journal" or bool(request.session or request.speaker)
    only_records = request.log == "records" or bool(request.tags or request.type)
    is_of_logs = has_boards and request.log != "notes"
    kinds = {
        "memories": is_of_logs and not only_turns,
        "turns": is_of_logs and not only_records,
        "notes": has_notes or request.log == "notes",
        "folders": has_folders,
    }
    return [kind for kind, is_searched in kinds.items() if is_searched]
