"""Sessions of a board, and memories of an exchange: those shown to the model for its answer, and those made from it."""

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engram import text
from engram.memory import line_meaning
from engram_host.companion.conversations.service import Answer, Exchange
from engram_host.companion.entries.reader import ReadEntry, read_lines
from engram_host.companion.memories.browse import MemoryBrowser
from engram_host.companion.memories.changes import MOST_LISTED, MemoryChanges
from engram_host.companion.memories.commands import MemoryChange, is_newest_undoable
from engram_host.companion.search import tables
from engram_host.companion.search.engine import IndexCache
from engram_host.companion.search.index import DeviceIndex
from engram_host.companion.search.tables import NONE
from engram_host.companion.search.tokenizer import query_words
from engram_host.companion.store.boards.table import BoardTable
from engram_host.companion.types import Device

TITLE_CHARACTERS = 60
_MOST_DIGITS = 12


@dataclass(frozen=True)
class SessionSummary:
    id: str
    title: str
    turns: int
    at: int


class SessionBrowser:
    """Session queries; each call may raise UnknownDevice and StoreUnavailable."""

    def __init__(self, boards: BoardTable, indexes: IndexCache):
        self._boards = boards
        self._indexes = indexes

    async def newest(self, device: str, scope: str, limit: int) -> list[SessionSummary]:
        return await asyncio.to_thread(self._newest, device, scope, limit)

    async def of_turns(self, device: str, turns: Iterable[str]) -> dict[str, str]:
        return await asyncio.to_thread(self._of_turns, device, [*turns])

    async def titles(self, device: str, sessions: Iterable[str]) -> dict[str, str]:
        return await asyncio.to_thread(self._titles_of, device, set(sessions))

    def _titles_of(self, name: str, sessions: set[str]) -> dict[str, str]:
        index, device = self._indexes.get(name, None)
        with index.lock:
            firsts = {sid: first for sid in sessions if (first := _first_turn(index, sid)) is not None}
        return self._titles(device, firsts)

    def _newest(self, name: str, scope: str, limit: int) -> list[SessionSummary]:
        index, device = self._indexes.get(name, None)
        with index.lock:
            found = _count_turns(index, scope, limit)
        titles = self._titles(device, {sid: first for sid, _, _, first in found})
        return [SessionSummary(sid, titles.get(sid, ""), turns, at) for sid, turns, at, _ in found]

    def _titles(self, device: Device, firsts: dict[str, int]) -> dict[str, str]:
        lines = read_lines(self._boards, device, "journal", [*map(_own_line, firsts), *firsts.values()])
        titles: dict[str, str] = {}
        for sid, first in firsts.items():
            given = lines.get(_own_line(sid), {}).get("title", "")
            said = lines.get(first, {}).get("text", "")
            title = given if isinstance(given, str) and given else said if isinstance(said, str) else ""
            titles[sid] = " ".join(title.split())[:TITLE_CHARACTERS]
        return titles

    def _of_turns(self, name: str, turns: list[str]) -> dict[str, str]:
        index, _ = self._indexes.get(name, None)
        found: dict[str, str] = {}
        with index.lock:
            threads = index.rows.column("thread")
            for turn in turns:
                row = index.rows.row_of("journal", int(turn[1:])) if turn[1:].isdecimal() else NONE
                if row != NONE and threads[row] != NONE:
                    found[turn] = index.threads.texts[threads[row]]
        return found


def _own_line(session: str) -> int:
    number = session[1:]
    return int(number) if number.isascii() and number.isdecimal() and len(number) < _MOST_DIGITS else 0


def _first_turn(index: DeviceIndex, session: str) -> int | None:
    rows, thread = index.rows, index.threads.find(session)
    if thread == NONE:
        return None
    is_of_session = (rows.column("thread") == thread) & rows.column("turn") & (rows.column("state") == tables.LIVE)
    found = rows.column("seq")[is_of_session]
    return int(found.min()) if len(found) else None


def _count_turns(index: DeviceIndex, scope: str, limit: int) -> list[tuple[str, int, int, int]]:
    rows = index.rows
    wanted = rows.column("turn") & (rows.column("state") == tables.LIVE) & (rows.column("thread") != NONE)
    wanted &= rows.column("scope") == index.scopes.find("@" + scope)
    chosen = np.flatnonzero(wanted)
    if not len(chosen):
        return []
    threads = rows.column("thread")[chosen]
    size = len(index.threads.texts)
    counts = np.bincount(threads, minlength=size)
    newest, first = np.zeros(size, np.int64), np.full(size, np.iinfo(np.int64).max)
    np.maximum.at(newest, threads, rows.column("at")[chosen])
    np.minimum.at(first, threads, rows.column("seq")[chosen].astype(np.int64))
    order = np.lexsort((-first, -newest))
    used = [thread for thread in order.tolist() if counts[thread]][:limit]
    return [(index.threads.texts[at], int(counts[at]), int(newest[at]), int(first[at])) for at in used]


MOST_REMEMBERED = 8
MOST_RECALLED = 12

