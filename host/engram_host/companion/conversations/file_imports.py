"""Imports of files from an owner's private chat, one line at a time.

Each line is a /import that the board answers before the next one, so other messages get through.
The position is stored in the file's row, where a restart resumes.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any

from engram.channels.people import shown
from engram.errors import ArgumentError
from engram.memory import access
from engram.memory.access import OWNER, Caller
from engram_host.companion.bridge_types import ChatFile, ChatPlace, Delivery
from engram_host.companion.bridges.errors import FileNotFetched
from engram_host.companion.bridges.network import Attachment, FileFetch, Incoming
from engram_host.companion.conversations.answers import Answer
from engram_host.companion.conversations.service import ConversationService, Progress
from engram_host.companion.errors import CompanionError, StoreUnavailable, TooManyWaiting, UnknownConversation
from engram_host.companion.store.bridges.table import BridgeTable
from engram_host.companion.supervisor import describe_error
from engram_host.companion.types import Piece, Said
from engram_host.transfer.reader import Line, MemoryFile
from engram_host.transfer.report import ENDS_IMPORT, ImportReport, import_command, parse_reports, read_reports
from engram_host.wording import counted, listed

_log = logging.getLogger("engram.bridges")

MOST_BYTES = 262_144

MOST_LINES = 4000

FETCH_SECONDS = 30.0

RETRY_SECONDS = 5.0

_FORMS = (".jsonl", ".json", ".md")
_NAME_CHARS = 64
_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
_ELSE = "received"
_PROBLEMS_SHOWN = 20
_OTHERS_NAMED = 10


class _CompanionStops(Exception):
    """The companion stops before a board has answered."""


class _ImportCancelled(Exception):
    """An import was cancelled, or its chat became a group."""


class _NotAllowed(CompanionError):
    """The sender of a file may not import it any more."""


class FileImports:
    def __init__(
        self,
        bridges: BridgeTable,
        conversations: ConversationService,
        begin: Callable[[Coroutine[Any, Any, None]], object],
        deliver: Callable[[Delivery], None],
        may_go_on: Callable[[ChatFile], Awaitable[bool]],
        now: Callable[[], float] = time.time,
    ):
        self._bridges = bridges
        self._conversations = conversations
        self._begin = begin
        self._deliver = deliver
        self._may_go_on = may_go_on
        self._now = now
        self._running: set[str] = set()

    async def take(self, message: Incoming, caller: Caller, place: ChatPlace) -> str:
        file = next((each for each in message.attachments if importable(each)), None)
        if file is None or file.fetch is None:
            return ""
        if not access.is_owner(caller) or place.is_group:
            return f"{_shown_name(file)}: files are taken from the owner only, in private."
        return "\n".join((await self._keep(file, file.fetch, place), *_refusals_beside(file, message.attachments)))

    async def _keep(self, file: Attachment, fetch: FileFetch, place: ChatPlace) -> str:
        name = _shown_name(file)
        too_long = f"{name} is longer than {MOST_BYTES} bytes, which is as much as is taken: send it in parts."
        if file.size > MOST_BYTES:
            return too_long
        try:
            async with asyncio.timeout(FETCH_SECONDS):
                data = await fetch(MOST_BYTES)
        except TimeoutError:
            return f"{name} could not be fetched within {FETCH_SECONDS:.0f} s: send it again."
        except FileNotFetched as problem:
            return f"{name} could not be fetched: {problem}"
        # Network libraries raise their own errors for odd addresses; the message would be dropped
        # without an answer.
        except Exception as error:  # noqa: BLE001
            _log.error("a file could not be fetched: %s", describe_error(error))
            return f"{name} could not be fetched ({type(error).__name__}): send it again."
        if len(data) > MOST_BYTES:
            return too_long
        kept = ChatFile(place, _checked_name(file.name), data, int(self._now()))
        if not await asyncio.to_thread(self._bridges.add_chat_file, kept):
            return f"{name} is not taken: another file of this chat is being imported, wait for its report."
        return f"{name} is kept ({len(data)} bytes): /import {kept.name} brings it in."

    async def import_file(self, owed: Delivery, name: str, caller: Caller, board: str) -> str:
        """Import a file of this chat; return a reply, or "" if only the board may have it."""
        if owed.place.is_group or not access.is_owner(caller):
            return ""
        file = await asyncio.to_thread(self._bridges.chat_file, owed.place)
        if file is None or file.name != name:
            return ""
        if file.is_imported and file.mid != owed.mid:
            return f"{name} is being imported into {file.device} already; its report comes here."
        lines = await asyncio.to_thread(_lines, file)
        if len(lines) > MOST_LINES:
            return f"{name} has {len(lines)} lines, and {MOST_LINES} are taken at most: send it in parts."
        file = replace(file, device=board, mid=owed.mid, message=owed.message, ref=owed.ref, room=caller.room)
        if await asyncio.to_thread(self._bridges.begin_import, file):
            self.resume(file)
        return f"{board} is given {name}, {counted(len(lines), 'line', 'lines')}: its report follows. /cancel stops it."

    async def cancel(self, place: ChatPlace, caller: Caller) -> str:
        """Stop a chat's import; return a reply, or "" if there is none."""
        if not access.is_owner(caller):
            return ""
        file = await asyncio.to_thread(self._bridges.cancel_import, place)
        if file is None:
            return ""
        with contextlib.suppress(UnknownConversation):  # the board may have answered it just now
            await self._conversations.cancel(file.device, _line_id(file, file.answered + 1))
        lines = counted(file.answered, "line", "lines")
        return f"The import of {file.name} is stopped after {lines}; what {file.device} stored stays."

    def resume(self, file: ChatFile) -> None:
        if file.mid not in self._running:
            self._running.add(file.mid)
            self._begin(self._run(file))

    # --- lines to the board

    async def _run(self, file: ChatFile) -> None:
        current: ChatFile | None = file
        try:
            while current and current.mid == file.mid:
                try:
                    await self._import_or_give_up(current)
                    return
                except StoreUnavailable as problem:
                    _log.warning("an import waits: %s", problem, extra={"repeat": "imports"})
                await asyncio.sleep(RETRY_SECONDS)
                with contextlib.suppress(StoreUnavailable):
                    current = await asyncio.to_thread(self._bridges.chat_file, file.place)
        finally:
            self._running.discard(file.mid)

    async def _import_or_give_up(self, file: ChatFile) -> None:
        try:
            await self._import(file)
        except StoreUnavailable:
            raise
        # An import that fails by an unexpected error would stay open without a report.
        except Exception as error:  # noqa: BLE001
            _log.error("an import failed: %s", describe_error(error))
            current = await asyncio.to_thread(self._bridges.chat_file, file.place)
            if current and current.mid == file.mid:
                await self._end(current, _saved_report(current), "Stopped: an error of the companion, see its log.")

    async def _import(self, file: ChatFile) -> None:
        source, report = _source(file), ImportReport.parse(file.report)
        lines = await asyncio.to_thread(lambda: list(source.lines()))
        stopped = ""
        for at, line in enumerate(lines[file.answered :], file.answered + 1):
            mid = _line_id(file, at)
            try:
                stopped = await self._give(file, mid, line, report)
            except (_CompanionStops, _ImportCancelled):
                return
            saved = await asyncio.to_thread(self._bridges.save_import, file, at, report.saved, mid)
            if saved is None:
                return  # it was cancelled, or its chat is a group now
            file = saved
            if stopped:
                break
        else:
            report.end(source)
        await self._end(file, report, stopped)

    async def _give(self, file: ChatFile, mid: str, line: Line, report: ImportReport) -> str:
        """Send a line and add the answer to the report; return a reason to stop, or ""."""
        number, fields = line
        if isinstance(fields, str):
            report.refuse(number, fields)
            return ""
        said = Said(mid, OWNER.principal, import_command(fields), file.room, is_command=True)
        try:
            answer = await self._ask(file, said)
        except StoreUnavailable:
            raise
        except ArgumentError as problem:  # longer than a message
            report.refuse(number, str(problem))
            return ""
        except CompanionError as problem:  # not allowed any more, or the board or message is gone
            return f"Stopped at line {number}: {problem}"
        outcome, refused = read_reports(parse_reports(answer.reports))
        if outcome is None:
            return f"Stopped at line {number}: {_why_unknown(answer, file.device)}"
        report.add(number, outcome, refused)
        is_full = any(each["code"] in ENDS_IMPORT for each in refused)
        return (
            f"Stopped at line {number}: what stands before it is kept, the file can be sent again." if is_full else ""
        )

    async def _ask(self, file: ChatFile, said: Said) -> Answer:
        """Wait for the board's answer. Raise CompanionError, _CompanionStops, _ImportCancelled."""
        device = file.device
        while True:
            await self._check_uncancelled(file)
            if not await self._may_go_on(file):
                raise _NotAllowed(f"who sent it may not import it into {device} any more.")
            try:
                await self._conversations.say(device, said)
                break
            except TooManyWaiting as problem:
                _log.info("an import waits: %s", problem, extra={"repeat": "imports"})
            await asyncio.sleep(RETRY_SECONDS)
        try:
            await self._check_uncancelled(file)
        except _ImportCancelled:  # /cancel did not find the line while it was being stored
            await self._conversations.cancel(device, said.mid)
            raise
        answer = Answer()
        async for event in self._conversations.follow_patiently(device, said.mid):
            if isinstance(event, Piece):
                answer.add([event])
            elif isinstance(event, Progress) and not event.conversation.is_open:
                return answer
        raise _CompanionStops

    async def _check_uncancelled(self, file: ChatFile) -> None:
        if not await asyncio.to_thread(self._bridges.is_being_imported, file):
            raise _ImportCancelled

    async def _end(self, file: ChatFile, report: ImportReport, stopped: str) -> None:
        problems = report.problems[:_PROBLEMS_SHOWN]
        if more := len(report.problems) - len(problems):
            problems.append(f"more problems: {more}")
        text = "\n".join((f"{file.name}: {report.summary}", *problems, *report.notes, *([stopped] if stopped else [])))
        now = int(self._now())
        owed = Delivery(0, file.place, file.message, "", f"{file.mid}-r", text, now, ref=file.ref)
        if added := await asyncio.to_thread(self._bridges.end_import, file, owed, now):
            self._deliver(added)


