"""Forgetting what left for want of room: seldom needed, so it stands apart from forgetting.py."""

from engram.memory import access, ids
from engram.memory.records import provenance


def found(trash, records, ref: str, asker):
    """The copy in the trash of a record that is nowhere else, None if there is none that the asker may see."""
    number = ids.number("id", ref, "m")
    if not records.has(number):
        for record in trash.records():
            if record["id"] == "m%d" % number and _may_see(asker, record):
                return record
    return None


def sources(records, ref: str, asker) -> list:
    """The origins of a live record and of what it superseded: some may have been brought back from the trash."""
    lines = [records.entries.get(int(each[1:])) for each in records.roots(ref, asker)]
    return [provenance.of(line, records.entries.epoch) for line in lines if line]


def remove(trash, records, wanted, asker) -> int:
    """Take the copies that came from origins in `wanted` out of the trash, as far as the asker may see them; how many."""
    epoch = records.entries.epoch
    return trash.remove(lambda record: provenance.of(record, epoch) in wanted and _may_see(asker, record))


def _may_see(asker, record: dict) -> bool:
    return access.may_see(asker, record.get("scope", access.ALL))
