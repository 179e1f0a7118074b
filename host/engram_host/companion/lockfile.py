"""One companion for a folder: its lock, where it listens, and where it is found; locks on files."""

import contextlib
import errno
import fcntl
import json
import os
import socket
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from engram_host.companion.errors import SettingError, StoreUnavailable

DEFAULT_HOME = Path("~/.engram/companion")

HOME_VARIABLE = "ENGRAM_COMPANION_HOME"

LISTENING = "listening.json"
_LOCK = "lock"
_LOOKS, _LOOK_SECONDS = 10, 0.05
_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}


def running_addresses(home: Path) -> dict[str, str]:
    """Return the `http` and `mqtt` addresses of a running companion; {} if none runs."""
    return {name: _from_here(url) for name, url in _published(home).items()}


def reachable_host(host: str) -> str:
    """Return a host to connect to, for a listen address that may be a wildcard."""
    return _ANY.get(host, host)


def _from_here(url: str) -> str:
    for host, reached in _ANY.items():
        url = url.replace(f"://{in_url(host)}:", f"://{in_url(reached)}:")
    return url


def in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _published(home: Path) -> dict[str, str]:
    try:
        with (home / _LOCK).open("rb") as lock:
            if _try_flock(lock, fcntl.LOCK_EX):
                return {}  # left by a killed companion
        addresses = json.loads((home / LISTENING).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return addresses if isinstance(addresses, dict) else {}


def bind_socket(host: str, port: int) -> socket.socket:
    """Bind a socket, to a free port for 0, without listening yet; may raise OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With a named protocol asyncio disables Nagle's algorithm, which would delay each answer by 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
    except OSError:
        listener.close()
        raise
    return listener


@contextlib.contextmanager
def lock_home(home: Path, *, alone: bool) -> Iterator[None]:
    """Lock the folder, shared or `alone` (to replace the database); raises StoreUnavailable."""
    try:
        lock = lock_file(home / _LOCK, is_shared=not alone)
    except BlockingIOError:
        what = "a companion runs on it: end it first" if alone else "its database is being restored: wait for that"
        raise StoreUnavailable(f"{home} is in use, {what}.") from None
    except OSError as error:
        raise SettingError(str(home), f"cannot be written to: {error.strerror}.") from None
    with lock:
        yield


@contextlib.contextmanager
def publish_addresses(home: Path, addresses: Mapping[str, str]) -> Iterator[None]:
    path, draft = home / LISTENING, home / f"{LISTENING}.{os.getpid()}"
    draft.write_text(json.dumps(dict(addresses)), encoding="utf-8")
    draft.replace(path)
    try:
        yield
    finally:
        if _published(home) == dict(addresses):
            path.unlink(missing_ok=True)


# --- locks on files


def lock_file(path: Path, *, is_shared: bool = False, waits: bool = False) -> IO[bytes]:
    """Open a file and lock it until it is closed. Raise OSError; BlockingIOError if another process holds the lock."""
    kind = fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX
    lock = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb")
    if waits:
        fcntl.flock(lock, kind)
        return lock
    for _ in range(_LOOKS):  # somebody who looks holds it for a moment
        if _try_flock(lock, kind):
            return lock
        time.sleep(_LOOK_SECONDS)
    lock.close()
    raise BlockingIOError(errno.EWOULDBLOCK, "is locked by another process", str(path))


def _try_flock(lock: IO[bytes], kind: int) -> bool:
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