def importable(attachment: Attachment) -> bool:
    return attachment.fetch is not None and attachment.kind == "file" and attachment.name.lower().endswith(_FORMS)


def _shown_name(file: Attachment) -> str:
    return shown(file.name)[:_NAME_CHARS] or f"the {file.kind}"


def _refusals_beside(taken: Attachment, attachments: Sequence[Attachment]) -> list[str]:
    others = [each for each in attachments if each is not taken and each.kind != "photo"][:_OTHERS_NAMED]
    more = [_shown_name(each) for each in others if importable(each)]
    unread = [_shown_name(each) for each in others if not importable(each)]
    refusals = [f"Only one file of a message is taken: send {listed(more)} separately."] if more else []
    return [*refusals, *([f"I cannot read {listed(unread)}."] if unread else [])]


def _line_id(file: ChatFile, number: int) -> str:
    return f"{file.mid}.{number}"


def _why_unknown(answer: Answer, device: str) -> str:
    if answer.reports and not answer.problems:
        return f"the report of {device} was damaged on its way: send the file again, nothing is stored twice."
    return " ".join(answer.problems or answer.lines) or f"{device} did not say what it did."


def _source(file: ChatFile) -> MemoryFile:
    return MemoryFile(file.name, file.data)


def _saved_report(file: ChatFile) -> ImportReport:
    try:
        return ImportReport.parse(file.report)
    except (ValueError, LookupError, TypeError):
        return ImportReport()


def _lines(file: ChatFile) -> list[Line]:
    return list(_source(file).lines())


def _checked_name(name: str) -> str:
    if len(name) <= _NAME_CHARS and not name.startswith(".") and set(name) <= _NAME:
        return name
    return _ELSE + "." + name.rpartition(".")[2].lower()
