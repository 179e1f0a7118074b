"""Settings of Markdown folders: the table [folders] of companion.toml."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engram import text
from engram.memory import ALL
from engram_host.companion.errors import SettingError
from engram_host.companion.settings_reader import setting

FOLDERS_TABLE = "folders"
OWNERS = "user:owner"

_MOST_FOLDERS = 32
_SCOPE = re.compile(r"all|(?:user|ws):[^\s:\"#@]{1,60}")
_KEYS = ("path", "scope", "name", "pattern")
_MOST_PATTERNS = 16
_LONGEST_PATTERN = 200
_SUFFIX = ".md"

CITATIONS = ("on", "auto", "off")


@dataclass(frozen=True)
class WantedFolder:
    """A folder or file in the settings; `name` is "" if it is that of its path."""

    path: Path
    scope: str = OWNERS
    name: str = ""
    patterns: tuple[str, ...] = ()
    """Globs of files relative to the folder; all Markdown files without any."""

    @property
    def is_file(self) -> bool:
        return self.path.name.endswith(_SUFFIX)


@dataclass(frozen=True)
class FoldersSettings:
    """Settings of folders; raises SettingError for impossible ones."""

    paths: tuple[Any, ...] = setting((), "ENGRAM_FOLDERS", high=_MOST_FOLDERS)
    memory: tuple[Any, ...] = setting((), "ENGRAM_MEMORY_FOLDERS", high=_MOST_FOLDERS)
    chunk_tokens: int = setting(400, "ENGRAM_CHUNK_TOKENS", low=50, high=1000)
    overlap_tokens: int = setting(80, "ENGRAM_OVERLAP_TOKENS", low=0, high=400)
    citations: str = setting("on", "ENGRAM_CITATIONS", one_of=CITATIONS)
    snippet_chars: int = setting(700, "ENGRAM_SNIPPET_CHARS", low=80, high=700)
    rescan_seconds: int = setting(5, "ENGRAM_RESCAN_SECONDS", low=1, high=86400)
    most_files: int = setting(20000, "ENGRAM_MOST_FILES", low=1, high=50000)
    most_file_bytes: int = setting(2000000, "ENGRAM_MOST_FILE_BYTES", low=1000, high=16000000)

    def __post_init__(self) -> None:
        if 2 * self.overlap_tokens >= self.chunk_tokens:
            raise SettingError(
                f"{FOLDERS_TABLE}.overlap_tokens", f"must be less than half of {FOLDERS_TABLE}.chunk_tokens."
            )
        self.wanted("paths")
        self.wanted("memory")

    def wanted(self, which: str) -> list[WantedFolder]:
        found = [_wanted(f"{FOLDERS_TABLE}.{which}", entry) for entry in getattr(self, which)]
        for one in found:
            if one.patterns and (which == "memory" or one.is_file):
                problem = f"{one.path} has a pattern, and only a folder of {FOLDERS_TABLE}.paths can have one."
                raise SettingError(f"{FOLDERS_TABLE}.{which}", problem)
        return found


def _wanted(setting_name: str, entry: Any) -> WantedFolder:
    fields = {"path": entry} if isinstance(entry, str) else entry
    if not isinstance(fields, Mapping) or not all(isinstance(fields[key], str) for key in fields if key != "pattern"):
        raise SettingError(
            setting_name, 'must be a list of paths, or of {path = "...", scope = "...", name = "...", pattern = "..."}.'
        )
    unknown = [key for key in fields if key not in _KEYS]
    if unknown or not fields.get("path"):
        raise SettingError(
            setting_name, f"an entry has a path, and may have a scope, a name and a pattern; not {unknown or fields}."
        )
    scope, name = fields.get("scope", OWNERS), fields.get("name", "")
    if not _SCOPE.fullmatch(scope):
        raise SettingError(setting_name, f"a scope is {ALL}, user:NAME or ws:NAME; {scope!r} is none.")
    if name and not is_plain(name):
        raise SettingError(
            setting_name, f"{name!r} can be no folder's name: leave out slashes, a dot at its beginning and #."
        )
    try:
        path = Path(fields["path"]).expanduser()
    except RuntimeError:
        path = Path()
    if not path.is_absolute() or ".." in path.parts or "\0" in fields["path"]:
        raise SettingError(
            setting_name, f"{fields['path']!r} must be a whole path, such as ~/notes or /home/ann/notes."
        )
    return WantedFolder(path, scope, name, _patterns(setting_name, fields.get("pattern", ())))


def _patterns(setting_name: str, value: Any) -> tuple[str, ...]:
    """Return an entry's globs, a text or a list; raises SettingError."""
    listed = [value] if isinstance(value, str) else value
    is_list = isinstance(listed, (list, tuple)) and len(listed) <= _MOST_PATTERNS
    if not is_list or not all(isinstance(each, str) and _is_pattern(each) for each in listed):
        raise SettingError(
            setting_name,
            f"a pattern is a glob of files below the folder, such as journal/**/*.md, or a list of at most "
            f"{_MOST_PATTERNS} globs; {value!r} is none.",
        )
    return tuple(dict.fromkeys(listed))


def _is_pattern(pattern: str) -> bool:
    parts = pattern.split("/")
    is_clean = len(pattern) <= _LONGEST_PATTERN and not any(sign in pattern for sign in "\\\n\t")
    is_clean = is_clean and text.printable(pattern) == pattern
    return is_clean and all(part and part not in (".", "..") for part in parts)


def is_plain(name: str) -> bool:
    """True unless a name is hidden or cannot be cited."""
    if not name or name[0] == "." or len(name) > 255 or any(sign in name for sign in "/\\#\n\t"):
        return False
    try:
        name.encode()
    except UnicodeEncodeError:
        return False  # bytes that are no UTF-8
    return text.printable(name) == name
