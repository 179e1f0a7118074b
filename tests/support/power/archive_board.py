"""Runs on the board: memories and turns leave for a companion, come back and are forgotten there, while anything may fail.

    archive_board.py FLASH [TRACE]     TRACE is the file that what is done to the flash goes to, "" for none

The companion is at the other end of stdin and stdout (archive_companion.py): a line `? CHANGES QUESTION` asks it, with how
often the flash was changed so far, and a line comes back, an empty one if the companion was killed meanwhile. What was done
stands in the file FLASH.progress, outside of the flash: it goes on from there. At the end it prints what there is.
"""

import asyncio
import json
import random
import sys
from binascii import hexlify, unhexlify

import vfs  # type: ignore

import faulty_flash
import flash
from engram.app import App
from engram.archive.index import ArchiveIndex
from engram.archive.transfer import ArchiveTransfer
from engram.clock import Clock
from engram.compat import finish
from engram.errors import NetError
from engram.link.replication import Replication
from engram.link.rpc import Rpc
from engram.memory.access import OWNER

TYPE_CHECKING = const(0)  # MicroPython has no collections.abc
if TYPE_CHECKING:
    from collections.abc import Callable

SETTINGS = {
    "records.most": 12,
    "records.bytes": 65536,
    "journal.bytes": 65536,
    "companion.url": "mqtt://127.0.0.1:9",
    "log.level": "error",
}
STORED = 18
ArchiveIndex.uses_wanted = 1
SAVED = 14
TURNS = 7
TURN_CHARACTERS = 10000
LIVE_FORGOTTEN = (15, 16, 17)
AWAY_FORGOTTEN = 0
BACK = 1
WORDS = ("anchor", "bridge", "candle", "dragon", "engine", "forest", "garden", "hammer", "island", "jacket", "kettle")


def said(at):
    """Contents of which none is near another."""
    return " ".join([WORDS[at % 11] + str(at), WORDS[at * 5 % 11] + str(at * 3), WORDS[at * 7 % 11] + str(at * 7)])


class Peer:
    """The companion, as it is reached."""

    def __init__(self, device):
        self._device = device

    def told(self, question):
        """What it answers, "" if it was killed before it did."""
        print("? %d %s" % (self._device.changes, question))
        return sys.stdin.readline().strip(" \n")


class Way:
    """A transport of engram.link.rpc, on which nothing is lost as long as the companion lives."""

    def __init__(self, peer):
        self.take: Callable | None = None
        self._peer = peer

    async def send(self, head, body=None):
        data = bytearray(head)
        for piece in body.pieces() if body else ():
            data.extend(piece)
        answers = self._peer.told("said " + hexlify(data).decode())
        if not answers:
            raise NetError("the companion was killed")
        assert self.take
        for answer in answers.split(" "):
            self.take(unhexlify(answer))


