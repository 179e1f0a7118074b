"""The meaning of a board's lines: the entry of each, the text that is embedded, and the states of entries."""

import json
from bisect import insort
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from engram.clock import MONTHS, civil
from engram.errors import ArgumentError
from engram.memory import line_meaning
from engram.store.types import ARCHIVED, FORGOTTEN, LIVE, Entry, concerned, no_entry
from engram_host.companion.types import LogName

# A turn's text alone often does not name its subject: "Yes, she liked it." So the day and the speaker precede the
# embedded text, and the caption of a picture follows, as in the board's own word index. On LoCoMo that key found the
# evidence of .57 of the questions by meaning alone (docs/design/retrieval.md).

KEY_VERSION = 1
"""Increase this when a text below changes: vectors of other versions are not compared."""

_DAY_SECONDS = 86400


_decode = json.JSONDecoder().decode  # json.loads checks its arguments, longer than a short line takes


def parse_line(line: bytes) -> dict[str, Any]:
    """Return the fields of a line that the database has found intact, {} for one of another form."""
    try:
        fields: Any = _decode(line.decode())
    except (ValueError, RecursionError):
        return {}
    return fields if isinstance(fields, dict) else {}


def describe_line(log: LogName, line: dict[str, Any], zone: int) -> Entry:
    """Parse a decoded line with the board's own code; `zone` is minutes east of Greenwich."""
    is_record = log == "records"
    try:
        entry = line_meaning.describe_record(line) if is_record else line_meaning.describe_turn(line, zone)
        return entry._replace(labels=tuple(entry.labels), terms=()) if is_record else entry
    except (KeyError, TypeError, ValueError, AttributeError, ArgumentError):
        return no_entry()


def embedding_text(log: LogName, line: dict[str, Any], zone: int) -> str:
    """Return the text to embed, "" for commands, forgotten turns and lines that are no entry."""
    if "op" in line or "gone" in line or "command" in line:
        return ""
    try:
        return _record_key(line) if log == "records" else _turn_key(line, zone)
    except (KeyError, TypeError, AttributeError):
        return ""


def _turn_key(line: dict[str, Any], zone: int) -> str:
    caption = line.get("caption", "")
    return f"[{day_of(line, zone)}] {line['who']}: {line['text']}" + (f" ({caption})" if caption else "")


