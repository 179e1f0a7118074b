"""Imports into boards: previews, and tasks that send the lines of started ones.

The next line follows once the board has answered; a line's message id is fixed, so that a line
sent again after a restart is a repeat.
"""

import asyncio
import contextlib
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from engram.errors import ArgumentError
from engram.memory.access import OWNER
from engram_host.companion.conversations.service import Answer, ConversationService, Progress
from engram_host.companion.errors import (
    REFUSALS,
    CompanionError,
    ImportRefused,
    StoreUnavailable,
    TooManyWaiting,
    UnknownConversation,
    UnknownImport,
)
from engram_host.companion.imports.files import ImportFiles, ImportLine, ImportStatus
from engram_host.companion.imports.preview import preview_import
from engram_host.companion.store.board_notes import NoteFileTable
from engram_host.companion.store.boards.table import BoardTable
from engram_host.companion.store.processes import Lease, LeasedPart
from engram_host.companion.supervisor import Supervisor, wait_for_event
from engram_host.companion.types import ConversationState, Piece, Said
from engram_host.sentences import SentenceTable
from engram_host.transfer.report import (
    ENDS_IMPORT,
    NOTHING_DONE,
    ImportOutcome,
    ImportRefusal,
    import_command,
    parse_reports,
    read_reports,
)

MOST_BYTES = 1_000_000  # bytes of a file, below the limit of a request
ROOM = "import"  # room of the messages, which no chat shows
MOST_RUNNING = 16  # concurrent imports, one per board
MOST_KEPT = 100  # imports kept; beyond it the oldest that do not run are removed
KEPT_SECONDS = 7 * 86400
PREVIEW_SECONDS = 86400  # lifetime of an import after its last change, and of one never started
LOOK_SECONDS = 1.0  # interval of checks for a cancellation by another companion on the folder
_SCAN_SECONDS = 5.0  # interval of checks for imports started by another companion
_AGAIN_SECONDS = 5.0

# States of an unanswered message; "" before the first.
_UNFINISHED = ("", "waiting", "taken", "answering")

# Reasons for a stopped import.
STOPS = SentenceTable("import_stop")


@dataclass(frozen=True)
class ImportLines:
    """A page of lines of an import, and the total."""

    total: int
    lines: list[ImportLine]


@dataclass(frozen=True)
class _LineAnswer:
    outcome: ImportOutcome | None = None
    refused: Sequence[ImportRefusal] = ()
    problem: str = ""
    state: ConversationState | Literal[""] = ""


