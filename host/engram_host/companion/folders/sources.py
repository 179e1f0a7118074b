"""Files of the settings' folders.

Symbolic links are never followed, even if one appears meanwhile; only the root itself may be one.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from engram_host.companion.errors import FileUnreadable, SettingError
from engram_host.companion.folder_settings import FOLDERS_TABLE, FoldersSettings, WantedFolder, is_plain
from engram_host.companion.types import FOLDER
from engram_host.wording import counted

Form = Literal["all", "memory", "file"]

_SUFFIX = ".md"
_MEMORY_FILE = "MEMORY.md"
_MEMORY_FOLDER = "memory"
_LONGEST_PATH = 1000
_DIGEST_BYTES = 8


@dataclass(frozen=True)
class FolderSource:
    """A folder to read; `form` is all (*.md or `patterns`), memory (MEMORY.md, memory/**/*.md) or file."""

    name: str
    root: Path
    form: Form
    scope: str
    device: str
    only: str = ""
    patterns: tuple[str, ...] = ()

    def contains_file(self, path: str) -> bool:
        parts = path.split("/")
        if not all(map(is_plain, parts)) or len(path) > _LONGEST_PATH:
            return False
        if self.patterns:
            return any(matches(pattern, path) for pattern in self.patterns)
        if not parts[-1].endswith(_SUFFIX):
            return False
        if self.form == "file":
            return path == self.only
        return self.form == "all" or path == _MEMORY_FILE or (parts[0] == _MEMORY_FOLDER and len(parts) > 1)

    def may_contain_files(self, path: str) -> bool:
        if self.form == "file" or not is_plain(path.rpartition("/")[2]):
            return False
        if self.patterns:
            return any(may_match_below(pattern, path) for pattern in self.patterns)
        return self.form == "all" or path.split("/")[0] == _MEMORY_FOLDER

    def citation(self, path: str) -> str:
        return self.name if self.form == "file" else f"{self.name}/{path}"

    def path_of(self, cited: str) -> str:
        """Return the path of a citation, "" if it is of another folder."""
        if self.form == "file":
            return self.only if cited == self.name else ""
        name, _, path = cited.partition("/")
        return path if name == self.name and self.contains_file(path) else ""


def folder_sources(settings: FoldersSettings, companion: str) -> list[FolderSource]:
    found: list[FolderSource] = []
    for form, wanted in _all(settings):
        name = wanted.name or _free_name(wanted.path.name or "root", {place.name for place in found})
        root, only = (wanted.path.parent, wanted.path.name) if form == "file" else (wanted.path, "")
        # Several collections may share a folder; other patterns make it another one.
        key = "\0".join((form, str(wanted.path), *wanted.patterns)).encode("utf-8", "surrogateescape")
        digest = hashlib.blake2b(key, digest_size=_DIGEST_BYTES).hexdigest()
        place = FolderSource(name, root, form, wanted.scope, f"{FOLDER}{companion}:{digest}", only, wanted.patterns)
        if any(place.name == other.name or place.device == other.device for other in found):
            raise SettingError(
                FOLDERS_TABLE, f"{wanted.path} or its name {name!r} stands there twice; give one of them another name."
            )
        found.append(place)
    return found


def _all(settings: FoldersSettings) -> Iterator[tuple[Form, WantedFolder]]:
    for wanted in settings.wanted("memory"):
        yield "memory", wanted
    for wanted in settings.wanted("paths"):
        yield ("file" if wanted.is_file else "all"), wanted


def _free_name(name: str, taken: set[str]) -> str:
    name = "".join(sign if is_plain("x" + sign) else "-" for sign in name).lstrip(".") or "folder"
    number = 1
    free = name
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    return free


# --- globs below a folder: `*` and `?` stay within a name, `**` matches any folders or none


_ANY = "**"


def matches(pattern: str, path: str) -> bool:
    parts = _parts(pattern)
    return len(parts) in _places(parts, path.split("/"))


def may_match_below(pattern: str, path: str) -> bool:
    parts = _parts(pattern)
    return any(place < len(parts) for place in _places(parts, path.split("/")))


def _parts(pattern: str) -> list[str]:
    parts = pattern.split("/")
    return [*parts, "*"] if parts[-1] == _ANY else parts


def _places(parts: list[str], names: list[str]) -> set[int]:
    """Return the possible counts of parts used up; all are followed at once, so no glob is slow."""
    places = _with_skips(parts, {0})
    for name in names:
        left = [place for place in places if place < len(parts)]
        places = {place for place in left if parts[place] == _ANY}
        places |= {place + 1 for place in left if parts[place] != _ANY and fnmatchcase(name, parts[place])}
        places = _with_skips(parts, places)
    return places


def _with_skips(parts: list[str], places: set[int]) -> set[int]:
    found = set(places)
    for place, part in enumerate(parts):
        if place in found and part == _ANY:
            found.add(place + 1)
    return found


# --- reading


MOST_DEPTH = 32  # nested folders: bounds the open descriptors of a listing
MOST_FOLDERS = 5000  # folders below one root
MOST_PROBLEMS = 20  # sentences on left-out files; others are only counted
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_AT_ONCE = 1 << 16
_GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
_LASTING = (errno.EACCES, errno.EPERM)


@dataclass
class Listing:
    files: dict[str, str] = field(default_factory=dict)
    folders: int = 0
    # Folders that could not be read, so that their contents are unknown.
    unknown: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    links: int = 0

    def add_problem(self, sentence: str) -> None:
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(sentence)

    def may_contain(self, path: str) -> bool:
        return any(not folder or path.startswith(folder + "/") for folder in self.unknown)


@dataclass(frozen=True)
class FileContents:
    data: bytes = field(repr=False)
    stamp: str
    changed: int


def stamp_of(status: os.stat_result) -> str:
    return f"{status.st_ino}.{status.st_mtime_ns}.{status.st_ctime_ns}.{status.st_size}"


def list_files(place: FolderSource, most: int) -> Listing | None:
    listing = Listing()
    try:
        root = os.open(place.root, _FOLDER)
    except OSError as error:
        if error.errno in _GONE:
            return None
        listing.unknown.append("")
        listing.add_problem(f"{place.name} cannot be read: {error.strerror}.")
        return listing
    try:
        _list(place, root, "", listing, most, MOST_DEPTH)
    finally:
        os.close(root)
    if place.form == "file" and place.only not in listing.files and not listing.unknown:
        return None
    return listing


def _list(place: FolderSource, descriptor: int, prefix: str, listing: Listing, most: int, depth: int) -> None:
    if listing.folders >= MOST_FOLDERS or not depth:
        listing.add_problem(
            f"{place.citation(prefix)} was left out: there are too many folders, or too many inside each other."
        )
        return
    listing.folders += 1
    try:
        names = [place.only] if place.form == "file" else sorted(os.listdir(descriptor))
    except OSError as error:
        _note_unreadable(place, prefix.rstrip("/"), error, listing)
        return
    for name in names:
        path = prefix + name
        with suppress(FileNotFoundError):
            status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            if stat.S_ISLNK(status.st_mode):
                listing.links += place.contains_file(path) or place.may_contain_files(path)
            elif stat.S_ISREG(status.st_mode) and place.contains_file(path):
                if len(listing.files) < most:
                    listing.files[path] = stamp_of(status)
                else:
                    limit = counted(most, "file", "files")
                    listing.add_problem(
                        f"{place.name} has more than {limit}; the others are not read (folders.most_files)."
                    )
                    return
            elif stat.S_ISDIR(status.st_mode) and place.may_contain_files(path):
                _enter(place, descriptor, path, listing, most, depth)


def _enter(place: FolderSource, descriptor: int, path: str, listing: Listing, most: int, depth: int) -> None:
    try:
        inner = os.open(path.rpartition("/")[2], _FOLDER | os.O_NOFOLLOW, dir_fd=descriptor)
    except OSError as error:
        if error.errno not in _GONE:
            _note_unreadable(place, path, error, listing)
        return
    try:
        _list(place, inner, path + "/", listing, most, depth - 1)
    finally:
        os.close(inner)


def _note_unreadable(place: FolderSource, path: str, error: OSError, listing: Listing) -> None:
    listing.unknown.append(path)
    listing.add_problem(f"{place.citation(path)} cannot be looked into: {error.strerror}.")


def read_file(place: FolderSource, path: str, most: int) -> FileContents:
    """Read a file; raises FileNotFoundError, FileUnreadable, or OSError for temporary failures."""
    if not place.contains_file(path):
        raise FileNotFoundError(path)
    with _opened(place, path) as descriptor:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise FileNotFoundError(path)
        if status.st_size > most:
            raise FileUnreadable(
                place.citation(path),
                f"has {counted(status.st_size, 'byte', 'bytes')}, at most {most} are read (folders.most_file_bytes)",
            )
        data = bytearray()
        while len(data) <= most and (piece := os.read(descriptor, _AT_ONCE)):
            data += piece
        after = os.fstat(descriptor)
    # A change during the reading is read the next time.
    stamp = stamp_of(status) if stamp_of(status) == stamp_of(after) and len(data) == status.st_size else ""
    return FileContents(bytes(data[:most]), stamp, int(status.st_mtime))


@contextmanager
def _opened(place: FolderSource, path: str) -> Iterator[int]:
    *folders, name = path.split("/")
    descriptor = _step(place, path, os.fspath(place.root), _FOLDER, None)
    try:
        for folder in folders:
            inner = _step(place, path, folder, _FOLDER | os.O_NOFOLLOW, descriptor)
            os.close(descriptor)
            descriptor = inner
        file = _step(place, path, name, _FILE, descriptor)
    finally:
        os.close(descriptor)
    try:
        yield file
    finally:
        os.close(file)


def _step(place: FolderSource, path: str, name: str, flags: int, folder: int | None) -> int:
    try:
        return os.open(name, flags, dir_fd=folder)
    except OSError as error:
        if error.errno in _GONE:
            raise FileNotFoundError(path) from None
        if error.errno in _LASTING:
            raise FileUnreadable(place.citation(path), "may not be read: the companion lacks the permission") from None
        raise


def decoded(place: FolderSource, path: str, data: bytes) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileUnreadable(
            place.citation(path), f"is not UTF-8 from byte {error.start} on: save it as UTF-8"
        ) from None
    if "\0" in text:
        raise FileUnreadable(place.citation(path), "has zero bytes in it, so it is no text")
    return text
