"""Forgetting a memory together with the turns that it came from, and taking that back."""

from engram.memory import scope


class Forgetting:
    """Forgets across records and journal."""

    def __init__(self, records, journal):
        self._records = records
        self._journal = journal

    def forget(self, ref: str, asker=scope.OWNER, with_turns: bool = False) -> tuple:
        """(what the record was, the ids of the turns that went with it)."""
        record = self._records.forget(ref, asker, with_turns)
        gone = []
        for turn in record["turns"] if with_turns else ():
            if self._journal.redact(turn, asker):
                gone.append(turn)
        return record, gone