class ImportService(LeasedPart):
    def __init__(
        self,
        *,
        boards: BoardTable,
        notes: NoteFileTable,
        conversations: ConversationService,
        home: Path,
        supervisor: Supervisor,
        lease: Lease,
        clock: Callable[[], float] = time.time,
    ):
        super().__init__(supervisor, "imports", lease)
        self._boards = boards
        self._notes = notes
        self._conversations = conversations
        self._files = ImportFiles(home)
        self._clock = clock
        self._running: dict[str, asyncio.Task[None]] = {}
        self._wake = asyncio.Event()

    # --- requests

    async def preview(self, device: str, name: str, data: bytes) -> ImportStatus:
        if len(data) > MOST_BYTES:
            raise ImportRefused(REFUSALS.say("import_large", bytes=len(data), most=MOST_BYTES))
        return await asyncio.to_thread(self._preview, device, name, data)

    async def find(self, device: str, import_id: str) -> ImportStatus:
        return await asyncio.to_thread(self._find, device, import_id)

    async def list_imports(self, device: str) -> list[ImportStatus]:
        await asyncio.to_thread(self._boards.device, device)
        return [status for status in await asyncio.to_thread(self._files.list_imports) if status.device == device]

    async def lines(self, device: str, import_id: str, outcome: str, offset: int, limit: int) -> ImportLines:
        """Return lines with a previewed outcome ("": any); raises UnknownImport."""
        return await asyncio.to_thread(self._lines, device, import_id, outcome, offset, limit)

    async def begin(self, device: str, import_id: str) -> ImportStatus:
        """Start an import, or resume a failed or cancelled one; raises UnknownImport or ImportRefused."""
        status = await asyncio.to_thread(self._begin, device, import_id)
        self._wake.set()
        return status

    async def cancel(self, device: str, import_id: str) -> None:
        """Cancel an import after its current line, or remove an idle one; raises UnknownImport."""
        await asyncio.to_thread(self._cancel, device, import_id)
        self._wake.set()

    # --- in threads

    def _preview(self, device: str, name: str, data: bytes) -> ImportStatus:
        now = int(self._clock())
        found = preview_import(self._boards, self._notes, device, name, data, now)
        if not found.lines:
            raise ImportRefused(REFUSALS.say("import_empty"))
        status = ImportStatus(secrets.token_hex(8), device, name[:200], now, changed=now)
        status.total = len(found.lines)
        status.expected, status.notes, status.unknown = found.counts, found.notes, found.unknown
        with _refused_if_unkept():
            self._files.add(status, found.lines)
        self._remove_old(now)
        return status

    def _find(self, device: str, import_id: str) -> ImportStatus:
        status = self._files.read(import_id)
        if status.device != device:
            raise UnknownImport(import_id)
        return status

    def _lines(self, device: str, import_id: str, outcome: str, offset: int, limit: int) -> ImportLines:
        self._find(device, import_id)
        fitting = [line for line in self._files.lines(import_id) if outcome in ("", line.outcome)]
        return ImportLines(len(fitting), fitting[offset : offset + limit])

    def _begin(self, device: str, import_id: str) -> ImportStatus:
        self._find(device, import_id)
        with _refused_if_unkept(), self._files.locked():
            status = self._find(device, import_id)
            if status.state in ("running", "done"):
                return status
            running = [each for each in self._files.list_imports() if each.state == "running"]
            if any(each.device == device for each in running):
                raise ImportRefused(REFUSALS.say("import_runs", board=device))
            if len(running) >= MOST_RUNNING:
                raise ImportRefused(REFUSALS.say("imports_run", count=MOST_RUNNING))
            self._files.drop_cancel(import_id)
            status.state, status.told, status.attempt = "running", "", status.attempt + 1
            self._save(status)
            return status

    def _cancel(self, device: str, import_id: str) -> None:
        if self._find(device, import_id).state == "running":
            self._files.ask_cancel(import_id)
        else:
            self._files.remove(import_id)

    def _save(self, status: ImportStatus) -> None:
        status.changed = int(self._clock())
        self._files.save(status)

    def _remove_old(self, now: int) -> None:
        for kept, status in enumerate(self._files.list_imports(), 1):
            longest = PREVIEW_SECONDS if status.state == "preview" else KEPT_SECONDS
            if status.state != "running" and (now - status.changed > longest or kept > MOST_KEPT):
                self._files.remove(status.id)

    # --- in the background

    async def _run(self) -> None:
        try:
            while True:
                await self._start_tasks()
                await wait_for_event(self._wake, _SCAN_SECONDS)
        finally:
            for task in self._running.values():
                task.cancel()
            await asyncio.gather(*self._running.values(), return_exceptions=True)
            self._running.clear()

    async def _start_tasks(self) -> None:
        for import_id, task in list(self._running.items()):
            if task.done():
                del self._running[import_id]
                task.result()  # the supervisor handles unknown errors
        for status in await asyncio.to_thread(self._files.list_imports):
            if status.state == "running" and status.id not in self._running:
                self._running[status.id] = asyncio.create_task(self._import(status), name="imports")

    async def _import(self, status: ImportStatus) -> None:
        try:
            lines = await asyncio.to_thread(lambda: list(self._files.lines(status.id, status.sent)))
            for line in lines:
                if await self._is_cancelled(status, line) or not await self._passed(status, line):
                    return
            status.state, status.told = "done", ""
        except UnknownImport as problem:
            status.state, status.told = "failed", problem.sentence
        except OSError as error:
            status.state, status.told = "failed", STOPS.say("folder", problem=str(error.strerror))
        await self._kept(status)

    async def _is_cancelled(self, status: ImportStatus, line: ImportLine) -> bool:
        """True if cancelled before a line that a stopped companion may already have sent."""
        if not await asyncio.to_thread(self._files.is_cancel_asked, status.id):
            return False
        await self._cancel_message(status, line)
        status.state, status.told = "cancelled", ""
        await self._kept(status)
        return True

    async def _cancel_message(self, status: ImportStatus, line: ImportLine) -> None:
        with contextlib.suppress(UnknownConversation, StoreUnavailable):
            await self._conversations.cancel(status.device, _message_id(status, line))

    async def _passed(self, status: ImportStatus, line: ImportLine) -> bool:
        if line.fields is None:
            status.refuse(line.number, line.why)
        else:
            answer = await self._answer(status, line)
            if answer is None:
                status.state, status.told = "cancelled", ""
            else:
                _take_answer(status, line, answer)
        if status.state == "running":
            status.sent += 1
            status.told = ""
        await self._kept(status)
        return status.state == "running"

    async def _answer(self, status: ImportStatus, line: ImportLine) -> _LineAnswer | None:
        asking = asyncio.create_task(self._ask(status, line))
        try:
            while not asking.done():
                await asyncio.wait([asking], timeout=LOOK_SECONDS)
                if not asking.done() and await asyncio.to_thread(self._files.is_cancel_asked, status.id):
                    await self._cancel_message(status, line)
                    return None
            # An answered line counts, even the last one before a cancellation.
            return asking.result()
        finally:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)

    async def _ask(self, status: ImportStatus, line: ImportLine) -> _LineAnswer:
        said = Said(
            _message_id(status, line), OWNER.principal, import_command(line.fields or {}), ROOM, is_command=True
        )
        while True:
            try:
                await self._conversations.say(status.device, said)
                answer = await self._follow(status, said.mid)
                if answer.state not in _UNFINISHED:
                    return answer
                # The companion is stopping: the next start asks about the line again.
                await asyncio.sleep(_AGAIN_SECONDS)
            except (TooManyWaiting, StoreUnavailable) as problem:
                await self._told(status, problem.sentence)
                await asyncio.sleep(_AGAIN_SECONDS)
            except ArgumentError as problem:
                refusal = ImportRefusal(code=problem.argument, why=str(problem))
                return _LineAnswer(NOTHING_DONE, [refusal])
            except CompanionError as problem:
                return _LineAnswer(problem=problem.sentence)

    async def _follow(self, status: ImportStatus, mid: str) -> _LineAnswer:
        answer = Answer()
        state: ConversationState | Literal[""] = ""
        async for event in self._conversations.follow_patiently(status.device, mid):
            if isinstance(event, Piece):
                answer.add([event])
            elif isinstance(event, Progress):
                state = event.conversation.state
                if event.told:
                    await self._told(status, event.told)
        outcome, refused = read_reports(parse_reports(answer.reports))
        return _LineAnswer(outcome, refused, " ".join(answer.problems), state)

    async def _told(self, status: ImportStatus, told: str) -> None:
        if told != status.told:
            status.told = told
            await self._kept(status)

    async def _kept(self, status: ImportStatus) -> None:
        with contextlib.suppress(FileNotFoundError):  # it was removed together with the companion's folder
            await asyncio.to_thread(self._save, status)


