"""One pass through a log of a board's copy: the state of each entry, without its text.

Ten thousand memories take a fraction of a second: EntryStates decides about states as everywhere, but lines that concern no
other entry skip describe_line().
"""

import heapq
import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from engram import log_line
from engram.memory import line_meaning
from engram.store.types import ARCHIVED, FORGOTTEN, LIVE
from engram_host.companion.entries.embedding_text import describe_line
from engram_host.companion.entries.lifecycle import EntryStates
from engram_host.companion.entries.reader import archived_lines
from engram_host.companion.store.replica import ReplicaReader
from engram_host.companion.types import Device, LogName, SeqRange
from engram_host.time_zones import BoardZone

_DAY_SECONDS = 86400
_CONCERNS_OTHERS = frozenset({"op", "scopes", "with", "supersedes", "past", "gone"})


def day_of(at: int, zone: BoardZone) -> int:
    """Return the local day of a moment, in days since 1970."""
    return zone.day_of(at)


class ScannedEntry(NamedTuple):
    """An entry that was not forgotten; `notes` are those that a memory was distilled from."""

    seq: int
    state: str
    at: int
    session: int
    tags: Sequence[str]
    notes: Sequence[str]


_Version = tuple[int, int, int, int, Sequence[str], Sequence[str]]
"""Number, session, time, expiry (0: never), tags, notes; a tuple, as named ones are 3 times slower."""


def scan_entries(store: ReplicaReader, device: Device, log: LogName, now: int) -> Iterator[ScannedEntry]:
    """Yield the entries that were not forgotten, by latest line; may raise StoreUnavailable."""
    archived = set[int]()
    versions: dict[int, _Version] = {}
    states = EntryStates(lambda number: versions[number][1] if number in versions else 0)
    read_plain = _plain_record if log == "records" else _plain_turn
    for seq, line in _lines(store, device, log, archived):
        fields = _parse(line)
        if fields is None:
            continue
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
            name = _state_name(state, expires, now, is_archived=seq in archived)
            yield ScannedEntry(seq, name, at, session, tags, notes)


def _state_name(state: int, expires: int, now: int, *, is_archived: bool) -> str:
    if state not in (LIVE, ARCHIVED):
        return "superseded"
    if expires and expires <= now:
        return "expired"
    return "archived" if state == ARCHIVED or is_archived else "live"


_decode = json.JSONDecoder().decode  # json.loads checks its arguments, longer than a short line takes


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        fields: Any = _decode(line.decode())
    except ValueError:
        return None
    return fields if isinstance(fields, dict) else None


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


# --- the lines of a copy


def _lines(store: ReplicaReader, device: Device, log: LogName, archived: set[int]) -> Iterator[tuple[int, bytes]]:
    """Yield each line of a log and of the archive once; add seqs of the latter to `archived`."""
    state = device.logs.get(log)
    if state is None:
        return
    before = 0
    span = SeqRange(device.name, log, state.epoch, 0, log_line.MAX_SEQ)
    if log == "journal":  # nothing of it is archived
        yield from store.lines(span)
        return
    for seq, line in heapq.merge(store.lines(span), _archive(store, device, archived)):
        if seq > before:
            before = seq
            yield seq, line


def _archive(store: ReplicaReader, device: Device, archived: set[int]) -> Iterator[tuple[int, bytes]]:
    for seq, line in archived_lines(store, device.name):
        archived.add(seq)
        yield seq, line
