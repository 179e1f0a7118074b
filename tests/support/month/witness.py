"""Runs on the board: tells of all that it acknowledges, when it does, and of what leaves.

line    a line of the log of records that is on flash
noted   a line of a day's note that is on flash: [file, seq of the line of the log that tells of it, text]
leaves  a day's file that is about to leave: [file, notes in it that were not distilled]
"""

from engram import files
from engram.compat import finish
from engram.memory import principal_files
from engram.memory.texts import notes

_NAMES = ("op", "id", "supersedes", "restores", "undoes", "file")


class Witness:
    """Stands between the parts of a board and their files; tell(dict) takes what it has seen, `turn` is the one under way."""

    def __init__(self, parts, tell):
        self._parts = parts
        self._tell = tell
        self.turn = -1
        self._noting = 0
        self._store = parts.records.entries
        self._append = self._store.append
        self._remove = files.remove
        self._note = notes.Notebook.note
        self._store.append = self._appended
        # Classes and modules are shared, as frozen ones are, but a board starts once in a process.
        notes.Notebook.note = (  # pyright: ignore[reportAttributeAccessIssue]  # `self` is this witness
            lambda notebook, content: self._noted(notebook, content)
        )

    def catch_up(self, heard):
        """Tell of what is on flash since a line: the power failed before anybody heard of it."""
        self._tell({"opened": self._store.next_seq})
        for seq in range(heard + 1, self._store.next_seq):
            line = self._store.line(seq)
            if line:
                self._line(seq, line.items())

    def _appended(self, *lines, urgent=False, background=True):
        first = self._append(*lines, urgent=urgent, background=background)
        for at in range(len(lines)):
            self._line(first + at, lines[at])
        return first

    def _line(self, seq, pairs):
        told = {"line": seq, "during": self.turn}
        for name, value in pairs:
            # What was said to be kept is the content of a record; other lines have none.
            if name in _NAMES or name == "content":
                told[name] = value
        if told.get("op") == "note" and "undoes" not in told:
            self._noting = seq
        self._tell(told)

    def _noted(self, notebook, content):
        self._note(notebook, content)
        file = principal_files.file_name_of(notebook.today(), notebook._principal)
        self._tell({"noted": [file, self._noting, " ".join(content.split())]})

    def tidy(self):
        """Let the board's notes go that have no room."""
        files.remove = self._left
        try:
            finish(self._parts.note_retention.tidying())
        finally:
            files.remove = self._remove

    def _left(self, path):
        daily = self._parts.note_retention
        file = path[path.rfind("/") + 1 :]
        waiting = sum(1 for _ in daily._unread(file, daily._read()["read"].get(file)))
        self._tell({"leaves": [file, waiting]})
        return self._remove(path)