class Linked:
    """The board's side, as link/companion.py wires it."""

    def __init__(self, parts, peer, progress):
        self.parts = parts
        self.peer = peer
        self.progress = progress
        known = parts.companion.link_state
        way = Way(peer)
        self.exchange = Rpc(known.board, way)
        way.take = self.exchange.receive
        self.exchange.open(known.begin())
        logs = parts.companion.logs
        self.sync = Replication(
            self.exchange,
            logs,
            known,
            parts.clock,
            lambda: False,
            lambda welcome: self.archive.greeted(welcome["archived"], welcome["asks"]),
            archived=parts.archived,
        )
        self.archive = ArchiveTransfer(
            self.exchange, self.sync, known, parts.archived, parts.records, parts.journal, 500
        )
        parts.companion.archive = parts.archive = self.archive

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
            is_busy = self.parts.eviction.tick()
            await self.copy()
            if not (await self.archive.step() or is_busy):
                return

    def live(self):
        return {record["content"]: record["id"] for record in self.parts.records.entries.newest()}

    def kept(self):
        return {content: "m%d" % number for number, content in json.loads(self.peer.told("archived"))}

    async def do(self):
        """All that is to be done, and was not yet."""
        await self.work()
        await self.store_memories()
        for at in LIVE_FORGOTTEN:
            if said(at) in self.live():
                self.parts.records.forget(self.live()[said(at)])
        finish(self.parts.records.compacting())
        await self.work()
        if self.progress.is_first("put back"):
            self.peer.told("put back")
            self.progress.did("put back")
            await self.work()
        if said(BACK) in self.kept():
            self.parts.archived.add_use(int(self.kept()[said(BACK)][1:]), OWNER)
            self.progress.did("bring back")
            await self.work()
        away = self.kept().get(said(AWAY_FORGOTTEN))
        if away and self.archive.may_be_archived(away, OWNER):
            self.parts.archived.add_use(int(away[1:]), OWNER)
            self.parts.forgetting.forget(away)
        finish(self.parts.records.compacting())
        await self.work()
        await self.add_turns()

    async def store_memories(self):
        while self.progress.memories < STORED:
            if self.progress.memories == SAVED and self.progress.is_first("save"):
                self.peer.told("save")
                self.progress.did("save")
            content = said(self.progress.memories)
            if content not in self.live() and content not in self.kept():
                self.parts.records.store(content, ["t"], importance=self.progress.memories / 100)
            self.progress.memories += 1
            self.progress.save()
            await self.work()

    async def add_turns(self):
        newest = self.parts.journal.turn(self.parts.journal.newest)
        if newest and newest["text"].startswith("turn %d " % self.progress.turns):
            self.progress.turns += 1  # the power failed before that was noted
        while self.progress.turns < TURNS:
            text = "turn %d " % self.progress.turns + "." * TURN_CHARACTERS
            self.parts.journal.add(OWNER, "user", "owner", text)
            self.progress.turns += 1
            self.progress.save()
            await self.work()


class Progress:
    """What was done, in a file that outlasts the cut."""

    def __init__(self, path, device):
        self.path = path
        self.memories = self.turns = 0
        self.once = []
        self._device = device
        try:
            with open(path) as file:
                self.memories, self.turns, self.once = json.load(file)
        except OSError:
            pass

    def is_first(self, what):
        return what not in self.once

    def did(self, what):
        self.once.append(what)
        self.save()

    def save(self):
        state = [self.memories, self.turns, self.once]
        with open(self.path, "w") as file:
            json.dump(state, file)
        print("> " + json.dumps(["progress", self._device.changes, state]))


def play(peer, progress):
    """Do what is to be done, with a new link after each that broke; the parts of the board."""
    parts = started()
    while True:
        linked = Linked(parts, peer, progress)
        try:
            asyncio.run(linked.do())
            return parts
        except NetError as error:
            print("# a new link:", error)


def started():
    return App("/flash", SETTINGS, clock=Clock(0, lambda: 1790000000)).board


def main(path, trace=""):
    """Play, and tell what there is at the end."""
    random.seed(7)
    device = faulty_flash.FaultyFlash(path, 0, trace)
    vfs.mount(vfs.VfsLfs2(device, **flash.OPTIONS), "/flash")
    peer = Peer(device)
    parts = play(peer, Progress(path + ".progress", device))
    assert parts.archived
    there = {
        "live": sorted(record["content"] for record in parts.records.entries.newest()),
        "trash": sorted({record["content"] for record in parts.records.left() if record}),
        "archived": [parts.archived.total, parts.archived.lost],
        "kept": sorted(content for _, content in json.loads(peer.told("archived"))),
        "copy": json.loads(peer.told("states")),
        "wanted": sorted(said(at) for at in range(STORED) if at not in LIVE_FORGOTTEN + (AWAY_FORGOTTEN,)),
        "back": said(BACK),
        "turns": json.loads(peer.told("turns")),
        "turns_added": TURNS,
        "turns_on_board": parts.journal.entries.count(),
        "turns_unsent": parts.journal.unsent,
    }
    print("> " + json.dumps(["there", there]))


main(*sys.argv[1:])
