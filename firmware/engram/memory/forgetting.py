"""Forgetting a memory together with the turns that it came from, and taking that back."""

from engram.memory import scope


class Forgetting:
    """Forgets across records and journal."""

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
