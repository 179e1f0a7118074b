"""Which files belong to a folder of the settings, and what they are called in citations."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from engram_host.companion.errors import SettingError
from engram_host.companion.folders.settings import SECTION, FoldersSettings, WantedFolder, is_plain
from engram_host.companion.types import FOLDER

Form = Literal["all", "memory", "file"]

_SUFFIX = ".md"
_MEMORY_FILE = "MEMORY.md"
_MEMORY_FOLDER = "memory"
_LONGEST_PATH = 1000
_DIGEST_BYTES = 8


@dataclass(frozen=True)
class FolderSource:
    """A folder that is read: `form` all: each *.md below `root`; memory: MEMORY.md and memory/**/*.md; file: `only`.

    `name` is how its citations begin, `device` its name in the store.
    """

    name: str
    root: Path
    form: Form
    scope: str
    device: str
    only: str = ""

    def holds(self, path: str) -> bool:
        """Whether the file at a path below the root belongs to it."""
        parts = path.split("/")
        if not all(map(is_plain, parts)) or not parts[-1].endswith(_SUFFIX) or len(path) > _LONGEST_PATH:
            return False
        if self.form == "file":
            return path == self.only
        return self.form == "all" or path == _MEMORY_FILE or (parts[0] == _MEMORY_FOLDER and len(parts) > 1)

    def enters(self, path: str) -> bool:
        """Whether files that belong to it may be in the folder at a path below the root."""
        if self.form == "file" or not is_plain(path.rpartition("/")[2]):
            return False
        return self.form == "all" or path.split("/")[0] == _MEMORY_FOLDER

    def cited(self, path: str) -> str:
        """What a file is called outside."""
        return self.name if self.form == "file" else f"{self.name}/{path}"

    def path_of(self, cited: str) -> str:
        """The path below the root of what is called so, "" if nothing of this folder is."""
        if self.form == "file":
            return self.only if cited == self.name else ""
        name, _, path = cited.partition("/")
        return path if name == self.name and self.holds(path) else ""


def folder_sources(settings: FoldersSettings, companion: str) -> list[FolderSource]:
    """The folders of the settings; `companion` tells them from another one's in the same database. SettingError."""
    found: list[FolderSource] = []
    for form, wanted in _all(settings):
        name = wanted.name or _free_name(wanted.path.name or "root", {place.name for place in found})
        root, only = (wanted.path.parent, wanted.path.name) if form == "file" else (wanted.path, "")
        key = f"{form}\0{wanted.path}".encode("utf-8", "surrogateescape")
        digest = hashlib.blake2b(key, digest_size=_DIGEST_BYTES).hexdigest()
        place = FolderSource(name, root, form, wanted.scope, f"{FOLDER}{companion}:{digest}", only)
        if any(place.name == other.name or place.device == other.device for other in found):
            raise SettingError(
                SECTION, f"{wanted.path} or its name {name!r} stands there twice; give one of them another name."
            )
        found.append(place)
    return found


def _all(settings: FoldersSettings) -> Iterator[tuple[Form, WantedFolder]]:
    for wanted in settings.wanted("memory"):
        yield "memory", wanted
    for wanted in settings.wanted("paths"):
        yield ("file" if wanted.path.name.endswith(_SUFFIX) else "all"), wanted


def _free_name(name: str, taken: set[str]) -> str:
    name = "".join(sign if is_plain("x" + sign) else "-" for sign in name).lstrip(".") or "folder"
    number = 1
    free = name
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    return free
