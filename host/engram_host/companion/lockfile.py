"""The companion's folder beside its database: where it listens now, and that nobody changes the database below it."""

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from engram_host.companion.errors import SettingError, StoreUnavailable

DEFAULT_HOME = Path("~/.engram/companion")
"""The folder, unless a person names another one."""

HOME_VARIABLE = "ENGRAM_COMPANION_HOME"
"""That folder, in the environment."""

LISTENING = "listening.json"
_LOCK = "lock"
_LOOKS, _LOOK_SECONDS = 10, 0.05
_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}


def running_addresses(home: Path) -> dict[str, str]:
    """Where this computer reaches the companion of a folder: `http` and `mqtt`; {} if none runs."""
    return {name: _from_here(url) for name, url in _published(home).items()}


def reachable_host(host: str) -> str:
    """Where this computer reaches what listens at a host's address: one for all addresses is nobody's to connect to."""
    return _ANY.get(host, host)


def _from_here(url: str) -> str:
    for host, reached in _ANY.items():
        url = url.replace(f"://{in_url(host)}:", f"://{in_url(reached)}:")
    return url


def in_url(host: str) -> str:
    """A host as it stands in a URL."""
    return f"[{host}]" if ":" in host else host


def _published(home: Path) -> dict[str, str]:
    """What the companion that runs wrote down, {} if none does."""
    try:
        with (home / _LOCK).open("rb") as lock:
            if _is_free(lock.fileno()):
                return {}  # what was written down is of one that was killed
        addresses = json.loads((home / LISTENING).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return addresses if isinstance(addresses, dict) else {}


@contextlib.contextmanager
def lock_home(home: Path, *, alone: bool) -> Iterator[None]:
    """Hold the folder: together with other companions, or `alone`, as who puts another database in its place has to be.

    StoreUnavailable if that cannot be.
    """
    try:
        lock = (home / _LOCK).open("w")
    except OSError as error:
        raise SettingError(str(home), f"cannot be written to: {error.strerror}.") from None
    with lock:
        if not _try_lock(lock.fileno(), fcntl.LOCK_EX if alone else fcntl.LOCK_SH):
            what = "a companion runs on it: end it first" if alone else "its database is being restored: wait for that"
            raise StoreUnavailable(f"{home} is in use, {what}.") from None
        yield


@contextlib.contextmanager
def publish_addresses(home: Path, addresses: Mapping[str, str]) -> Iterator[None]:
    """Write down where a companion listens, as long as the block runs."""
    path, draft = home / LISTENING, home / f"{LISTENING}.{os.getpid()}"
    draft.write_text(json.dumps(dict(addresses)), encoding="utf-8")
    draft.replace(path)
    try:
        yield
    finally:
        if _published(home) == dict(addresses):
            path.unlink(missing_ok=True)


class Lease:
    """What only one companion on a folder does: the one that holds the file's lock."""

    def __init__(self, path: Path):
        self._path = path
        self._file: IO[str] | None = None

    @property
    def is_held(self) -> bool:
        """Whether this companion holds it."""
        return self._file is not None

    def take(self) -> bool:
        """Take it unless another companion holds it; whether it is held. SettingError if there can be no such file."""
        if self._file:
            return True
        try:
            file = self._path.open("w")
        except OSError as error:
            raise SettingError(str(self._path), f"cannot be written to: {error.strerror}.") from None
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            return False
        self._file = file
        return True

    def release(self) -> None:
        """Leave it to others."""
        if self._file:
            self._file.close()
            self._file = None


def _try_lock(lock: int, kind: int) -> bool:
    """Take a lock that somebody may hold for the moment in which he looks at it; whether it was had."""
    for _ in range(_LOOKS):
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(lock, kind | fcntl.LOCK_NB)
            return True
        time.sleep(_LOOK_SECONDS)
    return False


def _is_free(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
