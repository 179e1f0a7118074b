"""Take packages from a Debian mirror's pool by the hashes of debian.lock, without the mirror's indexes.

A mirror that is being synchronised, or a cache before it, may serve an index that does not match its signed release
for days: apt then refuses the release as a whole. A package in the pool never changes, so its hash is enough.
"""

import hashlib
import http.client
import urllib.parse
import urllib.request
from pathlib import Path
from typing import NamedTuple

LOCK = Path(__file__).with_name("debian.lock")

MOST_SECONDS = 60
"""How long a mirror may be silent."""


class Package(NamedTuple):
    """One file of the pool: where it stands below the mirror's address, its size in bytes, its SHA-256 in hex."""

    path: str
    size: int
    sha256: str

    @property
    def name(self) -> str:
        """The file's own name."""
        return self.path.rsplit("/", 1)[1]


class Missing(Exception):
    """The mirror does not have a locked package, or another one by its name; the message says which."""


def locked(wanted: str, suite: str, architecture: str, lock: Path = LOCK) -> list[Package]:
    """What `wanted` ("package=version") needs, itself included; none where the lock does not know it."""
    found = []
    for line in lock.read_text().splitlines():
        if line.startswith("#"):
            continue
        name, release, machine, path, size, digest = line.split()
        if (name, release, machine) == (wanted, suite, architecture):
            found.append(Package(path, int(size), digest))
    return found


def download(package: Package, mirror: str, folder: Path) -> Path:
    """Fetch a package into `folder`, unless it is there already; Missing when it cannot be had as it was locked."""
    target = folder / package.name
    if target.exists() and _is(package, target.read_bytes()):
        return target
    address = f"{mirror.rstrip('/')}/{urllib.parse.quote(package.path)}"
    try:
        with urllib.request.urlopen(address, timeout=MOST_SECONDS) as answer:
            content = answer.read(package.size + 1)
    except (OSError, ValueError, http.client.HTTPException) as problem:
        raise Missing(f"{package.name}: {problem}") from problem
    if not _is(package, content):
        raise Missing(f"{package.name} is not the file that was locked.")
    draft = target.with_name(target.name + ".new")
    draft.write_bytes(content)
    draft.replace(target)
    return target


def _is(package: Package, content: bytes) -> bool:
    return len(content) == package.size and hashlib.sha256(content).hexdigest() == package.sha256
