"""The outcome of a change that a board was asked for."""

from dataclasses import dataclass
from typing import Literal

from engram_host.companion.conversations.answers import Exchange
from engram_host.companion.memories.commands import PREFIX, edited
from engram_host.sentences import SentenceTable
from engram_host.transfer.report import parse_reports, read_reports

ChangeKind = Literal["edit", "pin", "unpin", "forget", "drop", "merge", "undo"]
KINDS: tuple[ChangeKind, ...] = ("edit", "pin", "unpin", "forget", "drop", "merge", "undo")
"""`forget` includes source turns, `drop` does not; `merge` is an edit followed by a `drop`."""

ChangeState = Literal["waiting", "done", "unchanged", "conflict", "refused", "cancelled"]

DAMAGED = SentenceTable("change_answer", {"report": "the board's report was damaged: look at the memory."})

_ENDED: dict[str, ChangeState] = {
    "changed": "done",
    "forgotten": "done",
    "stored": "done",
    "there already": "unchanged",
    "older than here": "conflict",
    "changed meanwhile": "conflict",
}

_IMPORTS: tuple[ChangeKind, ...] = ("edit", "drop", "merge")
"""Imports, which always end with a report."""


@dataclass(frozen=True)
class MemoryChange:
    """A change of a memory; on a `conflict` the board had another version and changed nothing."""

    id: str
    kind: ChangeKind
    entry: str
    other: str
    at: int
    state: ChangeState
    text: str = ""
    sentence: str = ""
    told: str = ""
    was: int = 0
    key: str = ""
    is_undoable: bool = False
    is_behind: bool = False
    """The board's copy lacks the change's version, so later changes are unknown."""

    ended: int = 0
    """Unix time of the board's answer; 0 while it waits."""


@dataclass(frozen=True)
class ChangeId:
    """Parsed id of a change's message; `other` and `was` are a merge's second memory."""

    kind: ChangeKind
    entry: str
    key: str
    other: str = ""
    was: int = 0

    def __str__(self) -> str:
        parts = [self.kind, self.entry, self.key]
        return PREFIX + ":".join(parts + [self.other, str(self.was)] * bool(self.other))


def parse_id(mid: str) -> ChangeId | None:
    """Parse a message id, or return None if it is not a change's."""
    kind, entry, key, *more = (*mid.removeprefix(PREFIX).split(":"), "", "", "")
    known: ChangeKind | None = next((each for each in KINDS if each == kind), None)
    if not mid.startswith(PREFIX) or known is None:
        return None
    return ChangeId(known, entry, key, more[0], int(more[1]) if more[1].isdigit() else 0)


def describe_change(exchange: Exchange, told: str = "") -> MemoryChange | None:
    """Return the change that a message asks for with its outcome, or None."""
    message = exchange.message
    found = parse_id(message.said.mid)
    if found is None:
        return None
    state, sentence = _outcome(exchange, found.kind)
    text, was = edited(message.said.text)
    who = message.said.mid, found.kind, found.entry, found.other
    ended = 0 if message.is_open else message.changed
    return MemoryChange(*who, message.at, state, text, sentence, told, was, found.key, ended=ended)


def _outcome(exchange: Exchange, kind: ChangeKind) -> tuple[ChangeState, str]:
    message, answer = exchange.message, exchange.answer
    if message.is_open:
        return "waiting", ""
    if message.state == "cancelled":
        return "cancelled", ""
    if answer.problems or message.state == "undeliverable":
        return "refused", " ".join(answer.problems)
    outcome, refused = read_reports(parse_reports(answer.reports))
    if refused:
        return "refused", refused[0]["why"]
    if outcome is None and kind not in _IMPORTS:
        return "done", " ".join(answer.lines)
    counts = outcome["counts"] if outcome else {}
    for name, state in _ENDED.items():
        if counts.get(name):
            return state, ""
    # The board's action is unknown, so a merge must not forget the other memory.
    return "refused", DAMAGED.say("report")
