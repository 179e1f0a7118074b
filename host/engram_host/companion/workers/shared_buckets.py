"""Buckets of rate limits that the workers of one machine share: a file in memory, so that a limit holds for all together.

Each name has its place in one of SETS sets of WAYS buckets, by its hash. In a full set the bucket used longest ago makes room,
and begins full if its name comes again.
"""

import fcntl
import hashlib
import mmap
import os
import struct
import time
from collections.abc import Callable
from pathlib import Path

SETS, WAYS = 2048, 4
"""As many buckets as a companion of one worker has (auth.rate_limit.MOST_NAMES)."""

_BUCKET = struct.Struct("<8sdd")
"""The hash of a name, what is left in its bucket, and since when, by the monotonic clock; zeros: no bucket."""

_SET_BYTES = WAYS * _BUCKET.size
_LOCK_SECONDS = 0.05
"""How long a lock is waited for. Others hold it for microseconds; one that was stopped in between must not stop all others."""

State = tuple[float, float]


class SharedBuckets:
    """The buckets in a file, which each worker may open at any time."""

    def __init__(self, path: Path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        self._file = os.fdopen(descriptor, "r+b", 0)
        os.truncate(descriptor, SETS * _SET_BYTES)
        self._memory = mmap.mmap(descriptor, SETS * _SET_BYTES)

    def change(self, name: str, count: Callable[[State | None], State]) -> None:
        """Put what `count` makes of a name's bucket in its place; it is given None if there is none."""
        key = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        start = int.from_bytes(key, "little") % SETS * _SET_BYTES
        is_locked = self._lock(start)
        try:
            at, known = self._find(key, start)
            _BUCKET.pack_into(self._memory, at, key, *count(known))
        finally:
            if is_locked:
                fcntl.lockf(self._file, fcntl.LOCK_UN, _SET_BYTES, start)

    def _find(self, key: bytes, start: int) -> tuple[int, State | None]:
        """Where the bucket of a name is or may be, and what it holds."""
        oldest, oldest_since = start, float("inf")
        for at in range(start, start + _SET_BYTES, _BUCKET.size):
            found, left, since = _BUCKET.unpack_from(self._memory, at)
            if found == key and since:
                return at, (left, since)
            if since < oldest_since:
                oldest, oldest_since = at, since
        return oldest, None

    def _lock(self, start: int) -> bool:
        """Keep other workers away from a set; False if another one does not release it: then a count may be lost."""
        until = time.monotonic() + _LOCK_SECONDS
        while True:
            try:
                fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, _SET_BYTES, start)
            except OSError:
                if time.monotonic() > until:
                    return False
                time.sleep(0)  # for the one that has it
            else:
                return True
