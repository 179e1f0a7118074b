"""Lightweight mode's memory: MEMORY.md and a note for each day, plain Markdown that people read and edit too.

File names are built from a checked alphabet, never taken as a path: MEMORY.md, or a day such as 2026-01-31.md.
"""

import os

from engram import files
from engram.clock import day_number
from engram.compat import const
from engram.errors import ArgumentError, NotFound
from engram.memory import edit

MEMORY = "MEMORY.md"
_DAY = const(86400)
_BYTES_A_CHARACTER = const(4)


class Notes:
    """The Markdown files in a folder, each at most `limit` characters; `changes` keeps what undo needs."""

    def __init__(self, folder: str, changes, clock, limit: int = 8000):
        self._folder = folder
        self._changes = changes
        self._clock = clock
        self._limit = limit
        files.make_folder(folder)

    def today(self) -> str:
        """The name of today's note."""
        return self._clock.day(self._clock.now()) + ".md"

    def yesterday(self) -> str:
        """The name of yesterday's note."""
        return self._clock.day(self._clock.now() - _DAY) + ".md"

    def names(self):
        """The names of the files that exist: MEMORY.md first, then the notes, newest first."""
        found = [name for name in os.listdir(self._folder) if is_note(name)]
        found.sort(reverse=True)
        if files.size(self._folder + "/" + MEMORY) >= 0:
            found.insert(0, MEMORY)
        return found

    def text(self, name: str) -> str:
        """The whole text of a file, "" if there is none yet."""
        return edit.read(self._path(name), self._limit * _BYTES_A_CHARACTER + _BYTES_A_CHARACTER)

    def lines(self, name: str, first: int = 1, count: int = 100) -> list:
        """Some lines of a file, the first line being 1; NotFound if there is no such file."""
        if files.size(self._path(name)) < 0:
            raise NotFound("note", name, "there are " + (", ".join(self.names()[:8]) or "none yet") + ".")
        if not isinstance(first, int) or first < 1:
            raise ArgumentError("first", "must be a line number from 1 on.")
        return self.text(name).split("\n")[first - 1 : first - 1 + count]

    def write(self, name: str, content: str) -> None:
        """Give a file a new text."""
        self._check_writable(name)
        edit.check("text", content, self._limit, name)
        self._changes.note("note", name, self.text(name))
        files.write(self._path(name), content)

    def append(self, name: str, line: str) -> None:
        """Add a line to a file."""
        self._check_writable(name)
        old = self.text(name)
        new = edit.appended(old, line)
        edit.check("text", new, self._limit, name)
        self._changes.note_append("note", name, len(old))
        files.write(self._path(name), new)

    def replace(self, name: str, old: str, new: str) -> None:
        """Put `new` in the place of `old`, which must stand in the file exactly once."""
        self.write(name, edit.replaced(self.text(name), old, new, name))

    def note(self, content: str) -> None:
        """Add a line to today's note, with the time of day."""
        if not isinstance(content, str) or not content.strip():
            raise ArgumentError("text", "must be a text that is not empty.")
        minute = self._clock.minute(self._clock.now())[-5:]
        self.append(self.today(), "- " + minute + " " + " ".join(content.split()))

    def put_back(self, name: str, content: str) -> None:
        """Give a file the text that it had before a change."""
        files.write(self._path(name), content)

    def _check_writable(self, name: str) -> None:
        allowed = (MEMORY, self.today(), self.yesterday())
        if name not in allowed:
            raise ArgumentError("file", "can be changed only if it is one of " + ", ".join(allowed) + ".")

    def _path(self, name: str) -> str:
        if name != MEMORY and not is_note(name):
            raise ArgumentError("file", "must be MEMORY.md or a day's note such as " + self.today() + ".")
        return self._folder + "/" + name


def is_note(name) -> bool:
    """Whether a file's name is that of a day's note."""
    if not isinstance(name, str) or name[-3:] != ".md":
        return False
    try:
        day_number(name[:-3])
    except ValueError:
        return False
    return True
