"""A network for the engine's tests: it shows what was sent, loses answers to calls, and fails in each way that networks do."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from engram_host.companion.bridges.errors import MarksRefused, SendFailed, SendRefused, SendUncertain, SlowDown
from engram_host.companion.bridges.irc.bridge import IrcNetwork
from engram_host.companion.bridges.irc.lines import lines_of
from engram_host.companion.bridges.network import BridgeHost, Chat, Features

EDITED = Features(400, edit_seconds=0.01)
PARAGRAPHS = Features(400, has_typing=False)
LINES = replace(IrcNetwork.features, most_units=400)
KINDS = {
    "edits": EDITED,
    "paragraphs": PARAGRAPHS,
    "lines": LINES,
    "edits-repeatable": replace(EDITED, is_repeatable=True),
    "paragraphs-repeatable": replace(PARAGRAPHS, is_repeatable=True),
}
"""Networks by what they can do."""
LINE_BYTES = 200
"""Of one line, where each line is shown as a message: see Features.heading_end."""


@dataclass
class ShownMessage:
    """A message as people see it in a chat."""

    id: str
    chat: Chat
    text: str
    reply_to: str = ""
    is_plain: bool = False
    edits: int = 0
    history: list[str] = field(default_factory=list)
    above: str = ""
    """The line that it was sent below, where each line is a message."""


class FaultyNetwork:
    """Keeps what chats show while engines come and go. With `chance`, calls fail; `fail_next` are errors of the next calls;
    `step` is called before and after each call that shows something.
    """

    def __init__(self, features: Features = EDITED, chance: random.Random | None = None):
        self.features = features
        self.chance = chance
        self.fail_next: list[Exception] = []
        self.is_away = False
        self.shown: list[ShownMessage] = []
        self.signs: list[tuple[str, bool]] = []
        self.busy: set[str] = set()
        self.calls = 0
        self.step: Callable[[], None] = lambda: None
        self._keys: dict[tuple[str, str], ShownMessage] = {}

    # --- as the engine sees it

    async def run(self, host: BridgeHost) -> None:
        host.connected("engram")
        await asyncio.get_running_loop().create_future()

    async def check(self) -> str:
        return "engram"

    async def send(self, chat: Chat, text: str, key: str, reply_to: str = "", is_plain: bool = False) -> str:
        assert 0 < len(key) <= 40 and not set(key) - set("abcdefghijklmnopqrstuvwxyz0123456789-")
        assert text.strip() and self.features.count_units(text) <= self.features.most_units, text
        await self._begin(chat)
        try:
            return await self._fail(is_plain, lambda: self._show(chat, text, key, reply_to, is_plain))
        finally:
            self.busy.discard(chat.id)

    async def edit(self, chat: Chat, message: str, text: str, is_plain: bool = False) -> None:
        assert self.features.edit_seconds is not None
        assert text.strip() and self.features.count_units(text) <= self.features.most_units, text
        await self._begin(chat)
        try:
            await self._fail(is_plain, lambda: self._change(chat, message, text, is_plain))
        finally:
            self.busy.discard(chat.id)

    async def show_typing(self, chat: Chat, is_typing: bool) -> None:
        assert self.features.has_typing
        self.signs.append((chat.id, is_typing))

    # --- what it does

    async def _begin(self, chat: Chat) -> None:
        assert chat.id not in self.busy, "two calls for one chat at once"
        self.busy.add(chat.id)
        self.calls += 1
        await asyncio.sleep(0)

    async def _fail(self, is_plain: bool, work: Callable[[], str]) -> str:
        """Do some work, or fail before, after or without it."""
        self.step()
        if self.fail_next:
            raise self.fail_next.pop(0)
        if self.is_away:
            raise SendFailed("the network is away.")
        match self.chance.randrange(12) if self.chance else 99:
            case 0:
                raise SendFailed("it was not sent.")
            case 1:
                raise SendUncertain("lost before it arrived.")
            case 2:
                work()
                raise SendUncertain("its answer was lost.")
            case 3:
                raise SlowDown(0.005)
            case 4 if not is_plain:
                raise MarksRefused("no such marks.")
        done = work()
        self.step()
        return done

    def _show(self, chat: Chat, text: str, key: str, reply_to: str, is_plain: bool) -> str:
        if self.features.heading_end != "\n":
            return self._say(chat, lines_of(text, LINE_BYTES), key)
        known = self._keys.get((chat.id, key))
        if known is None or not self.features.is_repeatable:
            known = ShownMessage(f"n{len(self.shown) + 1}", chat, text, reply_to, is_plain)
            self.shown.append(known)
            self._keys[chat.id, key] = known
        return known.id

    def _say(self, chat: Chat, lines: list[str], key: str) -> str:
        above = ""
        for line in lines:
            if above:
                self.step()
            self.shown.append(ShownMessage(f"n{len(self.shown) + 1}", chat, line, above=above))
            above = above or line
        return key

    def _change(self, chat: Chat, message: str, text: str, is_plain: bool) -> str:
        found = [each for each in self.shown if (each.id, each.chat) == (message, chat)]
        if not found:
            raise SendRefused("there is no such message.")
        (known,) = found
        if known.text != text:
            known.history.append(known.text)
            known.text, known.is_plain, known.edits = text, is_plain, known.edits + 1
        return ""

    # --- for tests

    def texts(self, chat: str, thread: str = "") -> list[str]:
        """What a chat shows now."""
        return [each.text for each in self.shown if (each.chat.id, each.chat.thread) == (chat, thread)]

    def remove(self, message: ShownMessage) -> None:
        """A person removes a message."""
        self.shown.remove(message)
