"""One companion for a folder: its lock, where it listens, and where it is found."""

import contextlib
import fcntl
import json
import os
import socket
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

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
            if _is_free(lock.fileno()):
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
    path, draft = home / LISTENING, home / f"{LISTENING}.{os.getpid()}"
    draft.write_text(json.dumps(dict(addresses)), encoding="utf-8")
    draft.replace(path)
    try:
        yield
    finally:
        if _published(home) == dict(addresses):
            path.unlink(missing_ok=True)


def _try_lock(lock: int, kind: int) -> bool:
    """Try a lock briefly, since probes hold it for a moment."""
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
