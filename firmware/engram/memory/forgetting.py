"""What concerns memories and the turns that they came from together: forgetting them, and naming them."""

from engram.compat import unload_modules
from engram.memory import access, ids

_MODULES = ("engram.memory.records.trash_search", "engram.memory.records.provenance")


class Forgetting:
    """Works across records, journal and trash."""

    def __init__(self, records, journal, trash):
        self._records = records
        self._journal = journal
        self._trash = trash

    def forget(self, ref: str, caller=access.OWNER, with_turns: bool = False) -> tuple:
        """(what the record was, the ids of the turns that went with it); its copies leave the trash.

        One that had left for want of room, which "left" tells, goes for good: undo does not bring it back. Nor does it bring
        back one that was with the companion, which "archived" tells.
        """
        archived = self._records.archived
        if archived and archived.total:
            from engram.archive import archiver

            if archiver.is_away(self._records, archived, ids.number("id", ref, "m"), caller):
                return archiver.forget(self._records, archived, ref, caller), []
        if not self._trash.bytes:
            return self._forget(ref, caller, with_turns)
        from engram.memory.records import provenance, trash_search

        records, trash = self._records, self._trash
        try:
            record = trash_search.find_in_trash(trash, records, ref, caller)
            if record:
                wanted = [provenance.origin_of(record, records.entries.epoch)]
                gone = record, self._present(record.get("turns", ()), caller) if with_turns else []
                self._redact(gone[1], caller)
            else:
                wanted = trash_search.trash_origins(records, ref, caller)
                gone = self._forget(ref, caller, with_turns)
            # Last, since it alone needs room on the flash.
            trash_search.remove_from_trash(trash, records, wanted, caller)
        finally:
            unload_modules(_MODULES)
        return gone

    def forget_copies(self, origin: str, caller) -> bool:
        """Take the copies of a record that left, which has that origin, out of the trash; whether there were any."""
        if not self._trash.bytes:
            return False
        from engram.memory.records import trash_search

        try:
            return trash_search.remove_from_trash(self._trash, self._records, (origin,), caller) > 0
        finally:
            unload_modules(_MODULES[:1])

    def _forget(self, ref: str, caller, with_turns: bool) -> tuple:
        # Turns that have gone before are no part of this: undo must not bring them back.
        turns = self._present(self._records.origins(ref, caller), caller) if with_turns else []
        record = self._records.forget(ref, caller, turns)
        self._redact(turns, caller)
        return record, turns

    def _present(self, turns, caller) -> list:
        return [turn for turn in turns if self._journal.has(turn, caller)]

    def _redact(self, turns, caller) -> None:
        for turn in turns:
            self._journal.redact(turn, caller)

    def seen(self, record: dict, caller) -> dict:
        """A record as who asks may see it: one of a workspace does not name what is private to who brought it there."""
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
