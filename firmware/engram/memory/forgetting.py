"""What concerns memories and the turns that they came from together: forgetting them, and naming them."""

from engram.compat import let_go
from engram.memory import ids, scope

_MODULES = ("engram.memory.origins",)


class Forgetting:
    """Works across records, journal and trash."""

    def __init__(self, records, journal, trash):
        self._records = records
        self._journal = journal
        self._trash = trash

    def forget(self, ref: str, asker=scope.OWNER, with_turns: bool = False) -> tuple:
        """(what the record was, the ids of the turns that went with it); its copies leave the trash.

        One that had left for want of room, which "left" tells, goes for good: undo does not bring it back.
        """
        number = ids.number("id", ref, "m")
        trashed = None if self._records.has(number) else self._trashed(number, asker)
        if trashed:
            record, copies = trashed, (trashed,)
            turns = self._present(record.get("turns", ()), asker) if with_turns else []
        else:
            # Turns that have gone before are no part of this: undo must not bring them back.
            turns = self._present(self._records.origins(ref, asker), asker) if with_turns else []
            copies = self._records.roots(ref, asker) if self._trash.bytes else ()
            copies = [self._records.entries.get(int(each[1:])) for each in copies]
            record = self._records.forget(ref, asker, turns)
        for turn in turns:
            self._journal.redact(turn, asker)
        # Last, since it alone needs room on the flash.
        self._forget_copies(copies, asker)
        return record, turns

    def forget_copies(self, origin: str, asker) -> bool:
        """Take the copies of a record that left, which has that origin, out of the trash; whether there were any."""
        return bool(self._trash.bytes) and self._remove((origin,), asker) > 0

    def _trashed(self, number: int, asker):
        """The copy of a record that left for want of room, None if there is none that the asker may see."""
        for record in self._trash.records():
            if record["id"] == "m%d" % number and scope.may_see(asker, record.get("scope", scope.ALL)):
                return record
        return None

    def _present(self, turns, asker) -> list:
        return [turn for turn in turns if self._journal.has(turn, asker)]

    def _forget_copies(self, records, asker) -> None:
        """Take what came from the same records as these out of the trash: some were brought back from there."""
        if records:
            from engram.memory import origins

            epoch = self._records.entries.epoch
            self._remove([origins.of(record, epoch) for record in records if record], asker)

    def _remove(self, wanted, asker) -> int:
        from engram.memory import origins

        epoch = self._records.entries.epoch
        try:
            return self._trash.remove(
                lambda record: (
                    origins.of(record, epoch) in wanted and scope.may_see(asker, record.get("scope", scope.ALL))
                )
            )
        finally:
            let_go(_MODULES)

    def seen(self, record: dict, asker) -> dict:
        """A record as who asks may see it: one of a workspace does not name what is private to who brought it there."""
        if record.get("scope", scope.ALL)[:3] != scope.WORKSPACE:
            return record
        seen = dict(record)
        turns = [turn for turn in record.get("turns", ()) if self._journal.has(turn, asker)]
        if turns:
            seen["turns"] = turns
        else:
            seen.pop("turns", None)
        if "supersedes" in record and not self._records.is_seen(record["supersedes"], asker):
            del seen["supersedes"]
        return seen
