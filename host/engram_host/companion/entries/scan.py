"""One pass through a log of a board's copy: the state of each entry, without its text.

Ten thousand memories take a fraction of a second: EntryStates decides about states as everywhere, but lines that concern no
other entry skip describe_line().
"""

import heapq
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from engram import log_line
from engram.memory import line_meaning
from engram.store.types import FORGOTTEN, LIVE
from engram_host.companion.entries.lines import EntryStates, describe_line, parse_line, state_name
from engram_host.companion.store.boards.table import BoardTable
from engram_host.companion.types import BoundedDict, Device, LogName, SeqRange

Found = TypeVar("Found")

_ARCHIVED_AT_ONCE = 1000
_CONCERNS_OTHERS = frozenset({"op", "scopes", "with", "supersedes", "past", "gone"})


class ScannedEntry(NamedTuple):
    """An entry that was not forgotten; `notes` are those that a memory was distilled from."""

    number: int
    seq: int
    state: str
    at: int
    session: int
    tags: Sequence[str]
    notes: Sequence[str]


_Version = tuple[int, int, int, int, Sequence[str], Sequence[str]]
"""Number, session, time, expiry (0: never), tags, notes; a tuple, as named ones are 3 times slower."""


def scan_entries(store: BoardTable, device: Device, log: LogName, now: int) -> Iterator[ScannedEntry]:
    archived = archived_seqs(store, device, log)
    versions: dict[int, _Version] = {}
    states = EntryStates(lambda number: versions[number][1] if number in versions else 0)
    read_plain = _plain_record if log == "records" else _plain_turn
    for seq, fields in copied_lines(store, device, log, parse_line):
        version = read_plain(seq, fields) if _CONCERNS_OTHERS.isdisjoint(fields) else None
        if version := version or _described_version(log, seq, fields, device.zone.standard, states):
            versions[seq] = version
    is_plain = states.is_plain
    for seq, (number, session, at, expires, tags, notes) in versions.items():
        if is_plain(number, session):
            state, latest = LIVE, number
        else:
            has_first = number in versions and versions[number][0] == number
            entry = states.state_of(number, has_first)
            if entry is None:
                continue
            state, latest = entry.state, entry.latest
        if latest == seq and state != FORGOTTEN:
            name = state_name(state, expires, now, is_archived=seq in archived)
            yield ScannedEntry(number, seq, name, at, session, tags, notes)


# --- first lines of entries that concern no other entry; None for any other line


def _plain_record(seq: int, fields: dict[str, Any]) -> _Version | None:
    is_first = fields.get("id") == f"m{seq}" and isinstance(fields.get("content"), str)
    return _version("records", seq, 0, fields, fields.get("created", 0)) if is_first else None


_LONGEST_SID = 10


def _plain_turn(seq: int, fields: dict[str, Any]) -> _Version | None:
    sid, at = fields.get("sid", ""), fields.get("at", 0)
    if not (_is_usual_turn(fields) or line_meaning.is_known_turn(fields)):
        return None
    is_turn = sid[:1] == "s" and len(sid) <= _LONGEST_SID and sid[1:].isascii() and sid[1:].isdigit()
    return (seq, int(sid[1:]), at, 0, (), ()) if is_turn else None


def _is_usual_turn(fields: dict[str, Any]) -> bool:
    get = fields.get
    texts = type(get("sid")), type(get("who")), type(get("text")), type(get("scope", ""))
    return texts == _FOUR_TEXTS and type(get("at")) is int and type(get("n", 0)) is int and _UNUSUAL.isdisjoint(fields)


_FOUR_TEXTS = (str,) * 4
_UNUSUAL = frozenset({"title", "caption", "workspace"})


# --- any line


def _described_version(
    log: LogName, seq: int, fields: dict[str, Any], zone: int, states: EntryStates
) -> _Version | None:
    entry = describe_line(log, fields, zone)
    states.add_line(seq, entry)
    return _version(log, entry.number, entry.session, fields, entry.at) if entry.number >= 0 else None


def _version(log: LogName, number: int, session: int, fields: dict[str, Any], at: Any) -> _Version | None:
    expires, scope = fields.get("expires", 0), fields.get("scope", "")
    tags, notes = (fields.get("tags", ()), fields.get("notes", ())) if log == "records" else ((), ())
    if not isinstance(at, int) or not isinstance(scope, str) or not _are_texts(tags):
        return None
    ends = expires if isinstance(expires, int) else 0
    return number, session, at, ends, tags, notes if _are_texts(notes) else ()


def _are_texts(found: Any) -> bool:
    return not found or (isinstance(found, list) and _ONLY_TEXTS.issuperset(map(type, found)))


_ONLY_TEXTS = frozenset({str})


# --- lines


def archived_seqs(store: BoardTable, device: Device, log: LogName) -> set[int]:
    """Return the seqs of a board's archive, which has memories only; may raise StoreUnavailable."""
    return set(store.archived_seqs(device.name)) if log == "records" else set()


def copied_lines(
    store: BoardTable, device: Device, log: LogName, parse: Callable[[bytes], dict[str, Any]]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (seq, fields) of each readable line of a log or of its archive once; may raise StoreUnavailable."""
    state = device.logs.get(log)
    if state is None:
        return
    lines = store.lines(SeqRange(device.name, log, state.epoch, 0, log_line.MAX_SEQ))
    if log == "records":
        lines = heapq.merge(lines, _archived_lines(store, device.name))
    before = 0
    for seq, line in lines:
        if seq > before and (fields := parse(line)):
            before = seq
            yield seq, fields


def _archived_lines(store: BoardTable, device: str) -> Iterator[tuple[int, bytes]]:
    after = 0
    while part := store.archived(device, after, _ARCHIVED_AT_ONCE):
        yield from part
        after = part[-1][0]


# --- what was read, kept until the copy changes


class KeptOfBoards(Generic[Found]):
    """Least-recently-used cache with one value per board; safe for threads."""

    def __init__(self, most: int):
        self._lock = threading.Lock()
        self._kept: BoundedDict[object, tuple[tuple[object, ...], Found]] = BoundedDict(most)

    def get(self, key: tuple[object, ...], read: Callable[[], Found]) -> Found:
        """Return the value for a key that begins with the board's name; `read` it if the key changed."""
        board = key[0]
        with self._lock:
            kept = self._kept.get(board)
        if kept is None or kept[0] != key:
            kept = key, read()
        with self._lock:
            self._kept[board] = kept
        return kept[1]
