"""Which change can be undone: a board undoes its latest change of a memory, so an earlier one has to wait for its turn."""

from collections.abc import Sequence

from engram_host.companion.memories.outcome import MemoryChange

_MADE = ("waiting", "done")


def standing_changes(changes: Sequence[MemoryChange], entry: str) -> list[MemoryChange]:
    """The changes of a memory that are not undone, the newest first; `changes` has to begin with the newest, too."""
    standing: list[MemoryChange] = []
    undos = 0
    for change in changes:
        if change.entry != entry or change.state not in _MADE:
            continue
        if change.kind == "undo":
            undos += 1
        elif undos:
            # The board undid the change that was its latest one then, whichever somebody had named.
            undos -= 1
        else:
            standing.append(change)
    return standing


def entries_to_undo(changes: Sequence[MemoryChange], change: MemoryChange) -> list[str]:
    """The memories to ask the board to undo the latest change of, in order; none if the change cannot be undone now."""
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


def _is_drop_of(drop: MemoryChange, merge: MemoryChange) -> bool:
    is_pair = drop.kind == "drop" and merge.kind == "merge"
    return is_pair and (drop.entry, drop.key) == (merge.other, merge.key)
