"""A board as a program of the host speaks for it: the firmware's own senses, whose blocks are sent as a board sends them."""

import asyncio
import json
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from companion_store import replication_of
from engram.clock import Clock
from engram.link import messages
from engram.senses.senses import Sense, Senses
from engram_host.companion.replication.protocol import MessageDispatcher
from engram_host.companion.store import CompanionStore
from engram_host.companion.store.boards.replica import NO_QUOTA
from engram_host.companion.types import LineQuota
from sending import Sent

NOW = 1790000040
"""A minute begins; 21 September 2026, 14:54 UTC."""

MINUTE, HOUR, DAY = 60, 3600, 86400

_RUNNER = asyncio.Runner()
"""A loop for all messages: one for each would take longer than the message."""


class PerceivingBoard:
    """A board with senses in a folder, `sent` to a companion; its clock goes as it is told."""

    def __init__(self, sent: Sent, folder: Path, now: int = NOW, most_bytes: int = 524288):
        self.sent = sent
        self.now = now
        self._folder = folder
        self._most_bytes = most_bytes
        self.shared: set[str] = set()
        """The senses that everybody may see."""
        self.clock = Clock(0, lambda: self.now)
        self.start()

    def start(self) -> None:
        """Start again: what is in RAM is lost."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self.senses = Senses(str(self._folder), self.clock, self._most_bytes, 60)
        self.senses.open()

    def perceive(self, name: str, values: Iterable[float], every: int = MINUTE, unit: str = "") -> None:
        """Readings, one every so many seconds."""
        for value in values:
            self.senses.observe(name, value, unit)
            self.now += every
            self.work()

    def work(self) -> None:
        """Do what the background does."""
        self.senses.tick()

    def rows(self, name: str, level: int = 0) -> dict[int, tuple[int, ...]]:
        """What the board has of a sense, by slot; what waits in RAM is written first."""
        self.senses.flush()
        return dict(self.senses.range(self.find(name), 0, 1 << 31, level))

    def find(self, name: str) -> Sense:
        """A sense that there is."""
        sense = self.senses.find(name)
        assert sense is not None
        return sense

    # --- to the companion

    def list_senses(self, whole: bool = True) -> dict[str, Any]:
        """List the senses; the answer's head."""
        found = self.senses.all()
        items = [[one.number, one.name, one.unit, one.decimals, one.made] for one in found]
        shared = [one.number for one in found if one.name in self.shared]
        listed: dict[str, Any] = {"next": self.senses.table.next, "whole": whole, "items": items}
        return self.sent.ask("senses", epoch=self.sent.epoch, shared=shared, **listed)

    def blocks(self) -> list[tuple[int, Any]]:
        """(level, block) of all that is on flash."""
        rings = enumerate(self.senses.history.rings)
        return [(level, block) for level, ring in rings for number in ring.sizes for block in ring.blocks(number)]

    def send(self, level: int, block: Any, data: bytes = b"") -> dict[str, Any]:
        """Send a block; the answer's head."""
        return self.sent.ask("readings", data or bytes_of(block), epoch=self.sent.epoch, level=level, seq=block.seq)

    def send_next(self) -> tuple[int, Any] | None:
        """Connect, and send the next block that the companion lacks: its level and it, None if it has all."""
        self.sent.hello()
        have = self.list_senses()["have"]
        for level in range(2):
            if block := self.senses.history.rings[level].next_block(have[level][0], int(have[level][1] or "0", 16)):
                self.send(level, block)
                return level, block
        return None

    def tell(self) -> None:
        """Tell the companion all that is on flash, as a board does that has connected."""
        self.senses.flush()
        self.sent.hello()
        have = self.list_senses()["have"]
        for level in range(2):
            while block := self.senses.history.rings[level].next_block(have[level][0], int(have[level][1] or "0", 16)):
                answer = self.send(level, block)
                have = answer["have"]
                assert have[level] == [block.seq, messages.shown(block.check)], answer


def add_anomaly(home: Path, sense: str, start: int, end: int, value: int, kind: str = "unusual") -> None:
    """Let a running companion have found an anomaly in a sense."""
    with closing(sqlite3.connect(home / "companion.db", timeout=60)) as database, database:
        database.execute(
            "INSERT INTO sense_events (device, epoch, number, sense, kind, started, ended, line) "
            "SELECT device, 8, -1, key, ?, ?, ?, ? FROM senses WHERE name = ?",
            (kind, start, end, json.dumps({"value": value, "usual": [200, 210]}), sense),
        )


def bytes_of(block: Any) -> bytes:
    """A block as it is on flash."""
    return bytes(block.data)


def posted_to(store: CompanionStore, quota: LineQuota = NO_QUOTA) -> Callable[[str, bytes], bytes]:
    """What a companion with a store answers to a message of a board."""

    async def nothing(*_: object) -> list[bytes]:
        return []

    replication = replication_of(store, quota=quota)
    dispatcher = MessageDispatcher(replication, nothing, nothing, nothing, nothing)
    return lambda device, data: b"".join(_RUNNER.run(dispatcher.answers(device, data)))
