"""Runs on the board: a memory that is full, and what the flash does between two looks at the keyboard.

    keyboard_board.py fill FLASH SETTINGS RECORDS TURNS     fills a flash
    keyboard_board.py watch FLASH SETTINGS SITUATION ...    plays situations on it, one after the other

For each situation a line "> [name, counts, looks]" is printed, with the most reads and erases between two looks. The keyboard
is a task that is ready at any time, as the console is while a key comes.
"""

import asyncio
import gc
import json
import os
import random
import sys

import vfs

import engram.app
import flash
import watching
from engram.app import App
from engram.clock import Clock
from engram.memory.access import OWNER, own_scope
from engram.memory.records.records import Draft

FLASH_BYTES = 1 << 20
SYLLABLES = ("ba", "ko", "du", "fi", "lo", "mu", "re", "ti")
TEXT = 90  # characters
A_SESSION = 20  # turns
CLOCK = Clock(0, lambda: 1790000000)  # so that each run is the same
_ROUNDS = 30  # of upkeep with nothing to do, after which there is nothing


def text_of(number):
    words = "number%d " % number
    while len(words) < TEXT - 6 + random.randrange(12):
        words += "".join(SYLLABLES[random.randrange(8)] for _ in range(random.randrange(2, 4))) + " "
    return words


def keep(parts, number):
    # Without a look for one that says the same, which takes longer than all else.
    values = {"content": text_of(number), "tags": ["tag%d" % (number % 40)], "scope": own_scope(OWNER)}
    values["created"] = parts.clock.now()
    parts.records.keep((Draft("", values, [], "", 0),))


def add_turn(parts, number):
    if number % A_SESSION == 0:
        parts.journal.begin(OWNER)
    parts.journal.add(OWNER, "agent" if number % 2 else "user", "owner", text_of(number))


def fill(path, settings, records, turns):
    random.seed(1)
    flash.mount(path, FLASH_BYTES, "/flash")
    parts = App("/flash", json.loads(settings), clock=CLOCK).board
    for number in range(max(int(records), int(turns))):
        if number < int(records):
            keep(parts, number)
        if number < int(turns):
            add_turn(parts, number)
        gc.collect()


class Watch:
    """Situations on one start of a board."""

    def __init__(self, path, settings, is_index_lost):
        random.seed(2)
        self.device = watching.WatchedFlash(path, 0)
        vfs.mount(watching.WatchedLittlefs(vfs.VfsLfs2(self.device, **flash.OPTIONS), self.device), "/flash")
        if is_index_lost:
            os.remove("/flash/memory/memory_records.index")
            os.remove("/flash/journal/journal.index")
        self.app = App("/flash", settings, clock=CLOCK)
        self.parts = self.app.board
        # Time passes quickly in the background.
        engram.app.sleep_ms = lambda milliseconds: asyncio.sleep_ms(0)

    async def play(self, names):
        beside = asyncio.create_task(self.app._upkeep())
        keyboard = asyncio.create_task(self.keyboard())
        for name in names:
            self.device.begin()
            await getattr(self, name)()
            print("> " + json.dumps([name, self.device.most, self.device.steps]))
        beside.cancel()
        keyboard.cancel()

    async def keyboard(self):
        while True:
            self.device.look()
            await asyncio.sleep_ms(0)

    async def quiet(self):
        """Wait until the background has nothing more to do."""
        rounds = 0
        while rounds < _ROUNDS:
            before = self.device.reads
            for _ in range(_ROUNDS):
                await asyncio.sleep_ms(0)
            rounds = rounds + _ROUNDS if self.device.reads == before else 0

    async def command(self, line):
        for output in self.parts.commands.run(OWNER, line):
            await asyncio.sleep_ms(output if isinstance(output, int) else 0)

    # --- situations

    async def start(self):
        """What the background has to do after the start."""
        await self.quiet()

    async def rebuild(self):
        """The index was lost: it is made anew from the log."""
        assert self.parts.records.entries.partial and self.parts.journal.entries.partial
        await self.quiet()
        assert not self.parts.records.entries.partial and not self.parts.journal.entries.partial

    async def room(self):
        """More memories than the memory may hold: the least important leave."""
        for number in range(5000, 5060):
            keep(self.parts, number)
            await self.quiet()
        assert self.parts.eviction.left, "none left"

    async def turns(self):
        """More turns than the journal may hold."""
        for number in range(5000, 5150):
            add_turn(self.parts, number)
            for _ in range(20):
                await asyncio.sleep_ms(0)
        await self.quiet()

    async def compact(self):
        for number in range(600, 620):
            self.parts.records.forget("m%d" % number)
            await asyncio.sleep_ms(0)
        await self.quiet()
        self.device.begin()
        await self.command("/compact")
        await self.quiet()


def main(what, path, settings, *words):
    if what == "fill":
        fill(path, settings, *words)
    else:
        asyncio.run(Watch(path, json.loads(settings), "rebuild" in words).play(words))


main(*sys.argv[1:])
