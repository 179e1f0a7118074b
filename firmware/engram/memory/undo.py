"""Loads the code of undo when somebody asks for it."""

from engram.lazy import lazy
from engram.memory import access


class Undo:
    """Takes changes back; the arguments are those of UndoLog."""

    def __init__(self, *arguments):
        self._arguments = arguments

    def undo(self, caller=access.OWNER) -> str:
        """Take back the latest change that this caller may see; a sentence that says what was done."""
        with lazy("memory.records.undo"):
            from engram.memory.records.undo import UndoLog

            return UndoLog(*self._arguments).undo(caller)
