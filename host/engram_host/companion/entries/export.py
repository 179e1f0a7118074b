"""An export of a board's copy, in the form that the board itself exports and imports (docs/reference/export.md).

Profile, notes, and how often a memory was of use are files of the board that the companion has no copy of: they are not in it.
"""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from engram.memory.records import provenance
from engram.transfer import jsonl
from engram_host.companion.entries.reader import LogCopy

_UNUSED = (0, 0)


def export_lines(copy: LogCopy, now: int, archived: bool = True) -> Iterator[str]:
    """The lines of an export of all memories of a copy of `records`, oldest first. StoreUnavailable.

    `archived`: with those that the board gave to the companion's archive.
    """
    logs = copy.device.logs
    owner = SimpleNamespace(entries=SimpleNamespace(epoch=logs["records"].epoch if "records" in logs else 0))
    journal = logs["journal"].epoch if "journal" in logs else 0
    states = ("live", "archived") if archived else ("live",)
    there = sum(entry.state in states for entry in copy.oldest_first())
    yield jsonl.head(owner.entries, journal, now, there)
    count = 1
    for entry in copy.oldest_first():
        if entry.state == "archived" and not archived:
            continue
        record = {"id": entry.id, **entry.line}
        is_past = entry.state == "superseded"
        follows = _origin_before(copy, entry.line, owner.entries.epoch)
        pairs: list[tuple[str, Any]] = [*jsonl.pairs(owner, record, follows, is_past, _UNUSED)]
        if entry.state == "archived":
            pairs.append(("archived", True))
        for line in jsonl.lines(pairs):
            yield line
            count += 1
    yield jsonl.tail(count)


def _origin_before(copy: LogCopy, line: dict[str, Any], epoch: int) -> str:
    """The origin of the memory in whose place another came, "" if there is none any more."""
    older = line.get("supersedes")
    before = copy.latest_of(older) if isinstance(older, str) and older[1:].isdigit() else None
    return provenance.origin_of(before, epoch) if before else ""