@contextlib.contextmanager
def _refused_if_unkept() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ImportRefused(REFUSALS.say("import_unkept", problem=str(error.strerror))) from None


def _message_id(status: ImportStatus, line: ImportLine) -> str:
    return f"import:{status.id}:{line.number}:{status.attempt}"


def _take_answer(status: ImportStatus, line: ImportLine, answer: _LineAnswer) -> None:
    ends = next((each["why"] for each in answer.refused if each["code"] in ENDS_IMPORT), "")
    outcome = answer.outcome
    if ends or (answer.problem and outcome is None):
        status.state, status.told = "failed", ends or answer.problem
    elif outcome is None:
        status.state = "failed"
        status.told = STOPS.say("lost" if answer.state == "done" else answer.state)
    else:
        for word, count in outcome["counts"].items():
            status.count(word, count)
        status.count("text", len(outcome["files"]))
        for each in answer.refused:
            status.refuse(line.number, each["why"])
        known = set(status.notes)
        status.notes += [note for note in outcome["notes"] if note not in known][:_MOST_NOTES]
        status.unknown = list(dict.fromkeys([*status.unknown, *outcome["unknown"]]))[:_MOST_UNKNOWN]


_MOST_NOTES, _MOST_UNKNOWN = 20, 50  # limits for notes and for names of unknown fields
