"""Sums the boards' own reports on an import, line by line."""

import contextlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict

from engram_host.transfer.reader import MemoryFile

_ORDER = (
    *("stored", "written", "changed", "there already", "older than here", "changed meanwhile", "forgotten"),
    *("texts put in their place", "refused"),
)
_UNKNOWN = "left out, since a memory has no place for it: "
MOST_TOLD = 100
"""Listed problems; further ones are only counted."""


IMPORT = "/import "

ENDS_IMPORT = ("full", "flash")


def import_command(fields: Mapping[str, Any]) -> str:
    return IMPORT + json.dumps(fields, ensure_ascii=False)


class ImportRefusal(TypedDict):
    """A refused object: `code` is the wrong field, or a code of docs/reference/serial.md."""

    code: str
    why: str


class ImportOutcome(TypedDict):
    """Result of /import: `counts` of memories by outcome, `files` that were written."""

    counts: dict[str, int]
    files: list[str]
    unknown: list[str]
    notes: list[str]


NOTHING_DONE = ImportOutcome(counts={}, files=[], unknown=[], notes=[])


class ImportReport:
    def __init__(self, first: str = "stored"):
        self._untold = 0
        self._unknown: dict[str, None] = {}
        self.counts = {first: 0, "refused": 0}
        self.problems: list[str] = []
        self.notes: list[str] = []

    @property
    def summary(self) -> str:
        return ", ".join(f"{self.counts[word]} {word}" for word in _ORDER if word in self.counts)

    def add(self, number: int, outcome: ImportOutcome, refused: list[ImportRefusal]) -> None:
        for word, count in outcome["counts"].items():
            self.count(word, count)
        for refusal in refused:
            self.refuse(number, refusal["why"])
        for note in outcome["notes"]:
            self._add_problem(number, note)
        self.count("texts put in their place", len(outcome["files"]))
        self._unknown |= dict.fromkeys(outcome["unknown"])

    def refuse(self, number: int, why: str) -> None:
        self.count("refused", 1)
        self._add_problem(number, why)

    def count(self, word: str, count: int) -> None:
        if count:
            self.counts[word] = self.counts.get(word, 0) + count

    def end(self, source: MemoryFile) -> None:
        if self._untold:
            self.problems.append(f"more problems: {self._untold}")
        if unknown := source.unknown | self._unknown:
            self.notes.append(_UNKNOWN + ", ".join(unknown))
        self.notes += source.notes()

    def _add_problem(self, number: int, why: str) -> None:
        if len(self.problems) < MOST_TOLD:
            self.problems.append(f"line {number}: {why}")
        else:
            self._untold += 1


def parse_reports(texts: Iterable[str]) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    for text in texts:
        with contextlib.suppress(ValueError, RecursionError):
            report: Any = json.loads(text)
            found += [report] if isinstance(report, dict) else []
    return found


def read_reports(reports: Sequence[Mapping[str, Any]]) -> tuple[ImportOutcome | None, list[ImportRefusal]]:
    outcomes = [found for each in reports if "counts" in each and (found := _outcome(each))]
    refused = [found for each in reports if "counts" not in each and (found := _refusal(each))]
    return next(iter(outcomes), NOTHING_DONE if refused else None), refused


def _outcome(report: Mapping[str, Any]) -> ImportOutcome | None:
    try:
        counts = {str(word): int(count) for word, count in report["counts"].items()}
        files, unknown, notes = (list(map(str, report.get(name, ()))) for name in ("files", "unknown", "notes"))
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError):
        return None
    return ImportOutcome(counts=counts, files=files, unknown=unknown, notes=notes)


def _refusal(report: Mapping[str, Any]) -> ImportRefusal | None:
    try:
        return ImportRefusal(code=str(report["code"]), why=str(report["why"]))
    except KeyError:
        return None
