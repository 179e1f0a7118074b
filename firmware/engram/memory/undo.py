"""What undo needs of text files is kept, and the code of undo is loaded when somebody asks for it."""

from engram.compat import const
from engram.lazy import lazy
from engram.memory import access

_PIECE = const(2000)  # characters of an old text in one line, which log_line.MAX_LINE bounds, however they are escaped


class TextChanges:
    """Keeps text files as they were before a change, in the log of records."""

    def __init__(self, store, clock):
        self._store = store
        self._clock = clock

    def note(self, kind: str, name: str, old: str, principal: str) -> None:
        """Keep a principal's file's text before it is replaced."""
        parts = 0
        while len(old) > _PIECE:
            self._store.append([("op", "part"), ("old", old[:_PIECE])])
            old = old[_PIECE:]
            parts += 1
        line = [("old", old), ("parts", parts)] if parts else [("old", old)]
        self._store.append(self.line(kind, name, principal) + line)

    def note_append(self, kind: str, name: str, length: int, principal: str) -> None:
        """Keep a principal's file's length in characters before a line is added to it."""
        self._store.append(self.line(kind, name, principal) + [("length", length)])

    def line(self, kind: str, name: str, principal: str) -> list:
        """How a line begins that tells of a change of a text file."""
        line: list = [("op", kind), ("file", name), ("at", self._clock.now())]
        if principal != access.OWNER.principal:
            line.append(("who", principal))
        return line


class Undo:
    """Takes changes back; the arguments are those of UndoLog."""

    def __init__(self, *arguments):
        self._arguments = arguments

    def undo(self, caller=access.OWNER, ref: str = "") -> str:
        """Take back the latest change that this caller may see; a sentence that says what was done.

        ArgumentError if a `ref` is given and that change is of something else.
        """
        with lazy("memory.records.undo"):
            from engram.memory.records.undo import UndoLog

            return UndoLog(*self._arguments).undo(caller, ref)
