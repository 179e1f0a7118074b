"""Who a worker is: an id, and a locked file in the companion's folder that tells others on it whether the worker still runs."""

import fcntl
import uuid
from collections.abc import Collection
from pathlib import Path

from engram_host.companion.lockfile import Lease
from engram_host.companion.settings import make_folder

FOLDER = "workers"
"""In the companion's folder: a file for each worker, which it keeps locked. The system unlocks it when the worker has ended."""


class WorkerIdentity:
    """The id of a worker, which nobody else has ever had."""

    def __init__(self, home: Path):
        """Lock a file in a companion's folder. SettingError if that cannot be written to."""
        self.id = uuid.uuid4().hex
        self._folder = home / FOLDER
        make_folder(self._folder)
        # Locked before it has its name: nobody may find it unlocked.
        draft = self._folder / f".{self.id}"
        self._lock = Lease(draft)
        self._lock.take()
        draft.rename(self._folder / self.id)

    def release(self) -> None:
        """Let others know that this worker has ended."""
        (self._folder / self.id).unlink(missing_ok=True)
        self._lock.release()

    def has_ended(self, holder: str) -> bool:
        """Whether a worker on this folder has certainly ended; False for one on another folder, which cannot be known."""
        if holder == self.id or not holder.isalnum():
            return False
        try:
            with (self._folder / holder).open("r+") as file:
                fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False  # it runs, or it is not one of this folder
        return True

    def remove_ended(self, holders: Collection[str]) -> None:
        """Remove the files of workers of this folder that were killed, but those of `holders`: whoever wants a lease that one
        of them holds asks whether that one has ended.
        """
        for path in self._folder.iterdir():
            if path.name not in holders and self.has_ended(path.name):
                path.unlink(missing_ok=True)
