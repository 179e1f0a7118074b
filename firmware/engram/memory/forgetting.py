"""What concerns memories and the turns that they came from together: forgetting them, and naming them."""

from engram.memory import scope


class Forgetting:
    """Works across records and journal."""

    def __init__(self, records, journal):
        self._records = records
        self._journal = journal

    def forget(self, ref: str, asker=scope.OWNER, with_turns: bool = False) -> tuple:
        """(what the record was, the ids of the turns that went with it)."""
        # Turns that have gone before are no part of this: undo must not bring them back.
        turns = self._records.origins(ref, asker) if with_turns else ()
        turns = [turn for turn in turns if self._journal.has(turn, asker)]
        record = self._records.forget(ref, asker, turns)
        for turn in turns:
            self._journal.redact(turn, asker)
        return record, turns

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
