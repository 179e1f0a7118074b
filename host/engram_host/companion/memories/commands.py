"""Console commands that change memories or list the trash, on behalf of the memory's person, and their outcomes.

An edit is an import of one line with its base version (`was`): a board with another version
changes nothing and reports that.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from engram.memory import ALL, access
from engram_host.companion.conversations.service import ConversationService, Exchange
from engram_host.companion.entries.reader import ReadEntry
from engram_host.companion.memories.browse import is_changeable
from engram_host.companion.types import Said
from engram_host.sentences import SentenceTable
from engram_host.transfer.report import IMPORT, import_command, parse_reports, read_reports

ROOM = "memories"

PREFIX = "memory:"


@dataclass(frozen=True)
class MemoryEdit:
    """New values of a memory's fields; None leaves a field unchanged."""

    text: str | None = None
    tags: tuple[str, ...] | None = None
    keywords: tuple[str, ...] | None = None
    type: str | None = None
    importance: float | None = None


def edit_command(origin: str, line: dict[str, Any], was: int, edit: MemoryEdit) -> str:
    fields: dict[str, Any] = {"origin": origin, "partial": True, "was": was, "content": line["content"]}
    fields["scope"] = line.get("scope", ALL)
    # The board uses its own clock unless it gets a later time.
    fields["updated"] = line.get("updated", line.get("created", 0))
    wanted = {"content": edit.text, "type": edit.type, "importance": edit.importance}
    wanted |= {"tags": edit.tags, "keywords": edit.keywords}
    return import_command(fields | {name: value for name, value in wanted.items() if value is not None})


def drop_command(origin: str, line: dict[str, Any], was: int) -> str:
    return import_command({"origin": origin, "deleted": True, "was": was, "scope": line.get("scope", ALL)})


def speak(mid: str, command: str, line: dict[str, Any]) -> Said:
    """Return a command's message on behalf of the memory's person, or of the owner."""
    scope = str(line.get("scope", ALL))
    kind, _, name = scope.partition(":")
    principal = name if kind == "user" and name else access.OWNER.principal
    workspace = name if kind == "ws" else ""
    return Said(mid, principal, command, ROOM, is_group=False, workspace=workspace, is_command=True)


def edited(command: str) -> tuple[str, int]:
    """Return the text and base version of an edit command, or ("", 0) for another one."""
    try:
        fields: Any = json.loads(command.removeprefix(IMPORT))
    except ValueError:
        return "", 0
    if not isinstance(fields, dict):
        return "", 0
    text, was = fields.get("content"), fields.get("was")
    return text if isinstance(text, str) else "", was if isinstance(was, int) else 0


# --- outcomes


ChangeKind = Literal["edit", "pin", "unpin", "forget", "drop", "merge", "undo"]
KINDS: tuple[ChangeKind, ...] = ("edit", "pin", "unpin", "forget", "drop", "merge", "undo")
"""`forget` includes source turns, `drop` does not; `merge` is an edit followed by a `drop`."""

ChangeState = Literal["waiting", "done", "unchanged", "conflict", "refused", "cancelled"]

DAMAGED = SentenceTable("change_answer")

_ENDED: dict[str, ChangeState] = {
    "changed": "done",
    "forgotten": "done",
    "stored": "done",
    "there already": "unchanged",
    "older than here": "conflict",
    "changed meanwhile": "conflict",
}

_IMPORTS: tuple[ChangeKind, ...] = ("edit", "drop", "merge")
"""Imports, which always end with a report."""


@dataclass(frozen=True)
class MemoryChange:
    """A change of a memory; on a `conflict` the board had another version and changed nothing."""

    id: str
    kind: ChangeKind
    entry: str
    other: str
    at: int
    state: ChangeState
    text: str = ""
    sentence: str = ""
    told: str = ""
    was: int = 0
    key: str = ""
    is_undoable: bool = False
    is_behind: bool = False

    ended: int = 0


@dataclass(frozen=True)
class ChangeId:
    """Parsed id of a change's message; `other` and `was` are a merge's second memory."""

    kind: ChangeKind
    entry: str
    key: str
    other: str = ""
    was: int = 0

    def __str__(self) -> str:
        parts = [self.kind, self.entry, self.key]
        return PREFIX + ":".join(parts + [self.other, str(self.was)] * bool(self.other))


def parse_id(mid: str) -> ChangeId | None:
    """Parse a message id, or return None if it is not a change's."""
    kind, entry, key, *more = (*mid.removeprefix(PREFIX).split(":"), "", "", "")
    known: ChangeKind | None = next((each for each in KINDS if each == kind), None)
    if not mid.startswith(PREFIX) or known is None:
        return None
    return ChangeId(known, entry, key, more[0], int(more[1]) if more[1].isdigit() else 0)


def describe_change(exchange: Exchange, told: str = "") -> MemoryChange | None:
    message = exchange.message
    found = parse_id(message.said.mid)
    if found is None:
        return None
    state, sentence = read_outcome(exchange, found.kind)
    text, was = edited(message.said.text)
    who = message.said.mid, found.kind, found.entry, found.other
    ended = 0 if message.is_open else message.changed
    return MemoryChange(*who, message.at, state, text, sentence, told, was, found.key, ended=ended)


