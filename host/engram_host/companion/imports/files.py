"""Imports: their status, and the files that keep them in the companion's folder, which all companions on it share.

imports/ID.json    progress, written whole; by the companion with the lease once it runs
imports/ID.lines   lines and their preview, a JSON array each
imports/ID.cancel  request to cancel
imports/lock       held while the running imports are counted and one is started
"""

import contextlib
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, Literal

from engram_host.companion.auth.tokens import write_private
from engram_host.companion.errors import UnknownImport
from engram_host.companion.lockfile import lock_file
from engram_host.sentences import pack, unpack
from engram_host.transfer.formats import Fields

FOLDER = "imports"
_ID = re.compile(r"[0-9a-f]{16}")

ImportState = Literal["preview", "running", "done", "cancelled", "failed"]

# Outcome of a line in a board's words; `text` is a note's or profile's, written if none exists.
Outcome = Literal[
    "stored",
    "changed",
    "there already",
    "older than here",
    "changed meanwhile",
    "forgotten",
    "text",
    "text there",
    "refused",
]

OUTCOMES: tuple[Outcome, ...] = (
    "stored",
    "changed",
    "forgotten",
    "text",
    "there already",
    "older than here",
    "changed meanwhile",
    "text there",
    "refused",
)

MOST_PROBLEMS = 100  # refused lines with a reason; others are only counted


@dataclass(frozen=True)
class ImportLine:
    """A line with its outcome, its reason if refused, and the fields to send, None for nothing."""

    number: int
    outcome: Outcome
    why: str
    text: str = field(repr=False)  # text by which a person recognises the line

    fields: Fields | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Problem:
    """A refused line and the reason."""

    line: int
    why: str


@dataclass
class ImportStatus:
    """Progress: `expected` and `counts` are by outcome, `told` is the reason for a wait or failure."""

    id: str
    device: str
    file: str
    made: int
    state: ImportState = "preview"
    total: int = 0
    sent: int = 0
    attempt: int = 0  # number of starts; each attempt sends the failed line once more
    changed: int = 0
    told: str = ""
    expected: dict[str, int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    @property
    def is_open(self) -> bool:
        return self.state == "running"

    def count(self, outcome: str, number: int = 1) -> None:
        if number:
            self.counts[outcome] = self.counts.get(outcome, 0) + number

    def refuse(self, line: int, why: str) -> None:
        self.count("refused")
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(Problem(line, why))


# --- files


class ImportFiles:
    """Reads and writes imports; raises OSError on disk errors."""

    def __init__(self, home: Path):
        self._folder = home / FOLDER

    def locked(self) -> IO[bytes]:
        """Lock the folder until the result is closed."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        return lock_file(self._folder / "lock", waits=True)

    def add(self, status: ImportStatus, lines: list[ImportLine]) -> None:
        self._folder.mkdir(mode=0o700, exist_ok=True)
        rows = ([line.number, line.outcome, line.why, line.text, line.fields] for line in lines)
        self._write(f"{status.id}.lines", "".join(json.dumps(row) + "\n" for row in rows))
        self.save(status)

    def save(self, status: ImportStatus) -> None:
        self._write(f"{status.id}.json", json.dumps(asdict(status) | {"told": pack(status.told)}))

    def read(self, import_id: str) -> ImportStatus:
        if not _ID.fullmatch(import_id):
            raise UnknownImport(import_id)
        try:
            fields: dict[str, Any] = json.loads((self._folder / f"{import_id}.json").read_text(encoding="utf-8"))
            problems, told = [Problem(**each) for each in fields.pop("problems")], unpack(fields.pop("told"))
            return ImportStatus(**fields, problems=problems, told=told)
        except (OSError, ValueError, TypeError, KeyError):
            raise UnknownImport(import_id) from None

    def lines(self, import_id: str, after: int = 0) -> Iterator[ImportLine]:
        """Yield an import's lines after the first `after`; may raise UnknownImport."""
        try:
            with (self._folder / f"{import_id}.lines").open(encoding="utf-8") as file:
                for place, row in enumerate(file):
                    if place >= after:
                        yield ImportLine(*json.loads(row))
        except (OSError, ValueError, TypeError):
            raise UnknownImport(import_id) from None

    def list_imports(self) -> list[ImportStatus]:
        found: list[ImportStatus] = []
        for path in self._folder.glob("*.json"):
            with contextlib.suppress(UnknownImport):
                found.append(self.read(path.stem))
        return sorted(found, key=lambda status: (-status.made, status.id))

    def remove(self, import_id: str) -> None:
        for ending in ("lines", "cancel", "json"):
            (self._folder / f"{import_id}.{ending}").unlink(missing_ok=True)

    def ask_cancel(self, import_id: str) -> None:
        self._write(f"{import_id}.cancel", "")

    def is_cancel_asked(self, import_id: str) -> bool:
        return (self._folder / f"{import_id}.cancel").exists()

    def drop_cancel(self, import_id: str) -> None:
        (self._folder / f"{import_id}.cancel").unlink(missing_ok=True)

    def _write(self, name: str, content: str) -> None:
        write_private(self._folder / name, content.encode())
