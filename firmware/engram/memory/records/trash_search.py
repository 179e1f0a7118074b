"""Forgetting what left for want of room: seldom needed, so it stands apart from forgetting.py."""

from engram.memory import access, ids
from engram.memory.records import provenance


def find_in_trash(trash, records, ref: str, caller):
    """The copy in the trash of a record that is nowhere else, None if there is none that the caller may see."""
    number = ids.number("id", ref, "m")
    if not records.has(number):
        for record in trash.records():
            if record["id"] == "m%d" % number and _may_see(caller, record):
                return record
    return None


def trash_origins(records, ref: str, caller) -> list:
    """The origins of a live record and of what it superseded: some may have been brought back from the trash."""
    lines = [records.entries.get(int(each[1:])) for each in records.roots(ref, caller)]
    return [provenance.origin_of(line, records.entries.epoch) for line in lines if line]


def remove_from_trash(trash, records, wanted, caller) -> int:
    """Take the copies that came from origins in `wanted` out of the trash, as far as the caller may see them; how many."""
    epoch = records.entries.epoch
    return trash.remove(lambda record: provenance.origin_of(record, epoch) in wanted and _may_see(caller, record))


def _may_see(caller, record: dict) -> bool:
    return access.may_see(caller, record.get("scope", access.ALL))