def read_outcome(exchange: Exchange, kind: ChangeKind) -> tuple[ChangeState, str]:
    message, answer = exchange.message, exchange.answer
    if message.is_open:
        return "waiting", ""
    if message.state == "cancelled":
        return "cancelled", ""
    if answer.problems or message.state == "undeliverable":
        return "refused", " ".join(answer.problems)
    outcome, refused = read_reports(parse_reports(answer.reports))
    if refused:
        return "refused", refused[0]["why"]
    if outcome is None and kind not in _IMPORTS:
        return "done", " ".join(answer.lines)
    counts = outcome["counts"] if outcome else {}
    for name, state in _ENDED.items():
        if counts.get(name):
            return state, ""
    # The board's action is unknown, so a merge must not forget the other memory.
    return "refused", DAMAGED.say("report")


# --- the order of undos: a board undoes its latest change of a memory, so earlier ones have to wait


_MADE = ("waiting", "done")


def standing_changes(changes: Sequence[MemoryChange], entry: str) -> list[MemoryChange]:
    standing: list[MemoryChange] = []
    undos = 0
    for change in changes:
        if change.entry != entry or change.state not in _MADE:
            continue
        if change.kind == "undo":
            undos += 1
        elif undos:
            # The board undid its latest change then, whatever the request named.
            undos -= 1
        else:
            standing.append(change)
    return standing


def entries_to_undo(changes: Sequence[MemoryChange], change: MemoryChange) -> list[str]:
    """Return the memories to undo in order, empty if the change cannot be undone now."""
    if change.kind == "undo" or change.state != "done":
        return []
    parts = [change]
    drop = next((each for each in changes if _is_drop_of(each, change)), None)
    if drop and drop.state == "waiting":
        return []
    if drop and drop in standing_changes(changes, drop.entry):
        parts.insert(0, drop)
    are_latest = all(standing_changes(changes, part.entry)[:1] == [part] for part in parts)
    return [part.entry for part in parts] if are_latest else []


def is_overtaken(change: MemoryChange, versions: Sequence[dict[str, Any]]) -> bool:
    """True if a change's memory, with these versions, newest first, has a later change."""
    newest, before = versions[0], versions[1] if len(versions) > 1 else {}
    if change.kind in ("edit", "merge"):
        return newest["seq"] > change.was > 0 and newest.get("was") != change.was
    is_its = (newest.get("pinned") is True) == (change.kind == "pin")
    return change.kind in ("pin", "unpin") and is_its and any(newest.get(key) != before.get(key) for key in _CONTENT)


_CONTENT = ("content", "tags", "keywords", "type", "importance", "scope", "expires", "turns", "notes")


def is_newest_undoable(entry: ReadEntry, changes: Sequence[MemoryChange]) -> bool:
    of_entry = [change for change in changes if entry.id in (change.entry, change.other)]
    is_free = not any(change.state == "waiting" for change in of_entry)
    is_own = not any(change.is_undoable for change in of_entry)
    return is_changeable(entry) and is_free and is_own and not _NOT_UNDONE & entry.line.keys()


_NOT_UNDONE = frozenset({"undoes", "restored"})


def _is_drop_of(drop: MemoryChange, merge: MemoryChange) -> bool:
    is_pair = drop.kind == "drop" and merge.kind == "merge"
    return is_pair and (drop.entry, drop.key) == (merge.other, merge.key)


# --- the trash


_COMMAND = "/export trash"
_ASKED = f"{PREFIX}trash:"
_LOOKED_THROUGH = 100


@dataclass(frozen=True)
class TrashListing:
    """The last answer; `at` is 0 for never and `is_waiting` marks an open request."""

    at: int = 0
    is_waiting: bool = False
    told: str = ""
    problem: str = ""
    records: tuple[dict[str, Any], ...] = ()


class TrashReader:
    """Trash requests; each call may raise UnknownDevice and StoreUnavailable."""

    def __init__(self, conversations: ConversationService):
        self._conversations = conversations

    async def ask(self, device: str, key: str) -> None:
        """Request a listing. Raise TooManyWaiting."""
        said = Said(f"{_ASKED}{key}", access.OWNER.principal, _COMMAND, ROOM, is_command=True)
        await self._conversations.say(device, said)

    async def latest(self, device: str) -> TrashListing:
        found = await self._conversations.list_messages(device, _LOOKED_THROUGH, room=ROOM)
        asked = next((each for each in found if each.said.mid.startswith(_ASKED)), None)
        if asked is None:
            return TrashListing()
        exchange = await self._conversations.exchange(device, asked.said.mid)
        message, answer = exchange.message, exchange.answer
        if message.is_open:
            return TrashListing(message.at, True, await self._conversations.why_waiting(message))
        problem = " ".join(answer.problems)
        return TrashListing(message.changed, problem=problem, records=tuple(reversed(_records(answer.lines))))


def _records(lines: list[str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for line in lines:
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(fields, dict) and isinstance(fields.get("content"), str):
            found.append(fields)
    return found
