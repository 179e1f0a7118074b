"""The whole answer to a message, built from its pieces."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from engram_host.companion.types import Conversation, Piece


@dataclass
class Answer:
    """An answer so far; `reports` are JSON for programs."""

    text: str = ""
    notices: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    reports: list[str] = field(default_factory=list)
    last: int = 0

    def add(self, pieces: Iterable[Piece]) -> None:
        for piece in pieces:
            self.last = piece.number
            if piece.kind == "again":
                self.text, self.notices, self.lines, self.problems, self.reports = "", [], [], [], []
            elif piece.kind == "text":
                self.text += piece.text
            else:
                lists = {"notice": self.notices, "line": self.lines, "problem": self.problems, "report": self.reports}
                lists[piece.kind].append(piece.text)


@dataclass(frozen=True)
class Exchange:
    """A message to a board with its answer so far."""

    message: Conversation
    answer: Answer
