"""Runs on the board: puts and forgets for a long time within a small littlefs, and tells what heap and flash are in use.

    long_run_board.py FLASH OPERATIONS CAP      CAP are the bytes of the log from which it is compacted

Prints [operations so far, heap in use, blocks of the file system in use] after each compaction.
"""

import gc
import json
import os
import random
import sys

import flash
from engram.compat import finish, heap_used
from engram.errors import StoreFull
from engram.store.log.reserve import Reserve
from engram.store.log.segments import Log
from engram.store.store import LIVE, Store
from engram.store.types import Query
from plain_owner import Owner

FLASH_BYTES = 1 << 20

WORKING_SET = 500
MOST = 600
START = 1790000040
SYLLABLES = ("ba", "ko", "du", "fi", "lo", "mu", "re", "ti")


def _word():
    return "".join(SYLLABLES[random.randrange(8)] for _ in range(random.randrange(2, 4)))


def _text():
    return " ".join(_word() for _ in range(random.randrange(12, 28)))


class Run:
    """One store in use."""

    def __init__(self, flash_path, cap):
        self.cap = cap
        flash.mount(flash_path, FLASH_BYTES, "/flash")
        log = Log("/flash", "log", cap=cap)
        self.store = Store(log, Owner(), Reserve("/flash/reserve.bin", log.segment_bytes))
        self.store.open()
        self.live = []

    def step(self, number):
        """Put an entry, or forget the oldest."""
        if self.store.bytes > self.cap:
            self.compact(number)
        try:
            if len(self.live) > MOST or (len(self.live) > WORKING_SET and random.randrange(2)):
                self.store.append([("forget", self.live.pop(0))], urgent=True)
            else:
                fields = [("text", _text()), ("at", START + 60 * number), ("tags", ["tag%d" % random.randrange(40)])]
                self.live.append(self.store.append(fields))
        except StoreFull:
            self.compact(number)

    def compact(self, number):
        """Make room, and take a sample."""
        store = self.store
        live = set(self.live)
        finish(store.compacting(lambda line: line["seq"] in live))
        while store.tick():
            pass
        self.sample(number)

    def sample(self, number):
        """Note what is in use."""
        gc.collect()
        used = os.statvfs("/flash")
        print(json.dumps([number, heap_used(), used[2] - used[3]]))

    def check(self):
        """See that what is live is there, and nothing else."""
        assert self.store.count() == len(self.live)
        for number in self.live[:: len(self.live) // 20]:
            assert self.store.state(number) == LIVE
            words = self.store.get(number)["text"].split()
            hits = self.store.search(Query(words, (), (), 0, 0, "", None, True), 3)
            assert number in [hit.number for hit in hits]


def main(flash_path, operations, cap):
    """Do the operations."""
    random.seed(1)
    gc.threshold(20000)  # pyright: ignore[reportAttributeAccessIssue]  # MicroPython has it
    run = Run(flash_path, cap)
    for number in range(operations):
        run.step(number)
        if number % 5000 == 4999:
            run.check()
            run.store.close()
            run.store.open()
    run.check()


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
