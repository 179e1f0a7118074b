"""What a conversation has to do with memories: what the model was shown for an answer, and what was remembered of it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engram import text
from engram_host.companion.conversations.answers import Exchange
from engram_host.companion.entries.reader import ReadEntry
from engram_host.companion.memories.browse import MemoryBrowser
from engram_host.companion.memories.changes import MemoryChanges
from engram_host.companion.memories.outcome import MemoryChange
from engram_host.companion.memories.sessions import SessionBrowser
from engram_host.companion.page.views.memories import cut_html, new_key
from engram_host.companion.search.tokenizer import query_words

MOST_RECALLED = 12
"""Of what the model was shown for one answer."""

MOST_REMEMBERED = 8

_TEXT_BYTES = 240
_WORDS = 6
_COMPARED = 400  # characters of a text in which words of the message are looked for
_CHANGES = 20


@dataclass(frozen=True)
class RecalledItem:
    """A memory, a turn or a line of a note that the model was shown: how sure the board was, in per cent, and the words of the
    message that stand in it. Without a text it has gone since.
    """

    id: str
    text: str
    percent: int
    words: tuple[str, ...]

    @property
    def is_memory(self) -> bool:
        """Whether it has a view of its own."""
        return self.id[:1] == "m" and bool(self.text)


@dataclass(frozen=True)
class RememberedItem:
    """A memory that came from a message, and what its board was asked to do with it last."""

    id: str
    text: str
    state: str
    change: MemoryChange | None


@dataclass(frozen=True)
class ExchangeMemory:
    """What an exchange has to do with memories, and its session; `key` is for a form that undoes something of it."""

    recalled: tuple[RecalledItem, ...] = ()
    remembered: tuple[RememberedItem, ...] = ()
    session: str = ""
    key: str = ""


NOTHING = ExchangeMemory()


class ChatMemory:
    """Looks up what some exchanges have to do with memories."""

    def __init__(self, browser: MemoryBrowser, sessions: SessionBrowser, changes: MemoryChanges):
        self._browser = browser
        self._sessions = sessions
        self._changes = changes

    async def of_exchanges(self, device: str, exchanges: Sequence[Exchange]) -> dict[str, ExchangeMemory]:
        """What each of some exchanges has to do with memories, by the id of its message."""
        shown = {each.message.said.mid: _recalled_ids(each) for each in exchanges}
        turns = [each.message.turn for each in exchanges if each.message.turn]
        if not turns and not any(shown.values()):
            return {}
        remembered = await self._browser.of_turns(device, turns)
        sessions = await self._sessions.of_turns(device, turns)
        entries = await self._browser.entries(device, {id for items in shown.values() for id, _ in items})
        changes = await self._changes.newest(device, _CHANGES) if any(remembered.values()) else []
        newest = {change.entry: change for change in reversed(changes)}
        return {
            each.message.said.mid: ExchangeMemory(
                tuple(
                    _recalled(id, sure, entries.get(id), each.message.said.text)
                    for id, sure in shown[each.message.said.mid]
                ),
                tuple(
                    RememberedItem(entry.id, cut_html(_text_of(entry), _TEXT_BYTES), entry.state, newest.get(entry.id))
                    for entry in remembered.get(each.message.turn, ())[:MOST_REMEMBERED]
                ),
                sessions.get(each.message.turn, ""),
                new_key(),
            )
            for each in exchanges
        }


def _recalled_ids(exchange: Exchange) -> list[tuple[str, int]]:
    """(id, how sure in thousandths) of what the board says that the model was shown."""
    found: list[tuple[str, int]] = []
    for report in exchange.answer.reports:
        try:
            fields: Any = json.loads(report)
        except ValueError:
            continue
        items = fields.get("recalled") if isinstance(fields, dict) else None
        for item in items if isinstance(items, list) else ():
            if isinstance(item, list) and [type(part) for part in item] == [str, int]:
                found.append((item[0][:80], item[1]))
    return found[:MOST_RECALLED]


def _recalled(id: str, sure: int, entry: ReadEntry | None, message: str) -> RecalledItem:
    percent = max(0, min(sure // 10, 100))
    if entry is None:
        return RecalledItem(id, "", percent, ())
    said = _text_of(entry)
    fields = [said[:_COMPARED], *(str(word) for name in ("tags", "keywords") for word in entry.line.get(name, ()))]
    there = set(text.terms(" ".join(fields)))
    words = dict.fromkeys(word for term, word in query_words(message[:_COMPARED]).items() if term in there)
    return RecalledItem(id, cut_html(said, _TEXT_BYTES), percent, tuple(words)[:_WORDS])


def _text_of(entry: ReadEntry) -> str:
    line = entry.line
    return str(line.get("content", line.get("text", "")))
