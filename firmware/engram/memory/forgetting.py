"""Forgets memories: with their turns, also those that left for lack of room, or with a turn that is corrected."""

from engram.compat import const
from engram.memory import access, ids
from engram.memory.recall import snippet
from engram.memory.records.provenance import origin_of

_LOOKED = const(200)  # newest memories among which those of the turn are: bounds the reads
_SHOWN = const(80)  # characters of a memory
_TOOK_BACK = const("took back %s: %s")
_STAYS = const("%s stays as it is, since it has come from more than that message: %s")


class Forgetting:
    """Works across records and journal; `archived` is the archive's index, None without one."""

    def __init__(self, records, journal, archived):
        self._records = records
        self._journal = journal
        self._archived = archived

    def forget(self, ref: str, caller=access.OWNER, with_turns: bool = False) -> tuple:
        """(what the record was, the ids of the turns that went with it); copies of it that left go, too.

        Undo does not bring back what was with the companion ("archived" in the record).
        """
        records, number = self._records, ids.number("id", ref, "m")
        record, origins = None, set()
        if not records.entries.get(number):
            record = self._find_left(number, caller)
            if record:
                origins.add(origin_of(record, records.entries.epoch))
            elif self._archived and self._archived.may_be_archived(number, caller):
                return self._archived.forget(ref, caller), []
        record = record or records.live(ref, caller)
        older, turns = records.lineage(record)
        # Turns that have gone before are no part of this: undo must not bring them back.
        turns = self._present(turns, caller) if with_turns else []
        for line in [record] + [records.entries.get(int(each[1:])) for each in older]:
            if line and "origin" in line:
                origins.add(line["origin"])
        # First: undo is to find the record itself.
        self._forget_copies(origins, record["id"], caller)
        records.remove(record, turns)
        for turn in turns:
            self._journal.redact(turn, caller)
        return record, turns

    def _find_left(self, number: int, caller):
        for record in self._records.left():
            if record["id"] == "m%d" % number and access.may_see_line(caller, record):
                return record
        return None

    def forget_copies(self, origin: str, caller) -> bool:
        """Forget what left for lack of room and has that origin; whether there was any."""
        return self._forget_copies((origin,), "", caller)

    def _forget_copies(self, origins, but: str, caller) -> bool:
        epoch = self._records.entries.epoch
        found = []
        for record in self._records.left() if origins else ():
            if origin_of(record, epoch) in origins and record["id"] != but and access.may_see_line(caller, record):
                found.append(record)
        for record in found:
            self._records.remove(record)
        return bool(found)

    def _present(self, turns, caller) -> list:
        return [turn for turn in turns if self._journal.has(turn, caller)]

    def seen(self, record: dict, caller) -> dict:
        """A record as the caller may see it: one of a workspace does not name what is private to who brought it there."""
        if record.get("scope", access.ALL)[:3] != access.WORKSPACE:
            return record
        seen = dict(record)
        turns = self._present(record.get("turns", ()), caller)
        if turns:
            seen["turns"] = turns
        else:
            seen.pop("turns", None)
        if "supersedes" in record and not self._records.is_seen(record["supersedes"], caller):
            del seen["supersedes"]
        return seen


def take_back(records, ref: str, caller):
    """Yield a line for each memory that the turn `ref` had taught: it is forgotten, and what it replaced holds again."""
    found = []
    for looked, record in enumerate(records.newest(caller)):
        if looked == _LOOKED:
            break
        if ref in record.get("turns", ()):
            found.append(record)
    for record in found:
        if record["turns"] != [ref] or "was" in record:
            yield _STAYS % (record["id"], snippet(record["content"], _SHOWN))
            continue
        line = records.tombstone("forget", record, [])
        if "supersedes" in record:
            line.append(("restores", record["supersedes"]))
        records.entries.append(line, urgent=True)
        records.releases += 1
        records.renew_turns(record)
        yield _TOOK_BACK % (record["id"], snippet(record["content"], _SHOWN))
