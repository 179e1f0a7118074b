"""Memories on their way to the companion and back, and forgetting them there: what is written of it to the log of records."""

from engram.errors import NotFound, StoreError
from engram.memory import access, ids
from engram.store.types import ARCHIVED, LIVE


def archive(records, archived, promised) -> int:
    """Let records go that the companion has promised to keep: (number, seq of its latest line) each. How many went.

    One that has changed meanwhile, or was pinned or forgotten, stays.
    """
    lines = []
    for number, seq in promised:
        record = records.entries.get(number)
        if record is None or record["seq"] != seq or record.get("pinned") or records.entries.state(number) != LIVE:
            continue
        line = [("op", "archive"), ("id", record["id"]), ("at", records.now()), ("was", seq)]
        older = records.older(record)
        if older:
            line.append(("with", older))
        for name in ("scope", "tags", "created"):
            if name in record:
                line.append((name, record[name]))
        lines.append(line)
    if lines:
        records.entries.append(*lines, urgent=True)
        archived.fold()
    return len(lines)


def restore(records, archived, line: dict, caller) -> bool:
    """Let an archived record be live again, with its id; False if it is that already, or may not be.

    StoreFull when there is no room.
    """
    number = ids.number("id", line.get("id"), "m")
    if not is_away(records, archived, number, caller) or "content" not in line:
        return False
    records.check_room()
    kept = [pair for pair in records.fields(line) if pair[0] not in ("supersedes", "past")]
    records.entries.append(kept + [("restored", records.now())])
    records.used(line["id"])
    archived.fold()
    return True


def is_away(records, archived, number: int, caller, is_checked: bool = True) -> bool:
    """Whether a record is one that the caller may have from the companion; `is_checked` as for archived.covers()."""
    if records.entries.state(number) not in (None, ARCHIVED):
        return False
    return archived.covers(number, caller, is_checked)


def forget(records, archived, ref: str, caller) -> dict:
    """Let an archived record go for good, as soon as the companion is told; what is known of it. NotFound, StoreFull."""
    number = ids.number("id", ref, "m")
    ref = "m%d" % number
    if not is_away(records, archived, number, caller):
        raise NotFound("memory", ref, "it may have been forgotten; memory_list shows what there is.")
    archived.may_forget()
    state, record = records.entries.state_and_latest(number)
    if state == ARCHIVED:
        told = record.get("scope", access.ALL)
        if not access.may_see(caller, told):
            access.refuse(caller, told)
            raise NotFound("memory", ref, "it may have been forgotten; memory_list shows what there is.")
        more = [("left", True)] + [(name, record[name]) for name in ("scope", "tags") if name in record]
    else:
        # Whose it is the companion knows: it looks whether it is for one of these.
        record: dict = {"id": ref, "content": "(its text is with the companion)"}
        more = [("scopes", [label[1:] for label in access.labels(caller)])]
    line: list = [("op", "forget"), ("id", ref), ("at", records.now())]
    records.entries.append(line + more, urgent=True)
    archived.fold()
    if archived.why:
        raise StoreError("the memory is forgotten, and the archive's index could not be written: " + archived.why)
    found: dict = dict(record)
    found["archived"] = True
    return found
