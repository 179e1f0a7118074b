"""The common part of records and journal: the figures of their log, and work in the background."""


class LogEntries:
    """Owns the store of a log as `entries`, for what takes lines in and out as they are."""

    def __init__(self, store):
        self.entries = store

    @property
    def epoch(self) -> int:
        """The random number that tells this log from one that was reset."""
        return self.entries.epoch

    @property
    def bytes(self) -> int:
        """Bytes of the log on flash."""
        return self.entries.bytes

    @property
    def damaged(self) -> int:
        """Lines that were set aside since the log was opened."""
        return self.entries.damaged

    @property
    def partial(self) -> str:
        """Why a search may miss an entry: "" if it does not."""
        return self.entries.partial

    def tick(self) -> bool:
        """Do a little of the work in the background; whether there is more."""
        return self.entries.tick(1, may_seal=True)
