"""Order of undos: a board undoes its latest change of a memory, so earlier ones have to wait."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from engram_host.companion.entries.reader import ReadEntry
from engram_host.companion.memories.commands import MemoryChange
from engram_host.companion.memories.types import is_changeable

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


def is_overtaken(change: MemoryChange, line: dict[str, Any]) -> bool:
    is_later = change.kind in ("edit", "merge") and line["seq"] > change.was > 0
    return is_later and line.get("was") != change.was


def is_pin_overtaken(change: MemoryChange, versions: Sequence[dict[str, Any]]) -> bool:
    newest, before = versions[0], versions[1] if len(versions) > 1 else {}
    if (newest.get("pinned") is True) != (change.kind == "pin"):
        return False
    return any(newest.get(name) != before.get(name) for name in _CONTENT)


_CONTENT = ("content", "tags", "keywords", "type", "importance", "scope", "expires", "turns", "notes")


def compare_with_copy(change: MemoryChange, line: dict[str, Any] | None) -> MemoryChange:
    """Return a change updated from its memory's newest line, None if the copy has none."""
    if line is None or change.state not in ("done", "conflict"):
        return change
    is_behind = change.kind in ("edit", "merge") and line["seq"] == change.was
    is_undoable = change.is_undoable and not is_overtaken(change, line)
    return replace(change, is_behind=is_behind, is_undoable=is_undoable)


def is_newest_undoable(entry: ReadEntry, changes: Sequence[MemoryChange]) -> bool:
    of_entry = [change for change in changes if entry.id in (change.entry, change.other)]
    is_free = not any(change.state == "waiting" for change in of_entry)
    is_own = not any(change.is_undoable for change in of_entry)
    return is_changeable(entry) and is_free and is_own and not _NOT_UNDONE & entry.line.keys()


_NOT_UNDONE = frozenset({"undoes", "restored"})


def _is_drop_of(drop: MemoryChange, merge: MemoryChange) -> bool:
    is_pair = drop.kind == "drop" and merge.kind == "merge"
    return is_pair and (drop.entry, drop.key) == (merge.other, merge.key)
