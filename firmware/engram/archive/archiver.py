"""Writes to the log of records which memories left for the companion, and which came back."""

from engram.memory import ids
from engram.memory.records import fields
from engram.store.types import LIVE


def archive(records, archived, promised) -> int:
    """Archive records that the companion has promised to keep, (number, seq of its latest line) each; how many were archived.

    A record that changed, was pinned or was forgotten meanwhile stays.
    """
    lines = []
    for number, seq in promised:
        record = records.entries.get(number)
        if record is None or record["seq"] != seq or record.get("pinned") or records.entries.state(number) != LIVE:
            continue
        line = [("op", "archive"), ("id", record["id"]), ("at", records.clock.now()), ("was", seq)]
        older = records.lineage(record)[0]
        if older:
            line.append(("with", older))
        lines.append(line + [(name, record[name]) for name in ("scope", "tags", "created") if name in record])
    if lines:
        records.entries.append(*lines, urgent=True)
        archived.fold()
    return len(lines)


def restore(records, archived, line: dict, caller) -> bool:
    """Make an archived record live again, with its id; False if it is live already, or not for the caller. StoreFull."""
    number = ids.number("id", line.get("id"), "m")
    if "content" not in line or not archived.is_away(number, caller):
        return False
    records.check_room()
    kept = [pair for pair in fields.pairs(line) if pair[0] not in ("supersedes", "past")]
    records.entries.append(kept + [("restored", records.clock.now())])
    records.used(line["id"])
    archived.fold()
    return True
