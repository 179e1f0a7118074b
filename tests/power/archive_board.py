"""Runs on the board: memories leave for a companion, come back and are forgotten there, the log is compacted, and a power cut.

    archive_board.py FLASH CUT     CUT is the number of the change of the flash at which the power fails, 0 for none

The companion is tests/unit/fake_companion.py in this process; what it was told stands in the file FLASH.companion when it
answers, so it outlasts the cut. It goes on from where the flash is. Prints what there is at the end, and the number of changes.
"""

import asyncio
import json
import random
import sys

import vfs  # type: ignore

import faulty_flash
import flash
from engram.app import App
from engram.clock import Clock
from engram.link.archive import Archive
from engram.link.exchange import Exchange
from engram.link.sync import Sync
from engram.memory import archiving
from engram.memory.scope import OWNER
from fake_companion import Companion, Copy, Way

SETTINGS = {"records.most": 12, "companion.url": "mqtt://127.0.0.1:9", "log.level": "error"}
STORED = 18
LIVE_FORGOTTEN = (15, 16, 17)
AWAY_FORGOTTEN = 0
BACK = 1
WORDS = ("anchor", "bridge", "candle", "dragon", "engine", "forest", "garden", "hammer", "island", "jacket", "kettle")


def said(at):
    """Contents of which none is near another."""
    return " ".join([WORDS[at % 11] + str(at), WORDS[at * 5 % 11] + str(at * 3), WORDS[at * 7 % 11] + str(at * 7)])


class Lasting(Companion):
    """A companion whose state stands in a file before it answers."""

    def __init__(self, path):
        super().__init__()
        self.path = path
        self.stored = 0
        try:
            with open(path) as file:
                self.load(json.load(file))
        except OSError:
            pass

    def load(self, told):
        self.board, self.at, self.stored = told["board"], tuple(told["at"]), told["stored"]
        self.present = told["present"]
        for log, epoch, have, agreed, lines, texts, kept in told["copies"]:
            copy = self.copies[log, epoch] = Copy()
            copy.have, copy.agreed = have, agreed
            copy.lines, copy.texts, copy.kept = _numbered(lines), _numbered(texts), _numbered(kept)

    def save(self):
        copies = []
        for (log, epoch), copy in self.copies.items():
            copies.append(
                [log, epoch, copy.have, copy.agreed] + [_shown(each) for each in (copy.lines, copy.texts, copy.kept)]
            )
        told = {"board": self.board, "at": self.at, "present": self.present, "copies": copies, "stored": self.stored}
        with open(self.path, "w") as file:
            json.dump(told, file)

    def answers(self, data):
        answers = super().answers(data)
        self.save()
        return answers


def _shown(lines):
    return [[seq, line.decode()] for seq, line in lines.items()]


def _numbered(pairs):
    return {seq: line.encode() for seq, line in pairs}


class Linked:
    """The board's side, as link/companion.py wires it."""

    def __init__(self, parts, companion):
        self.parts = parts
        self.companion = companion
        known = parts.companion._known
        way = Way(companion)
        self.exchange = Exchange(way, known.board)
        way.take = self.exchange.take
        self.exchange.open(known.begin())
        logs = parts.companion.logs
        self.sync = Sync(
            self.exchange,
            logs,
            known,
            parts.clock,
            lambda: False,
            lambda held, asks: self.archive.greeted(held, asks),
            relied=lambda: parts.archived.relied,
        )
        self.archive = Archive(self.exchange, self.sync, known, logs, parts, 500)

    async def copy(self):
        while True:
            await self.sync._greet()
            while not self.sync._has_changed() and await self.sync._step():
                pass
            if not self.sync._has_changed() and all(copy.is_done for copy in self.sync.copies):
                return

    async def work(self):
        await self.copy()
        for _ in range(60):
            is_busy = self.parts.capacity.tick()
            await self.copy()
            if not (await self.archive.step() or is_busy):
                return

    def live(self):
        return {record["content"]: record["id"] for record in self.parts.records.all_live()}

    def kept(self):
        found = {}
        for number, line in self.companion.copy("records").kept.items():
            found[json.loads(line)["content"]] = "m%d" % number
        return found

    async def do(self):
        """All that is to be done, and was not yet."""
        await self.work()
        while self.companion.stored < STORED:
            content = said(self.companion.stored)
            if content not in self.live() and content not in self.kept():
                self.parts.records.store(content, ["t"], importance=self.companion.stored / 100)
            self.companion.stored += 1
            self.companion.save()
            await self.work()
        for at in LIVE_FORGOTTEN:
            if said(at) in self.live():
                self.parts.records.forget(self.live()[said(at)])
        self.parts.records.compact()
        await self.work()
        if said(BACK) in self.kept():
            line = await self.archive.line(self.kept()[said(BACK)], OWNER)
            if line:
                archiving.restore(self.parts.records, self.parts.archived, line, OWNER)
        if said(AWAY_FORGOTTEN) in self.kept() and self.archive.is_away(self.kept()[said(AWAY_FORGOTTEN)], OWNER):
            self.parts.forgetting.forget(self.kept()[said(AWAY_FORGOTTEN)])
        self.parts.records.compact()
        await self.work()


def main(path, cut):
    """Do what is to be done."""
    random.seed(7)
    flash.mount(path, 1 << 20, "/made")
    vfs.umount("/made")
    device = faulty_flash.FaultyFlash(path, 0, "", ("half", cut))
    vfs.mount(vfs.VfsLfs2(device, **flash.OPTIONS), "/flash")
    parts = App("/flash", SETTINGS, clock=Clock(0, lambda: 1790000000))._parts
    linked = Linked(parts, Lasting(path + ".companion"))
    asyncio.run(linked.do())
    trash = sorted({record["content"] for record in parts.trash.records()})
    there = [sorted(linked.live()), sorted(linked.kept()), trash, parts.archived.total, parts.archived.lost]
    print("> " + json.dumps(["there"] + there))
    print("> " + json.dumps(["changes", device.changes]))


main(sys.argv[1], int(sys.argv[2]))
