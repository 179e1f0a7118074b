"""What became of a change that a board was asked for."""

from dataclasses import dataclass
from typing import Literal

from engram_host.companion.conversations.answers import Exchange
from engram_host.companion.memories.commands import PREFIX, edited
from engram_host.sentences import SentenceTable
from engram_host.transfer.report import parse_reports, read_reports

ChangeKind = Literal["edit", "pin", "unpin", "forget", "drop", "merge", "undo"]
KINDS: tuple[ChangeKind, ...] = ("edit", "pin", "unpin", "forget", "drop", "merge", "undo")
"""`forget` takes the turns with it that the memory came from, `drop` does not; `merge` is the edit that a `drop` follows."""

ChangeState = Literal["waiting", "done", "unchanged", "conflict", "refused", "cancelled"]

DAMAGED = SentenceTable("change_answer", {"report": "the board's report was damaged: look at the memory."})
"""What the companion says of an answer in the board's place."""

_ENDED: dict[str, ChangeState] = {
    "changed": "done",
    "forgotten": "done",
    "stored": "done",
    "there already": "unchanged",
    "older than here": "conflict",
    "changed meanwhile": "conflict",
}
"""What the outcomes of an import mean for a change."""

_IMPORTS: tuple[ChangeKind, ...] = ("edit", "drop", "merge")
"""Their command is an import, which always ends with a report."""


@dataclass(frozen=True)
class MemoryChange:
    """A change of a memory. It waits until the board has it on flash; on a `conflict` the board had another version by then,
    or none: nothing was changed. `text` is what an edit asks for, `sentence` what the board said of it, `told` why it waits;
    `was` is the version that it was made from, 0 for any; an undo
    of it has its `key`. `is_undoable` is known of those of a list alone; `is_behind` says that the copy of the board does not
    have what it made yet, or the version that it was in conflict with: nobody here knows what the board has changed since.
    """

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
    ended: int = 0
    """When the board answered, in Unix seconds; 0 while it waits."""


@dataclass(frozen=True)
class ChangeId:
    """The id of a change's message, taken apart: `other` and `was` are the memory that a merge takes in, and its version."""

    kind: ChangeKind
    entry: str
    key: str
    other: str = ""
    was: int = 0

    def __str__(self) -> str:
        parts = [self.kind, self.entry, self.key]
        return PREFIX + ":".join(parts + [self.other, str(self.was)] * bool(self.other))


def parse_id(mid: str) -> ChangeId | None:
    """The id of a message, None if it is none of a change."""
    kind, entry, key, *more = (*mid.removeprefix(PREFIX).split(":"), "", "", "")
    known: ChangeKind | None = next((each for each in KINDS if each == kind), None)
    if not mid.startswith(PREFIX) or known is None:
        return None
    return ChangeId(known, entry, key, more[0], int(more[1]) if more[1].isdigit() else 0)


def describe_change(exchange: Exchange, told: str = "") -> MemoryChange | None:
    """The change that a message asks for and what the board answered, None if it is another message."""
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
    # Nothing is known of what the board did: a merge must not forget the other memory on such an answer.
    return "refused", DAMAGED.say("report")
