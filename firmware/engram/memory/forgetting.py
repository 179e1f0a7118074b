"""Forgets memories, with their turns, evicted copies, or a corrected turn; and tells why one left."""

from engram.memory import access, ids
from engram.memory.recall import snippet
from engram.memory.records import fields
from engram.memory.records.provenance import numbers_of, origin_of
from engram.store.types import LIVE

_LOOKED = const(200)  # newest memories among which those of the turn are: bounds the reads
_SHOWN = const(80)  # characters of a memory
_TOOK_BACK = const("took back %s: %s")
_WHY_LEFT = {"forget": "forgotten", "leave": "evicted for lack of room", "archive": "archived at the companion"}
_DENIED = const("more of its evidence speaks against it than for it")
_FADED = const("too few of the days that it was seen on are left")
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

    def why_left(self, ref: str, caller) -> tuple:
        """Return (last version or its id if forgotten, moment, reason or ""); the first is None if nothing is known."""
        records, number = self._records, ids.number("id", ref, "m")
        entries = records.entries
        state, version = entries.state_and_latest(number)
        if version is None or "content" not in version or not access.may_see_line(caller, version):
            return None, 0, ""
        if state == LIVE:
            return version, version.get("expires", 0), _why_over(version) if records.is_expired(version) else ""
        for seq in reversed([number] + entries.seqs_with_label("=%d" % number)):
            line = entries.line(seq)
            if line and any(hidden == number for hidden, _ in entries.describe(line).hides):
                reason = self._reason(line, version, caller)
                shown = {"id": version["id"]} if line.get("op") == "forget" else version
                return shown, line.get("at") or line["created"], reason
        return None, 0, ""

    def _reason(self, line: dict, version: dict, caller) -> str:
        """Return the reason that the line which ended a version gives."""
        is_own = line["id"] == version["id"]
        if "op" not in line:
            is_seen = self._records.is_seen(line["id"], caller)
            return "held no longer" if is_own else "replaced by " + (line["id"] if is_seen else "another")
        why = "taken back" if "undoes" in line else _WHY_LEFT[line["op"]]
        if line["op"] == "leave" and 0 < version.get("expires", 0) <= line["at"]:
            why = _why_over(version)
        return why if is_own else why + " with what had replaced it"

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


def _why_over(record: dict) -> str:
    if "turns" in record and record.get("updated", 0) >= record["expires"]:
        return "denied by the person"
    if not fields.is_tentative(record):
        return "expired"
    return _DENIED if record["confidence"] < fields.LEAST_CONFIDENCE else _FADED


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
