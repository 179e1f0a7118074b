"""Sends the memories of a file to a board one by one, by its command /import, and counts what it says of each.

Or writes them to a file that the board itself imports.
"""

import json
import re
from pathlib import Path

from engram.transfer import jsonl
from engram_host.boards.errors import BoardFailed
from engram_host.boards.json_lines import JsonConsole
from engram_host.cli.console_session import answer_lines
from engram_host.cli.exit_status import CommandError
from engram_host.transfer.foreign import Fields
from engram_host.transfer.reader import MemoryFile

_COUNT = re.compile(r"(\d+) (stored|changed|there already|older than here|forgotten|refused)(?:, |$)")
_ORDER = (
    *("stored", "written", "changed", "there already", "older than here", "forgotten", "texts put in their place"),
    "refused",
)
_UNKNOWN = "left out, since a memory has no place for it: "
MOST_TOLD = 100
"""Problems that are told one by one; the others are counted."""


class ImportReport:
    """`counts` by what became of the lines, `problems` a sentence for each that was refused or came in part; and `notes` on
    the whole file.
    """

    def __init__(self, first: str):
        self._untold = 0
        self._unknown: dict[str, None] = {}
        self.counts = {first: 0, "refused": 0}
        self.problems: list[str] = []
        self.notes: list[str] = []

    @property
    def summary(self) -> str:
        """The counts in one line."""
        return ", ".join(f"{self.counts[word]} {word}" for word in _ORDER if word in self.counts)

    def end(self, source: MemoryFile) -> None:
        """Add what is to be said of the file, once all of it was sent."""
        if self._untold:
            self.problems.append(f"{self._untold} more problems")
        if unknown := source.unknown | self._unknown:
            self.notes.append(_UNKNOWN + ", ".join(unknown))
        self.notes += source.notes()

    def _refuse(self, number: int, why: str) -> None:
        self._count("refused", 1)
        self._tell(number, why)

    def _count(self, word: str, count: int) -> None:
        if count:
            self.counts[word] = self.counts.get(word, 0) + count

    def _tell(self, number: int, why: str) -> None:
        if len(self.problems) < MOST_TOLD:
            self.problems.append(f"line {number}: {why}")
        else:
            self._untold += 1


class BoardImport(ImportReport):
    """Sends to a board."""

    def __init__(self, board: JsonConsole):
        super().__init__("stored")
        self._board = board

    def send(self, number: int, fields: Fields | str) -> None:
        """Send what stands in a line of the file; a text says why it is refused. BoardError if the board is gone."""
        if isinstance(fields, str):
            self._refuse(number, fields)
            return
        try:
            report = list(answer_lines(self._board, "/import " + json.dumps(fields, ensure_ascii=False)))
        except (CommandError, BoardFailed) as problem:
            self._refuse(number, str(problem))
            return
        for line in report:
            counts = _COUNT.findall(line)
            for count, word in counts:
                self._count(word, int(count))
            if line.startswith("put in their place: "):
                self._count("texts put in their place", 1)
            elif line.startswith(_UNKNOWN):
                self._unknown |= dict.fromkeys(line.removeprefix(_UNKNOWN).split(", "))
            elif not counts:
                self._tell(number, line.removeprefix("line 1: "))


class FileImport(ImportReport):
    """Writes what a board would be sent to a file for its /import."""

    def __init__(self, out: Path):
        super().__init__("written")
        self._out = out
        self._lines: list[str] = []

    def send(self, number: int, fields: Fields | str) -> None:
        """Write what stands in a line of the file; a text says why it is refused."""
        if isinstance(fields, str):
            self._refuse(number, fields)
            return
        self._lines += jsonl.lines(fields.items())
        self._count("written", 1)

    def end(self, source: MemoryFile) -> None:
        """Write the file, whole or not at all."""
        super().end(source)
        draft = self._out.with_name(self._out.name + ".part")
        draft.unlink(missing_ok=True)
        draft.touch(mode=0o600)  # what a person has said is nobody else's on this computer
        draft.write_text("".join(line + "\n" for line in self._lines), encoding="utf-8")
        draft.replace(self._out)
