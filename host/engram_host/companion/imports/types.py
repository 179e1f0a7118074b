"""What is known of an import, and of each line of its file."""

from dataclasses import dataclass, field
from typing import Literal

from engram_host.transfer.formats import Fields

ImportState = Literal["preview", "running", "done", "cancelled", "failed"]

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
"""What becomes of a line, in the words of a board's /import; `changed meanwhile`: it was made from another version than the
board has; `text` of a note or of the profile, which is put in its place if none stands there.
"""

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

MOST_PROBLEMS = 100
"""Refused lines whose reasons are kept; the others are counted."""


@dataclass(frozen=True)
class ImportLine:
    """A line of the file: what becomes of it, why if it is refused, and what is sent for it, None if nothing is."""

    number: int
    outcome: Outcome
    why: str
    text: str = field(repr=False)
    """What a person recognises it by."""

    fields: Fields | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Problem:
    """A line that the board refused, and why."""

    line: int
    why: str


@dataclass
class ImportStatus:
    """How far an import is. `expected` counts lines by what the preview says becomes of them, `counts` those that the board
    has answered; `sent` of `total` lines are answered. `told` says why the board has not answered yet, or why it failed.
    """

    id: str
    device: str
    file: str
    made: int
    state: ImportState = "preview"
    total: int = 0
    sent: int = 0
    attempt: int = 0
    """How often it was started: each attempt says the line that failed once more."""
    changed: int = 0
    told: str = ""
    expected: dict[str, int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    @property
    def is_open(self) -> bool:
        """Whether it goes on by itself."""
        return self.state == "running"

    def count(self, outcome: str, number: int = 1) -> None:
        """Count what became of lines."""
        if number:
            self.counts[outcome] = self.counts.get(outcome, 0) + number

    def refuse(self, line: int, why: str) -> None:
        """Count a line that was refused."""
        self.count("refused")
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(Problem(line, why))
