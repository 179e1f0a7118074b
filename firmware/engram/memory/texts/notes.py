"""Lightweight mode's memory: MEMORY.md and a note for each day, plain Markdown that people read and edit too.

File names are built from a checked alphabet, never taken as a path: MEMORY.md, or a day such as 2026-01-31.md. Everybody
sees their own files under these names; principal_files.py tells where they stand.
"""

from collections import namedtuple

from engram import files, text
from engram.clock import day_name, day_number
from engram.errors import ArgumentError, NotFound
from engram.memory import principal_files
from engram.memory.access import OWNER, notebook_of

MEMORY = "MEMORY.md"
# Days of one principal that an import may add, as each takes a block of flash.
_MOST_FILES = const(400)
_BROUGHT_DAYS = const(30)  # days of notes that non-owners may import, so that they push out few
_MOST_BYTES = const(131072)  # of files, newest first: bounds the time of a search
_MOST_FOUND = const(12)  # lines that are kept: bounds the heap
_LONGEST = const(320)  # characters of one
_STEM = const(4)  # first bytes of a term that its other forms have as well

NoteLine = namedtuple("NoteLine", "ref at text terms")
"""A matching line: citation, day's begin (or now for MEMORY.md), text and terms."""

FoundLines = namedtuple("FoundLines", "count having lines")
"""Lines read, lines by term, and the best ones, each a NoteLine."""


class Notes:
    """The Markdown files in a folder; `changes` serves undo, `people` owns files."""

    limit = 8000
    """Maximum characters of a file, which is read whole and copied for undo."""

    def __init__(self, folder: str, changes, clock, people):
        self.folder = folder
        self.changes = changes
        self.clock = clock
        self.people = people
        self.version = 0
        self.rewritten = set()
        """Files changed other than by appending since the start."""
        self.uncopied = None
        """Files whose change or removal the companion lacks; None without one."""
        files.make_folder(folder)

    def for_caller(self, caller):
        """Return the notes of a caller or their workspace; ArgumentError in a group."""
        if caller.group:
            raise ArgumentError("file", "notes are private and stay out of group rooms.")
        return Notebook(self, notebook_of(caller))

    def put(self, path: str, content: str, is_appended: bool = False) -> None:
        files.write(path, content)
        self._changed(path, is_appended)

    def drop(self, path: str) -> None:
        files.remove(path)
        self._changed(path, False)

    def _changed(self, path: str, is_appended: bool) -> None:
        self.version += 1
        file = path[len(self.folder) + 1 :]
        if not is_appended:
            self.rewritten.add(file)
        if self.uncopied is not None:
            self.uncopied.add(file)

    def drop_lines_of(self, turn: str, caller) -> None:
        """Remove the diary's lines that name a turn, for good."""
        notebook = None if caller.group else self.for_caller(caller)
        for name in notebook.names() if notebook else ():
            lines = notebook.text(name).split("\n")
            kept = [line for line in lines if turn not in turns_named(line)]
            if len(kept) < len(lines):
                notebook.put_back(name, "\n".join(kept))

    def named(self, principal: str):
        """Return the notes of a principal or a workspace such as "ws:garden", for background jobs."""
        return Notebook(self, principal)


class Notebook(principal_files.PrincipalTexts):
    """MEMORY.md and the daily notes of one principal or workspace."""

    kind = "note"

    def today(self) -> str:
        clock = self._texts.clock
        return clock.day(clock.now()) + ".md"

    def yesterday(self) -> str:
        clock = self._texts.clock
        # Not 86,400 seconds ago: a day may have 25 hours.
        return day_name(clock.day_number(clock.now()) - 1) + ".md"

    def names(self):
        """Return the existing names: MEMORY.md, then notes, newest first."""
        found = []
        for file in files.names(self._texts.folder):
            name, principal = principal_files.principal_of(file)
            if principal == self._principal and is_note(name):
                found.append(name)
        found.sort(reverse=True)
        if files.size(self._path(MEMORY)) >= 0:
            found.insert(0, MEMORY)
        return found

    def text(self, name: str) -> str:
        return self._whole(name)

    def lines(self, name: str, first: int = 1, count: int = 100) -> list:
        """Return lines of a file, counted from 1; NotFound."""
        if files.size(self._path(name)) < 0:
            raise NotFound("note", name, "there are " + (", ".join(self.names()[:8]) or "none yet") + ".")
        if not isinstance(first, int) or first < 1:
            raise ArgumentError("first", "must be a line number from 1 on.")
        return self.text(name).split("\n")[first - 1 : first - 1 + count]

    def is_uncopied(self, name: str) -> bool:
        """True if the companion lacks the latest change of a file."""
        return principal_files.file_name_of(name, self._principal) in (self._texts.uncopied or ())

    def raw_lines(self, name: str):
        """Yield a file's lines as bytes without line ends."""
        with open(self._path(name), "rb") as file:
            for line in file:
                yield line.rstrip()

    def append(self, name: str, line: str) -> None:
        self._check_writable(name)
        old = self.text(name)
        new = principal_files.appended(old, line)
        self._check_text(name, new)
        self._texts.changes.note_append(self.kind, name, len(old), self._principal)
        self._texts.put(self._path(name), new, is_appended=True)

    def clear(self, day: str = "") -> str:
        """Empty a day's note (today's by default) and return its text."""
        name = day + ".md" if day else self.today()
        if not is_note(name):
            raise ArgumentError("day", "must be a day such as " + self.today()[:-3] + ".")
        old = self.text(name)
        if old:
            self._texts.changes.note("note", name, old, self._principal)
            self._texts.drop(self._path(name))
        return old

    def note(self, content: str) -> None:
        if not isinstance(content, str) or not content.strip():
            raise ArgumentError("text", "must be a text that is not empty.")
        clock = self._texts.clock
        self.append(self.today(), "- " + clock.minute(clock.now())[-5:] + " " + " ".join(content.split()))

    def put(self, name: str, content: str) -> None:
        """Write a file from another board: days up to today, for non-owners only recent ones."""
        self._check_day(name, files.size(self._path(name)) < 0)
        self._change(name, content)

    def _check_day(self, name: str, is_new: bool) -> None:
        if name == MEMORY:
            return
        today, day = day_number(self.today()[:-3]), day_number(name[:-3])
        is_owner = self._principal == OWNER.principal
        # A board that does not know the day takes what its owner brings.
        if day > today and (self._texts.clock.known or not is_owner):
            raise ArgumentError("file", "must not be of a day after today, which is %s." % self.today()[:-3])
        if day < today - _BROUGHT_DAYS and not is_owner:
            raise ArgumentError("file", "must be of the last %d days." % _BROUGHT_DAYS)
        if is_new and len(self.names()) >= _MOST_FILES:
            raise ArgumentError("file", "would be one too many: %d days have notes." % _MOST_FILES)

    def _check_writable(self, name: str) -> None:
        allowed = (MEMORY, self.today(), self.yesterday())
        if name not in allowed:
            raise ArgumentError("file", "can be changed only if it is one of " + ", ".join(allowed) + ".")

    def _path(self, name: str) -> str:
        if name != MEMORY and not is_note(name):
            raise ArgumentError("file", "must be MEMORY.md or a day's note such as " + self.today() + ".")
        return self._texts.folder + "/" + principal_files.file_name_of(name, self._principal)


