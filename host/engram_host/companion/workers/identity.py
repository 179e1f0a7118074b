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
        self._folder = home / FOLDER
        make_folder(self._folder)
        while not self._take_id():
            pass

    def _take_id(self) -> bool:
        """Lock a file under a new id; whether another worker did not take it for one that was left before it was locked."""
        self.id = uuid.uuid4().hex
        # Locked before it has its name: nobody may find it unlocked.
        draft = self._folder / f".{self.id}"
        self._lock = Lease(draft)
        if not self._lock.take():
            return False
        try:
            draft.rename(self._folder / self.id)
        except FileNotFoundError:
            self._lock.release()
            return False
        return True

    def release(self) -> None:
        """Let others know that this worker has ended."""
        (self._folder / self.id).unlink(missing_ok=True)
        self._lock.release()

    def has_ended(self, holder: str) -> bool:
        """Whether a worker on this folder has certainly ended; False for one on another folder, which cannot be known."""
        return holder != self.id and holder.isalnum() and _is_unlocked(self._folder / holder)

    def remove_ended(self, holders: Collection[str]) -> None:
        """Remove the files of workers of this folder that were killed, but those of `holders`: whoever wants a lease that one
        of them holds asks whether that one has ended.
        """
        for path in self._folder.iterdir():
            holder = path.name.removeprefix(".")  # one that was killed before its file had its name has left a draft
            if holder not in {self.id, *holders} and holder.isalnum() and _is_unlocked(path):
                path.unlink(missing_ok=True)


def _is_unlocked(path: Path) -> bool:
    """Whether there is a file that nobody has locked."""
    try:
        with path.open("r+") as file:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False  # its worker runs, or there is none
    return True
