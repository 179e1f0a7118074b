"""Preview of an import, line by line, by the rules of the board's own importer, which runs on the board's copy.

Imported lines change the copy in memory only; the board's room, settings, profile and trash are
unknown here, so a preview assumes the best case.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from engram import text
from engram.errors import ArgumentError
from engram.memory import access
from engram.memory.access import OWNER, Caller
from engram.memory.records import fields
from engram.memory.texts import profile
from engram.memory.texts.notes import MEMORY, is_note
from engram.store.types import FORGOTTEN, LIVE, SUPERSEDED, Query
from engram.transfer.importer import Importer
from engram_host.companion.conversations.service import MOST_CHARACTERS
from engram_host.companion.entries.reader import LogCopy
from engram_host.companion.errors import REFUSALS, ImportRefused
from engram_host.companion.imports.files import ImportLine, Outcome
from engram_host.companion.store.board_notes import NoteFileTable
from engram_host.companion.store.boards.table import BoardTable
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
    lines: list[ImportLine]
    notes: list[str]
    unknown: list[str]

    @property
    def counts(self) -> dict[str, int]:
        return dict(Counter(line.outcome for line in self.lines))


def preview_import(boards: BoardTable, notes: NoteFileTable, device: str, name: str, data: bytes, now: int) -> Preview:
    copy = LogCopy(boards, boards.device(device), "records", now)
    source = MemoryFile(name, data)
    board = _Board(copy, notes, now)
    lines: list[ImportLine] = []
    for number, found in source.lines():
        if len(lines) == MOST_LINES:
            raise ImportRefused(REFUSALS.say("import_long", most=MOST_LINES))
        lines.append(
            ImportLine(number, "refused", found, "") if isinstance(found, str) else board.import_line(number, found)
        )
    return Preview(lines, [*source.notes(), *board.notes()], list(source.unknown | board.unknown))


class _Board:
    def __init__(self, copy: LogCopy, notes: NoteFileTable, now: int):
        self._records = CopiedRecords(copy, CopiedClock(now, spare=1 << 30))
        name = copy.device.name
        self._texts = CopiedTexts(lambda file: notes.note_lines(name, file, OWNER.principal))
        self.unknown: dict[str, None] = {}
        self._notes: Counter[str] = Counter()

    def notes(self) -> Iterator[str]:
        for sentence, count in self._notes.items():
            yield f"{sentence} ({counted(count, 'time', 'times')})" if count > 1 else sentence

    def import_line(self, number: int, fields: Fields) -> ImportLine:
        shown = _shown(fields)
        command = import_command(fields)
        if len(command) > MOST_CHARACTERS:
            why = f"has {len(command)} characters, {MOST_CHARACTERS} fit in a message."
            return ImportLine(number, "refused", why, shown)
        records, texts = self._records, self._texts
        importer = Importer(records, forgetting=records, profile=texts, notes=texts, caller=OWNER)
        report = importer.import_object(command.removeprefix(IMPORT))
        if "why" in report:
            return ImportLine(number, "refused", report["why"], shown)
        self.unknown |= dict.fromkeys(report["unknown"])
        outcome: Outcome | None = next((each for each in _COUNTED if each in report["counts"]), None)
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


# --- the copy, as the firmware's importer asks a board


CONTENT_CHARS = 2000  # default content limit of a board

# A board's log states; archived entries come in again as new memories.
_STATES = {"live": LIVE, "expired": LIVE, "superseded": SUPERSEDED}

Line = dict[str, Any]


@dataclass
class _Entry:
    state: int
    line: Line


@dataclass(frozen=True)
class _Hit:
    line: Line


class CopiedEntries:
    def __init__(self, copy: LogCopy):
        state = copy.device.logs.get("records")
        self.epoch = state.epoch if state else 0
        self.next_seq = state.next if state else 1
        self._entries: dict[int, _Entry] = {}
        self._of_origin: dict[str, list[int]] = {}
        self._of_terms: dict[tuple[str, ...], list[int]] = {}
        for entry in copy.oldest_first():
            if entry.state in _STATES and _is_whole(entry.line):
                self.put(int(entry.id[1:]), _STATES[entry.state], {**entry.line, "id": entry.id})

    def put(self, number: int, state: int, line: Line) -> None:
        self.set_state(number, FORGOTTEN)
        self._entries[number] = _Entry(state, line)
        self.next_seq = max(self.next_seq, number + 1)
        if "origin" in line:
            self._of_origin.setdefault("^" + line["origin"], []).append(number)
        self._of_terms.setdefault(tuple(text.terms(line["content"])), []).append(number)

    def set_state(self, number: int, state: int) -> None:
        entry = self._entries.get(number)
        if entry:
            entry.state = state

    def state_and_latest(self, number: int) -> tuple[int | None, Line | None]:
        entry = self._entries.get(number)
        return (entry.state, entry.line) if entry else (None, None)

    def line(self, number: int) -> Line | None:
        return self.state_and_latest(number)[1]

    def seqs_with_label(self, label: str) -> Iterable[int]:
        return self._of_origin.get(label, ())

    def search(self, query: Query, most: int) -> Iterator[_Hit]:
        """Yield live entries of a scope with the same words, the only candidates for duplicates."""
        for number in self._of_terms.get(tuple(query.terms), ())[:most]:
            entry = self._entries[number]
            if entry.state == LIVE and "@" + entry.line.get("scope", access.ALL) in query.scopes:
                yield _Hit(entry.line)


class CopiedRecords:
    limit = CONTENT_CHARS

    def __init__(self, copy: LogCopy, clock: "CopiedClock"):
        self.entries = CopiedEntries(copy)
        self.uses = _Uses()
        self.clock = self.eviction = clock

    def net_new(self, drafts: Sequence[Any]) -> int:
        """Return 0: the room on the board is unknown here."""
        return 0

    def keep(self, drafts: Sequence[Any]) -> list[str]:
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
        number = int(ref[1:])
        while self.entries.state_and_latest(number)[0] in (LIVE, SUPERSEDED):
            older = (self.entries.line(number) or {}).get("supersedes", "m0")
            self.entries.set_state(number, FORGOTTEN)
            number = int(older[1:])

    def forget_copies(self, origin: str, caller: Caller) -> bool:
        return False


class _Uses:
    def put(self, number: int, uses: int, used: int) -> None:
        return

    def save(self) -> None:
        return


@dataclass(frozen=True)
class CopiedClock:
    """Clock, and the part of an eviction that an importer needs."""

    seconds: int
    spare: int = 0

    def now(self) -> int:
        return self.seconds


class CopiedTexts:
    def __init__(self, read_note: Callable[[str], Sequence[str] | None]):
        self._read_note = read_note
        self._written: dict[str, str] = {}

    def for_caller(self, caller: Caller) -> "CopiedTexts":
        return self

    def text(self, name: str) -> str:
        if name in self._written:
            return self._written[name]
        if name in profile.FILES:
            return profile.template(name)
        if name != MEMORY and not is_note(name):
            raise ArgumentError("file", "is neither a text of the profile nor a note.")
        return "\n".join(self._read_note(name) or ())

    def write(self, name: str, content: str) -> None:
        self._written[name] = content

    put = write


def _is_whole(line: Line) -> bool:
    """Return False for lines of another version's board that lack fields."""
    is_text = isinstance(line.get("content"), str) and isinstance(line.get("origin", ""), str)
    return is_text and isinstance(line.get("created"), int) and isinstance(line.get("scope", ""), str)
