"""Status of an import, and of each line of its file."""

from dataclasses import dataclass, field
from typing import Literal

from engram_host.transfer.formats import Fields

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
