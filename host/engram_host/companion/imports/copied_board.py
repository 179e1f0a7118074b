"""A board's copy in the form in which the firmware's importer asks a board, so that a preview goes by the board's own rules.

What an import would keep is kept in memory, and known by the lines after it. The companion does not know how much room the
board has, its settings, its profile, nor what is in its trash: a preview takes the best case of these.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from engram import text
from engram.errors import ArgumentError
from engram.memory import access
from engram.memory.access import Caller
from engram.memory.records import fields
from engram.memory.texts import profile
from engram.memory.texts.notes import MEMORY, is_note
from engram.store.types import FORGOTTEN, LIVE, SUPERSEDED, Query
from engram_host.companion.entries.reader import LogCopy

CONTENT_CHARS = 2000
"""The longest content that a board keeps by default."""

_STATES = {"live": LIVE, "expired": LIVE, "superseded": SUPERSEDED}
"""Those that a board has of what is in its log. What it archived comes in again as a new memory."""

Line = dict[str, Any]


@dataclass
class _Entry:
    state: int
    line: Line


@dataclass(frozen=True)
class _Hit:
    line: Line


class CopiedEntries:
    """The entries of a copy of the records, as a store of the firmware gives them."""

    def __init__(self, copy: LogCopy):
        state = copy.device.logs.get("records")
        self.epoch = state.epoch if state else 0
        self.next_seq = state.next if state else 1
        self.live = 0
        """How many are live."""
        self._entries: dict[int, _Entry] = {}
        self._of_origin: dict[str, list[int]] = {}
        self._of_terms: dict[tuple[str, ...], list[int]] = {}
        for entry in copy.oldest_first():
            if entry.state in _STATES and _is_whole(entry.line):
                self.put(int(entry.id[1:]), _STATES[entry.state], {**entry.line, "id": entry.id})

    def put(self, number: int, state: int, line: Line) -> None:
        """Let an entry be in a state, with a latest line."""
        self.set_state(number, FORGOTTEN)
        self._entries[number] = _Entry(state, line)
        self.live += state == LIVE
        self.next_seq = max(self.next_seq, number + 1)
        if "origin" in line:
            self._of_origin.setdefault("^" + line["origin"], []).append(number)
        self._of_terms.setdefault(tuple(text.terms(line["content"])), []).append(number)

    def set_state(self, number: int, state: int) -> None:
        """Let an entry be in another state."""
        entry = self._entries.get(number)
        if entry:
            self.live += (state == LIVE) - (entry.state == LIVE)
            entry.state = state

    def state_and_latest(self, number: int) -> tuple[int | None, Line | None]:
        """The state and the latest line of an entry, None if there is none."""
        entry = self._entries.get(number)
        return (entry.state, entry.line) if entry else (None, None)

    def line(self, number: int) -> Line | None:
        """The latest line of an entry, by its number."""
        return self.state_and_latest(number)[1]

    def seqs_with_label(self, label: str) -> Iterable[int]:
        """The numbers of the entries of an origin."""
        return self._of_origin.get(label, ())

    def search(self, query: Query, most: int) -> Iterator[_Hit]:
        """The live entries of a scope that have the same words: others do not say the same."""
        for number in self._of_terms.get(tuple(query.terms), ())[:most]:
            entry = self._entries[number]
            if entry.state == LIVE and "@" + entry.line.get("scope", access.ALL) in query.scopes:
                yield _Hit(entry.line)


class CopiedRecords:
    """The records of a copy; what is kept of an import changes no other copy."""

    limit = CONTENT_CHARS

    def __init__(self, copy: LogCopy):
        self.entries = CopiedEntries(copy)
        self.uses = _Uses()

    def count(self) -> int:
        """How many memories are live."""
        return self.entries.live

    def net_new(self, drafts: Sequence[Any]) -> int:
        """The room that drafts need, which is not known here."""
        return 0

    def keep(self, drafts: Sequence[Any]) -> list[str]:
        """Take drafts for kept; their ids."""
        return [self._keep(draft) for draft in drafts]

    def _keep(self, draft: Any) -> str:
        number = int(draft.id[1:]) if draft.id else self.entries.next_seq
        older = draft.values.get("supersedes")
        if older:
            self.entries.set_state(int(older[1:]), SUPERSEDED)
        line = {**dict(fields.stored(draft.values)), "id": f"m{number}", "seq": number}
        self.entries.put(number, SUPERSEDED if draft.values.get("past") else LIVE, line)
        return line["id"]

    # --- forgetting

    def forget(self, ref: str, caller: Caller) -> None:
        """Take a memory for forgotten, with what it took the place of."""
        number = int(ref[1:])
        while self.entries.state_and_latest(number)[0] in (LIVE, SUPERSEDED):
            older = (self.entries.line(number) or {}).get("supersedes", "m0")
            self.entries.set_state(number, FORGOTTEN)
            number = int(older[1:])

    def forget_copies(self, origin: str, caller: Caller) -> bool:
        """What is in the trash is not known."""
        return False


class _Uses:
    """How often memories were of use, which changes no outcome."""

    def put(self, number: int, uses: int, used: int) -> None:
        return

    def save(self) -> None:
        return


@dataclass(frozen=True)
class CopiedClock:
    """The time, and as much of a journal and an eviction as an importer needs."""

    seconds: int
    epoch: int = 0
    spare: int = 0

    @property
    def entries(self) -> "CopiedClock":
        """The journal's store, which has its epoch."""
        return self

    def now(self) -> int:
        """The time, in Unix seconds."""
        return self.seconds

    def has(self, turn: str, caller: Caller) -> bool:
        """Lines come one by one, without the head of an export that says whose turns they name: none is looked for."""
        return False


class CopiedTexts:
    """The owner's texts: those of the profile are taken for their templates, notes are read by their names."""

    def __init__(self, read_note: Callable[[str], Sequence[str] | None]):
        self._read_note = read_note
        self._written: dict[str, str] = {}

    def for_caller(self, caller: Caller) -> "CopiedTexts":
        """A preview is made for the owner."""
        return self

    def text(self, name: str) -> str:
        """A text, "" if there is none. ArgumentError."""
        if name in self._written:
            return self._written[name]
        if name in profile.FILES:
            return profile.TEMPLATES[name]
        if name != MEMORY and not is_note(name):
            raise ArgumentError("file", "is neither a text of the profile nor a note.")
        return "\n".join(self._read_note(name) or ())

    def write(self, name: str, content: str) -> None:
        """Take a text for put in its place."""
        self._written[name] = content

    put = write


def _is_whole(line: Line) -> bool:
    """Whether a line has what an importer reads of it: a board of another version may write others."""
    is_text = isinstance(line.get("content"), str) and isinstance(line.get("origin", ""), str)
    return is_text and isinstance(line.get("created"), int) and isinstance(line.get("scope", ""), str)