def turns_named(line: str) -> list:
    """Return the ids at the end of a line of the diary, [] for another line: - 10:30 booked the flight [t12 t13]"""
    refs = line.rpartition(" [")[2][:-1].split(" ") if line[-1:] == "]" else []
    return refs if all(ref[:1] == "t" and ref[1:].isdigit() for ref in refs) else []


def is_note(name) -> bool:
    if not isinstance(name, str) or name[-3:] != ".md":
        return False
    try:
        day_number(name[:-3])
    except ValueError:
        return False
    return True


# --- finding lines: without an index, since the files are few and short, and read in full


def find_lines(notebook, terms: list, clock, since: int = 0, until: int = 0) -> FoundLines:
    """Search these notes for terms, from `since` to before `until` (0 leaves it open)."""
    looked_for = [(term, text.encode(term)[:_STEM]) for term in terms]
    having = dict.fromkeys(terms, 0)
    lines = []
    count, room = 0, _MOST_BYTES
    for name, at in _between(notebook, clock, since, until):
        if room < 0:
            break
        for number, raw in enumerate(notebook.raw_lines(name), 1):
            room -= len(raw)
            count += 1
            line = text.decode(raw)
            matched = _matched(raw, line, looked_for)
            for term in matched:
                having[term] += 1
            if matched:
                _keep(lines, _note_line(name, number, at, line, matched))
    return FoundLines(count, having, lines)


def lines_of_days(notebook, days, clock, since: int, until: int) -> list:
    """Return the first lines of the notes from `days.first` to `days.last`, the newest day first."""
    lines = []
    for name, at in _between(notebook, clock, since, until):
        if name != MEMORY and days.first <= day_number(name[:-3]) <= days.last:
            for number, raw in enumerate(notebook.raw_lines(name), 1):
                if len(lines) == _MOST_FOUND:
                    return lines
                if raw:
                    lines.append(_note_line(name, number, at, text.decode(raw), ()))
    return lines


def _between(notebook, clock, since: int, until: int):
    """Yield (name, begin or now for MEMORY.md) of the files of a time span."""
    for name in notebook.names():
        at = clock.now() if name == MEMORY else clock.start_of(name[:-3])
        is_before = since and (name == MEMORY or clock.start_of(name[:-3], 1) <= since)
        if not is_before and not (until and at >= until):
            yield name, at


def _note_line(name: str, number: int, at: int, line: str, terms) -> NoteLine:
    return NoteLine("%s#%d" % (name, number), at, text.cut(text.printable(line), _LONGEST), terms)


def _matched(raw: bytes, line: str, looked_for: list) -> tuple:
    """Return a line's terms; ASCII lines without any are skipped by their bytes."""
    if len(raw) == len(line):
        lowered = raw.lower()
        if not any(begin in lowered for _, begin in looked_for):
            return ()
    there = set(text.index_terms(line))
    return tuple([term for term, _ in looked_for if term in there])


def _keep(lines: list, line: NoteLine) -> None:
    """Keep a line if there is room or it has more terms than the worst kept one."""
    if len(lines) == _MOST_FOUND:
        place = max(range(_MOST_FOUND), key=lambda at: (-len(lines[at].terms), at))
        if len(line.terms) <= len(lines[place].terms):
            return
        del lines[place]
    lines.append(line)
