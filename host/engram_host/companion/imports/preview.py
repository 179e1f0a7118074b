"""Preview of an import, line by line, by the rules of the board's own importer."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from engram import text
from engram.memory.access import OWNER
from engram.transfer.importer import Importer
from engram_host.companion.conversations.service import MOST_CHARACTERS
from engram_host.companion.entries.reader import LogCopy
from engram_host.companion.errors import REFUSALS, ImportRefused
from engram_host.companion.imports.copied_board import CopiedClock, CopiedRecords, CopiedTexts
from engram_host.companion.imports.types import ImportLine, Outcome
from engram_host.companion.store import CompanionStore
from engram_host.transfer.formats import Fields
from engram_host.transfer.reader import MemoryFile
from engram_host.transfer.report import IMPORT, import_command
from engram_host.wording import counted

MOST_LINES = 5_000  # lines of one file; each is a message to the board

# Counts in a board's report; a line in none of them is a text.
_COUNTED: tuple[Outcome, ...] = (
    "stored",
    "changed",
    "there already",
    "older than here",
    "changed meanwhile",
    "forgotten",
)

_SHOWN = 200


@dataclass(frozen=True)
class Preview:
    """Outcome of each line, notes on the file, and names of fields that memories do not have."""

    lines: list[ImportLine]
    notes: list[str]
    unknown: list[str]

    @property
    def counts(self) -> dict[str, int]:
        return dict(Counter(line.outcome for line in self.lines))


def preview_import(store: CompanionStore, device: str, name: str, data: bytes, now: int) -> Preview:
    """Preview a file for the board's owner; raises UnknownDevice, ImportRefused or StoreUnavailable."""
    copy = LogCopy(store, store.device(device), "records", now)
    source = MemoryFile(name, data)
    board = _Board(copy, store, now)
    lines: list[ImportLine] = []
    for number, found in source.lines():
        if len(lines) == MOST_LINES:
            raise ImportRefused(REFUSALS.say("import_long", most=MOST_LINES))
        lines.append(
            ImportLine(number, "refused", found, "") if isinstance(found, str) else board.import_line(number, found)
        )
    return Preview(lines, [*source.notes(), *board.notes()], list(source.unknown | board.unknown))


class _Board:
    def __init__(self, copy: LogCopy, store: CompanionStore, now: int):
        self._records = CopiedRecords(copy)
        self._clock = CopiedClock(now, spare=1 << 30)
        name = copy.device.name
        self._texts = CopiedTexts(lambda file: store.note_lines(name, file, OWNER.principal))
        self.unknown: dict[str, None] = {}
        self._notes: Counter[str] = Counter()

    def notes(self) -> Iterator[str]:
        """Yield sentences on partial imports, with counts."""
        for sentence, count in self._notes.items():
            yield f"{sentence} ({counted(count, 'time', 'times')})" if count > 1 else sentence

    def import_line(self, number: int, fields: Fields) -> ImportLine:
        shown = _shown(fields)
        command = import_command(fields)
        if len(command) > MOST_CHARACTERS:
            why = f"has {len(command)} characters, {MOST_CHARACTERS} fit in a message: import the file on the board itself."
            return ImportLine(number, "refused", why, shown)
        records, clock, texts = self._records, self._clock, self._texts
        importer = Importer(records, clock, clock, clock, records, texts, texts, OWNER)
        importer.import_line(1, command.removeprefix(IMPORT).encode("utf-8", "replace"))
        importer.flush()
        importer.close()
        if importer.problems:
            return ImportLine(number, "refused", importer.problems[0][2], shown)
        *_, last = importer.report()
        report: dict[str, Any] = cast("dict[str, Any]", last)
        self.unknown |= dict.fromkeys(report["unknown"])
        outcome: Outcome | None = next((each for each in _COUNTED if report["counts"][each]), None)
        if outcome is None:
            outcome = "text" if report["files"] else "text there"
        else:
            self._notes.update(report["notes"])
        return ImportLine(number, outcome, "", shown, fields)


def _shown(fields: Fields) -> str:
    for name in ("content", "file", "origin"):
        if isinstance(fields.get(name), str):
            return text.printable(text.cut(fields[name], _SHOWN))
    return ""
