"""What a conversation has to do with memories: what the model was shown for an answer and why, what was remembered of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from engram_host.companion.conversations.answers import Exchange
from engram_host.companion.entries.reader import ReadEntry
from engram_host.companion.memories.browse import MemoryBrowser
from engram_host.companion.memories.changes import MemoryChanges
from engram_host.companion.memories.outcome import MemoryChange
from engram_host.companion.memories.recalled import Recalled, common_words, recalled_for, text_of
from engram_host.companion.memories.sessions import SessionBrowser

MOST_REMEMBERED = 8

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
        """Whether it is a memory that is still there."""
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
    """What an exchange has to do with memories, and its session."""

    recalled: tuple[RecalledItem, ...] = ()
    remembered: tuple[RememberedItem, ...] = ()
    session: str = ""


NOTHING = ExchangeMemory()


class ExchangeMemories:
    """Looks up what exchanges have to do with memories. Each call may raise UnknownDevice and StoreUnavailable."""

    def __init__(self, browser: MemoryBrowser, sessions: SessionBrowser, changes: MemoryChanges):
        self._browser = browser
        self._sessions = sessions
        self._changes = changes

    async def of_exchanges(self, device: str, exchanges: Sequence[Exchange]) -> dict[str, ExchangeMemory]:
        """What some exchanges have to do with memories, by the ids of their messages; empty if none has anything."""
        shown = {each.message.said.mid: recalled_for(each.answer) for each in exchanges}
        turns = [each.message.turn for each in exchanges if each.message.turn]
        if not turns and not any(shown.values()):
            return {}
        remembered = await self._browser.of_turns(device, turns)
        sessions = await self._sessions.of_turns(device, turns)
        entries = await self._browser.entries(device, {item.id for items in shown.values() for item in items})
        changes = await self._changes.newest(device, _CHANGES) if any(remembered.values()) else []
        newest = {change.entry: change for change in reversed(changes)}
        return {
            each.message.said.mid: ExchangeMemory(
                tuple(
                    _item(item, entries.get(item.id), each.message.said.text) for item in shown[each.message.said.mid]
                ),
                tuple(
                    RememberedItem(entry.id, text_of(entry), entry.state, newest.get(entry.id))
                    for entry in remembered.get(each.message.turn, ())[:MOST_REMEMBERED]
                ),
                sessions.get(each.message.turn, ""),
            )
            for each in exchanges
        }


def _item(recalled: Recalled, entry: ReadEntry | None, message: str) -> RecalledItem:
    if entry is None:
        return RecalledItem(recalled.id, "", recalled.percent, ())
    return RecalledItem(recalled.id, text_of(entry), recalled.percent, common_words(message, entry))
