"""Indexes of boards kept in files, so that a board's first search after a start opens one in place.

A file is only a copy: what it has stands in the database, and a file that is doubted is removed and made again. It is doubted
if it is damaged, cut, of another version of the program, of another epoch, time zone or generation of its board, or if the
database does not know it: with each file a random number is written into the database, so that one which is newer than a
database that was restored is never used. Lines that came since are added by version, as to an index in memory.

A file has numbers of words, vectors and names, and nothing of a line that has left the database: it is written again, or
removed, as soon as sweep() sees that lines have gone.

Several workers share a folder. A file and its number are replaced together under a lock of the folder, and what one worker
doubts is removed under the same lock, and only if no other one has replaced it meanwhile. A file that is newer than what a
worker has read of the board stays, and so does one that cannot be read now, as when the process has no descriptor left.
"""

import contextlib
import fcntl
import functools
import logging
import os
import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import astuple
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, Literal, Protocol

import numpy as np

from engram.store.types import EIGHTHS, HEAD, MOST_TERMS
from engram_host import __version__
from engram_host.companion.entries.embedding_text import KEY_VERSION
from engram_host.companion.search.indexes.columns import NONE, RowPlan, compact_texts
from engram_host.companion.search.indexes.image import BadImage, IndexImage, map_image, read_facts, write_image
from engram_host.companion.search.indexes.index import DeviceIndex
from engram_host.companion.search.tokenizer import Tokenizer
from engram_host.companion.types import Device

FOLDER = "indexes"
"""In the companion's folder."""

_SUFFIX = ".index"
_ID = "id"
_ID_LENGTH = 16
_LOCK = "lock"
_OLD_SECONDS = 600
"""After which a file that was never finished is one of a process that has ended."""

_ATTEMPTS = 3
"""To read a file that another worker has replaced meanwhile."""

_FileState = Literal["current", "newer", "stale"]
_SAMPLE = "On 7 May 2023 Ann's getUserName() said: 自行车 ran studies, E_CONN_42, Ünïted"
_log = logging.getLogger("engram.searching")


class KeptNotes(Protocol):
    """Where the number of each file is written: in the database."""

    def get(self, name: str) -> str:
        """The value of a note, "" if there is none."""
        ...

    def put(self, name: str, value: str) -> None:
        """Keep a note in the place of a former one."""
        ...


