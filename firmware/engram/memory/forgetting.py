"""Forgets memories with the turns that they came from and their copies in the trash, or with a turn that is corrected."""

from engram.compat import const
from engram.memory import access, ids
from engram.memory.recall import snippet
from engram.memory.records.provenance import origin_of

_LOOKED = const(200)  # newest memories among which those of the turn are: bounds the reads
_SHOWN = const(80)  # characters of a memory
_TOOK_BACK = const("took back %s: %s")
_STAYS = const("%s stays as it is, since it has come from more than that message: %s")


class Forgetting:
    """Works across records, journal and trash; `archived` is the archive's index, None without one."""

    def __init__(self, records, journal, trash, archived):
        self._records = records
        self._journal = journal
        self._trash = trash
        self._archived = archived

    def forget(self, ref: str, caller=access.OWNER, with_turns: bool = False) -> tuple:
        """(what the record was, the ids of the turns that went with it); its copies leave the trash.

        Undo does not bring back what stood in the trash alone ("left" in the record) or was with the companion ("archived").
        """
        number = ids.number("id", ref, "m")
        record = None
        if self._trash.bytes and not self._records.entries.get(number):
            record = self._trash.find(number, caller)
        if not record and self._archived and self._archived.may_be_archived(number, caller):
            return self._archived.forget(ref, caller), []
        if self._trash.bytes:
            return self._forget_with_copies(ref, record, caller, with_turns)
        return self._forget(ref, caller, with_turns)

    def _forget_with_copies(self, ref: str, record, caller, with_turns: bool) -> tuple:
        records = self._records
        epoch = records.entries.epoch
        if record:
            origins = [origin_of(record, epoch)]
            forgotten = record, self._present(record.get("turns", ()), caller) if with_turns else []
            self._redact(forgotten[1], caller)
        else:
            # What it superseded may have been brought back from the trash, too.
            live = records.live(ref, caller)
            lines = [live] + [records.entries.get(int(older[1:])) for older in records.lineage(live)[0]]
            origins = [origin_of(line, epoch) for line in lines if line]
            forgotten = self._forget(ref, caller, with_turns)
        # Last, since it alone needs room on the flash.
        self._trash.remove_origins(origins, epoch, caller)
        return forgotten

    def forget_copies(self, origin: str, caller) -> bool:
        """Take the copies of a record with that origin out of the trash; whether there were any."""
        if not self._trash.bytes:
            return False
        return self._trash.remove_origins((origin,), self._records.entries.epoch, caller) > 0

    def _forget(self, ref: str, caller, with_turns: bool) -> tuple:
        # Turns that have gone before are no part of this: undo must not bring them back.
        records = self._records
        turns = self._present(records.lineage(records.live(ref, caller))[1], caller) if with_turns else []
        record = records.forget(ref, caller, turns)
        self._redact(turns, caller)
        return record, turns

    def _present(self, turns, caller) -> list:
        return [turn for turn in turns if self._journal.has(turn, caller)]

    def _redact(self, turns, caller) -> None:
        for turn in turns:
            self._journal.redact(turn, caller)

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