FORGOTTEN = "forgotten"

_FORGETTING = ("forget", "drop", "undo")
_WORDS = 6
_COMPARED = 400  # characters of a text in which words of the message are looked for
_ID_CHARACTERS = 80


@dataclass(frozen=True)
class RecalledItem:
    """An entry shown to the model, with the board's confidence in per cent; no text if it is gone."""

    id: str
    percent: int
    text: str = ""
    words: tuple[str, ...] = ()

    @property
    def is_memory(self) -> bool:
        return self.id[:1] == "m" and bool(self.text)


@dataclass(frozen=True)
class RememberedItem:
    """A memory made from a message, with its last change; the text of a FORGOTTEN one is gone."""

    id: str
    text: str
    state: str
    change: MemoryChange | None
    was: int = 0
    """Version made by the message if it is the newest and can be undone, else 0."""


@dataclass(frozen=True)
class ExchangeMemory:
    recalled: tuple[RecalledItem, ...] = ()
    remembered: tuple[RememberedItem, ...] = ()
    session: str = ""


NOTHING = ExchangeMemory()


class ExchangeMemories:
    """Memories of exchanges; each call may raise UnknownDevice and StoreUnavailable."""

    def __init__(self, browser: MemoryBrowser, sessions: SessionBrowser, changes: MemoryChanges):
        self._browser = browser
        self._sessions = sessions
        self._changes = changes

    async def of_exchanges(self, device: str, exchanges: Sequence[Exchange]) -> dict[str, ExchangeMemory]:
        """Return memories by message id, empty if no exchange has any."""
        shown = {each.message.said.mid: recalled_for(each.answer) for each in exchanges}
        turns = [each.message.turn for each in exchanges if each.message.turn]
        if not turns and not any(shown.values()):
            return {}
        ids = await self._browser.ids_of_turns(device, turns)
        sessions = await self._sessions.of_turns(device, turns)
        wanted = {item.id for items in shown.values() for item in items} | {
            id for found in ids.values() for id in found
        }
        entries = await self._browser.entries(device, wanted)
        changes = await self._changes.newest(device, MOST_LISTED) if any(ids.values()) else []
        return {
            each.message.said.mid: ExchangeMemory(
                tuple(
                    _item(item, entries.get(item.id), each.message.said.text) for item in shown[each.message.said.mid]
                ),
                tuple(_remembered(each.message.turn, ids.get(each.message.turn, ()), entries, changes)),
                sessions.get(each.message.turn, ""),
            )
            for each in exchanges
        }


def _remembered(
    turn: str, ids: Sequence[str], entries: Mapping[str, ReadEntry], changes: Sequence[MemoryChange]
) -> list[RememberedItem]:
    newest = {change.entry: change for change in reversed(changes)}
    found: list[RememberedItem] = []
    for id in ids:
        entry, change = entries.get(id), newest.get(id)
        if entry:
            is_undoable = _was_made_by(turn, entry) and is_newest_undoable(entry, changes)
            was = entry.line["seq"] if is_undoable else 0
            found.append(RememberedItem(id, text_of(entry), entry.state, change, was))
        elif change and change.kind in _FORGETTING and change.state == "done":
            found.append(RememberedItem(id, "", FORGOTTEN, change))
    return found[:MOST_REMEMBERED]


def _was_made_by(turn: str, entry: ReadEntry) -> bool:
    turns = entry.line.get("turns")
    return "was" not in entry.line or (isinstance(turns, list) and turns[-1:] == [turn])


def _item(recalled: RecalledItem, entry: ReadEntry | None, message: str) -> RecalledItem:
    return replace(recalled, text=text_of(entry), words=common_words(message, entry)) if entry else recalled


# --- what the model was shown, as its board reports it


def recalled_for(answer: Answer) -> tuple[RecalledItem, ...]:
    found: list[RecalledItem] = []
    for report in answer.reports:
        try:
            fields: Any = json.loads(report)
        except (ValueError, RecursionError):
            continue
        items = fields.get("recalled") if isinstance(fields, dict) else None
        for item in items if isinstance(items, list) else ():
            if isinstance(item, list) and [type(part) for part in item] == [str, int]:
                found.append(RecalledItem(item[0][:_ID_CHARACTERS], max(0, min(item[1] // 10, 100))))
    return tuple(found[:MOST_RECALLED])


def text_of(entry: ReadEntry) -> str:
    line = entry.line
    return str(line["content"]) if "content" in line else line_meaning.attributed_text(line)


def common_words(message: str, entry: ReadEntry) -> tuple[str, ...]:
    """Return the words of a message that occur in an entry, as the message spells them."""
    fields = [text_of(entry)[:_COMPARED]]
    for name in ("tags", "keywords"):
        words = entry.line.get(name)
        fields += [str(word) for word in words] if isinstance(words, list) else []
    there = set(text.terms(" ".join(fields)))
    shared = dict.fromkeys(word for term, word in query_words(message[:_COMPARED]).items() if term in there)
    return tuple(shared)[:_WORDS]