def day_of(line: dict[str, Any], zone: int) -> str:
    """Return the day of a turn, such as "7 May 2023"."""
    return _name_day((line["at"] + zone * 60) // _DAY_SECONDS)


@lru_cache(maxsize=64)
def _name_day(day: int) -> str:
    year, month, of_month = civil(day)
    return f"{of_month} {MONTHS[month - 1]} {year}"


def _record_key(line: dict[str, Any]) -> str:
    groups = [", ".join(line.get(name, ())) for name in ("tags", "keywords", "people")]
    more = "; ".join(group for group in [*groups, line.get("where", "")] if group)
    return heading_of(line) + line["content"] + (f" ({more})" if more else "")


def heading_of(line: dict[str, Any]) -> str:
    """Return the headings above a Markdown passage with a newline, "" for other memories."""
    heading = line.get("heading")
    return heading + "\n" if isinstance(heading, str) and heading else ""


# --- states: live, superseded or forgotten, and the latest version of each
#
# Lines take effect in the order of their seqs, whatever order they came in: a version makes its entry live, then it may
# hide or show entries (its own too), and the end of a thread forgets the entries of the thread up to there. So a line
# that comes late, is replaced or goes leaves the same state as a rebuilt index.
#
# Nearly all lines are turns that concern no other entry; nothing is stored for them.


@dataclass(frozen=True, slots=True)
class _Part:
    number: int
    hides: tuple[tuple[int, int], ...]
    shows: tuple[int, ...]
    ends: int


@dataclass(frozen=True, slots=True)
class EntryState:
    """`state` is one of engram.store.types; `latest` and `versions` are seqs."""

    state: int
    latest: int
    versions: tuple[int, ...]


def state_name(state: int, expires: Any, now: int, *, is_archived: bool) -> str:
    """Return the name of an entry's state; the archive's content may decide before the line that archives it."""
    if state not in (LIVE, ARCHIVED):
        return "superseded"
    if isinstance(expires, int) and 0 < expires <= now:
        return "expired"
    return "archived" if state == ARCHIVED or is_archived else "live"


@dataclass
class EntryStates:
    """States of one log; `session_of` maps an entry's number to its thread, 0 for none."""

    session_of: Callable[[int], int]
    count: int = 0
    """Number of lines that concern other entries."""
    _parts: dict[int, _Part] = field(default_factory=dict)
    _having: dict[int, list[int]] = field(default_factory=dict)
    _ending: dict[int, list[int]] = field(default_factory=dict)

    def add_line(self, seq: int, entry: Entry) -> None:
        """Add a line whose seq is not present yet."""
        if entry.number in (-1, seq) and not (entry.hides or entry.shows or entry.ends):
            return
        self._parts[seq] = part = _Part(entry.number, tuple(entry.hides), tuple(entry.shows), entry.ends)
        self.count += 1
        for number in {*concerned(entry, seq)}:
            insort(self._having.setdefault(number, []), seq)
        if part.ends:
            insort(self._ending.setdefault(part.ends, []), seq)

    def remove_line(self, seq: int) -> None:
        part = self._parts.pop(seq, None)
        if part is None:
            return
        self.count -= 1
        for number in {part.number, *(number for number, _ in part.hides), *part.shows}:
            _remove_seq(self._having, number, seq)
        if part.ends:
            _remove_seq(self._ending, part.ends, seq)

    def affects_others(self, seq: int) -> bool:
        return seq in self._parts

    def affected_entries(self, seq: int, number: int) -> Iterator[int]:
        """Yield the entries whose state depends on the line with a seq, a version of `number`."""
        part = self._parts.get(seq)
        if part is None:
            if number >= 0:
                yield number
            return
        if part.number >= 0:
            yield part.number
        for hidden, _ in part.hides:
            yield hidden
        yield from part.shows

    def ended_thread(self, seq: int) -> int:
        part = self._parts.get(seq)
        return part.ends if part else 0

    def is_plain(self, number: int, session: int) -> bool:
        """True if the entry is live and no line but its own first one concerns it."""
        return number not in self._having and number not in self._parts and session not in self._ending

    def state_of(self, number: int, has_first: bool) -> EntryState | None:
        """Return the state of an entry, None without a version; `has_first`: its first line is present."""
        seqs = set(self._having.get(number, ()))
        seqs.update(self._ending.get(self.session_of(number), ()))
        if has_first:
            seqs.add(number)
        state, versions = LIVE, []
        for seq in sorted(seqs):
            part = self._parts.get(seq)
            if seq == number if part is None else part.number == number:
                state = LIVE
                versions.append(seq)
            if part is not None:
                state = self._state_after(part, number, state)
        return EntryState(state, versions[-1], tuple(versions)) if versions else None

    def _state_after(self, part: _Part, number: int, state: int) -> int:
        for hidden, new_state in part.hides:
            if hidden == number:
                state = new_state
        if number in part.shows:
            state = LIVE
        if part.ends and part.ends == self.session_of(number):
            state = FORGOTTEN
        return state

    def hidden_by(self, number: int) -> list[int]:
        parts = (self._parts[seq] for seq in self._having.get(number, ()) if seq in self._parts)
        found = (part.number for part in parts if any(hidden == number for hidden, _ in part.hides))
        return list(dict.fromkeys(other for other in found if other not in (-1, number)))


def _remove_seq(lists: dict[int, list[int]], key: int, seq: int) -> None:
    seqs = lists.get(key)
    if seqs and seq in seqs:
        seqs.remove(seq)
        if not seqs:
            del lists[key]
