"""Forgets memories, with their turns, evicted copies, or a corrected turn."""

from engram.compat import const
from engram.memory import access, ids
from engram.memory.recall import snippet
from engram.memory.records.provenance import numbers_of, origin_of

_LOOKED = const(200)  # newest memories among which those of the turn are: bounds the reads
_SHOWN = const(80)  # characters of a memory
_TOOK_BACK = const("took back %s: %s")
_STAYS = const("%s stays as it is, since it has come from more than that message: %s")


class Forgetting:
    def __init__(self, records, journal, archived):
        self._records = records
        self._journal = journal
        self._archived = archived

    def forget(self, ref: str, caller=access.OWNER, with_turns: bool = False) -> tuple:
        """Return (the record, ids of turns forgotten with it); undo cannot restore archived ones."""
        records, number = self._records, ids.number("id", ref, "m")
        left = None if records.entries.get(number) else records.find_left(number)
        if left and access.may_see_line(caller, left):
            record = left
        elif self._archived and self._archived.may_be_archived(number, caller):
            return self._archived.forget(ref, caller), []
        else:
            record = records.live(ref, caller)
        older, turns = records.lineage(record)
        # Turns that have gone before are no part of this: undo must not bring them back.
        turns = self._present(turns, caller) if with_turns else []
        lines = [record] + [records.entries.get(int(each[1:])) for each in older]
        # First: undo is to find the record itself.
        for line in lines:
            if line:
                self.forget_copies(origin_of(line, records.entries.epoch), caller, but=record["id"])
        records.remove(record, turns)
        for turn in turns:
            self._journal.redact(turn, caller)
        return record, turns

    def forget_copies(self, origin: str, caller, but: str = "") -> bool:
        """Forget archived copies with that origin; True if there were any."""
        records = self._records
        copies = [records.find_left(number) for number in numbers_of(records.entries, origin)]
        found = [copy for copy in copies if copy and copy["id"] != but and access.may_see_line(caller, copy)]
        for copy in found:
            records.remove(copy)
        return bool(found)

    def _present(self, turns, caller) -> list:
        return [turn for turn in turns if self._journal.has(turn, caller)]

    def seen(self, record: dict, caller) -> dict:
        """Return a record without ids of private records, if it belongs to a workspace."""
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
    """Forget the memories that a turn taught, restore replaced ones; yield a line for each."""
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