class KeptIndexes:
    """The files in one folder, within a bound of bytes. Calls may come from any thread; several processes may share it."""

    def __init__(self, folder: Path, notes: KeptNotes, most_bytes: int):
        self._folder = folder
        self._notes = notes
        self._most_bytes = most_bytes

    def open(self, device: Device, words: Tokenizer) -> DeviceIndex | None:
        """The kept index of a board, mapped; None if there is none that can be used now. StoreUnavailable."""
        image = self._read(device, map_image)
        if image is None:
            return None
        with contextlib.suppress(OSError):
            os.utime(self._path(device.name))  # used last: others go before it
        return DeviceIndex(device, words, image)

    def facts(self, device: Device) -> dict[str, Any] | None:
        """The facts of a board's file, whose arrays are not looked at; None as open() gives it. StoreUnavailable."""
        image = self._read(device, read_facts)
        return image.facts if image else None

    def save(self, device: Device, image: IndexImage) -> bool:
        """Keep what make_image() gave in place of a former file; False if that is not possible, and the former one stays.

        StoreUnavailable.
        """
        token = secrets.token_hex(16)
        path = self._path(device.name)
        unfinished = path.with_suffix(f".{os.getpid()}-{token[:8]}.tmp")
        facts = {**image.facts, **_facts_of(device), "token": token}
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                write_image(file, IndexImage(image.arrays, facts))
            note = self._note(device.name)
            with self._locked():
                self._notes.put(note, token)
                unfinished.replace(path)
        except OSError as problem:
            _warn(f"the index of {device.name} is not kept in a file", problem)
            return False
        finally:
            with contextlib.suppress(OSError):
                unfinished.unlink(missing_ok=True)
        self._remove_oldest(path)
        return True

    def drop(self, name: str) -> None:
        """Remove the file of a board."""
        with contextlib.suppress(OSError):
            self._path(name).unlink(missing_ok=True)

    def has(self, name: str) -> bool:
        """Whether there is a file of a board."""
        return self._path(name).exists()

    def names(self) -> Iterator[str]:
        """The boards with a file; one that is damaged is removed, and so is what a process that has ended never finished."""
        for path in [*self._paths("*.tmp"), *self._paths("*" + _SUFFIX)]:
            try:
                if path.suffix == _SUFFIX:
                    name = self._name_in(path)
                    if name:
                        yield name
                elif time.time() - path.stat().st_mtime > _OLD_SECONDS:
                    path.unlink(missing_ok=True)
            except FileNotFoundError:
                continue
            except OSError as problem:
                _warn("a file of an index is not looked at", problem)

    @property
    def nbytes(self) -> int:
        """Bytes of all files."""
        return sum(size for _, size, _ in self._sizes())

    @property
    def folder_id(self) -> str:
        """The random number of the folder: companions on several machines share a database, and each has its files. OSError."""
        known = self._known_id()
        if known:
            return known
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._locked():
            made = self._known_id() or secrets.token_hex(_ID_LENGTH // 2)
            draft = self._folder / f"{_ID}.draft"
            draft.write_text(made, encoding="ascii")
            draft.replace(self._folder / _ID)  # whoever reads it reads all of it
        return made

    def _known_id(self) -> str:
        with contextlib.suppress(FileNotFoundError):
            known = (self._folder / _ID).read_bytes()
            if len(known) == _ID_LENGTH and known.isalnum():
                return known.decode()
        return ""

    # --- reading

    def _read(self, device: Device, read: Callable[[BinaryIO], IndexImage]) -> IndexImage | None:
        """What `read` gives of a board's file, None if there is none that can be used now; a stale one is removed."""
        path = self._path(device.name)
        try:
            for _ in range(_ATTEMPTS):
                with path.open("rb") as file:
                    image, state = self._judge(file, device, read)
                    if state != "stale":
                        return image if state == "current" else None
                    if self._remove(path, file):
                        return None
        except FileNotFoundError:
            pass
        except OSError as problem:
            _warn(f"the index kept of {device.name} cannot be read now", problem)
        return None

    def _judge(
        self, file: BinaryIO, device: Device, read: Callable[[BinaryIO], IndexImage]
    ) -> tuple[IndexImage | None, _FileState]:
        try:
            image = read(file)
        except (BadImage, ValueError) as problem:
            _log.warning("the index kept of %s is not used: %s.", device.name, problem)
            return None, "stale"
        return image, self._state(image.facts, device)

    def _state(self, facts: dict[str, Any], device: Device) -> _FileState:
        """How a file with these facts stands to a board as a worker has read it: another one may have read it later."""
        if not facts["token"] or self._notes.get(self._note(device.name)) != facts["token"]:
            return "stale"
        if facts["version"] > device.version:
            return "newer"
        is_same = all(facts.get(name) == value for name, value in _facts_of(device).items())
        return "current" if is_same else "stale"

    def _name_in(self, path: Path) -> str:
        """The board that a file is of; a damaged one is removed, "". OSError."""
        with path.open("rb") as file:
            try:
                return read_facts(file).facts["board"]
            except (BadImage, ValueError):
                self._remove(path, file)
                return ""

    def _remove(self, path: Path, doubted: BinaryIO) -> bool:
        """Remove a file that is open and doubted; False if it has been replaced or removed meanwhile. OSError."""
        with self._locked():
            if not path.exists() or not os.path.samestat(path.stat(), os.fstat(doubted.fileno())):
                return False
            path.unlink()
            return True

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the folder, whose lock is for threads and processes alike. OSError."""
        with (self._folder / _LOCK).open("w") as lock:
            fcntl.flock(lock.fileno(), fcntl.LOCK_EX)
            yield

    def _path(self, name: str) -> Path:
        # A name may have signs that no file's name has: notes and folders have indexes as boards do.
        return self._folder / (blake2b(name.encode(), digest_size=16).hexdigest() + _SUFFIX)

    def _note(self, name: str) -> str:
        return f"index.{self.folder_id}.{name}"

    def _paths(self, pattern: str) -> list[Path]:
        try:
            return sorted(self._folder.glob(pattern))
        except OSError as problem:
            _warn("the files of indexes cannot be listed now", problem)
            return []

    def _sizes(self) -> list[tuple[float, int, Path]]:
        found: list[tuple[float, int, Path]] = []
        for path in self._paths("*" + _SUFFIX):
            with contextlib.suppress(OSError):
                status = path.stat()
                found.append((status.st_mtime, status.st_size, path))
        return found

    def _remove_oldest(self, newest: Path) -> None:
        """Remove the files used longest ago while all are too many bytes; the newest stays only if it has room by itself."""
        sizes = sorted(self._sizes(), key=lambda one: (one[2] == newest, one[0]))
        total = sum(size for _, size, _ in sizes)
        for _, size, path in sizes:
            if total <= self._most_bytes:
                return
            total -= size
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)


def _warn(sentence: str, problem: OSError) -> None:
    # A process without a free descriptor would say it for each file.
    _log.warning("%s: %s", sentence, problem, extra={"repeat": f"index files {problem.errno}"})


def make_image(index: DeviceIndex) -> IndexImage:
    """All that a file keeps of an index: rows of lines that have gone, and the names that only they have, are left out."""
    plan = RowPlan(index.rows.is_there)
    rows = index.rows.to_arrays(plan)
    texts = {}
    for name, table in (("thread", index.threads), ("who", index.speakers), ("scope", index.scopes)):
        texts[name], rows[name] = compact_texts(table.texts, rows[name])
    last = (rows["following"] == NONE) & (rows["thread"] != NONE)
    rows["last_of_thread"] = np.full(len(texts["thread"]), NONE, np.int32)
    rows["last_of_thread"][rows["thread"][last]] = np.flatnonzero(last)
    vectors = index.vectors.to_arrays(rows["slot"])
    rows["slot"] = np.full(len(plan.rows), NONE, np.int32)
    rows["slot"][vectors["rows"]] = np.arange(len(vectors["rows"]))
    tables = {"rows": rows, "postings": index.postings.to_arrays(plan), "vectors": vectors}
    tables["links"] = index.links.to_arrays(plan)
    facts = {
        "version": index.version,
        "vector_version": index.vector_version,
        "identity": astuple(index.identity) if index.identity else None,
        "threads": texts["thread"],
        "speakers": texts["who"],
        "scopes": texts["scope"],
        "states": index.states_kept(),
    }
    return IndexImage.from_tables(tables, facts)


def _facts_of(device: Device) -> dict[str, Any]:
    """What an index depends on beside the lines and vectors."""
    return {
        "board": device.name,
        "generation": device.generation,
        "zone": [device.zone.standard, device.zone.rule],
        "epochs": {log: state.epoch for log, state in device.logs.items()},
        "program": [__version__, KEY_VERSION, HEAD, EIGHTHS, MOST_TERMS, _sample_terms()],
    }


@functools.cache
def _sample_terms() -> list[list[int]]:
    """What this program makes of a sample of words."""
    return [*map(list, Tokenizer().term_ids(_SAMPLE))]
