"""Runs on the board: fills a littlefs of 2 MB with records and turns, and compacts both.

    capacity_board.py FLASH NUMBER          NUMBER records and as many turns

Prints a JSON object: blocks in use when full, when both were compacted, and the most in use meanwhile.
"""

import gc
import json
import os
import random
import sys

import flash
from engram.store.entry import Query
from engram.store.log import Log
from engram.store.reserve import Reserve
from engram.store.store import Store
from plain_owner import Owner

FLASH_BYTES = 2 << 20
START = 1790000040
SYLLABLES = ("ba", "ko", "du", "fi", "lo", "mu", "re", "ti")
TEXT = 150  # characters


def _text():
    words = ""
    while len(words) < TEXT - 6 + random.randrange(12):
        words += "".join(SYLLABLES[random.randrange(8)] for _ in range(random.randrange(2, 4))) + " "
    return words


def _used():
    numbers = os.statvfs("/flash")
    return numbers[2] - numbers[3]


def _open(name):
    os.mkdir("/flash/" + name)
    log = Log("/flash/" + name, name, cap=1 << 20)
    store = Store(log, Owner(), Reserve("/flash/" + name + "/reserve.bin", log.segment_bytes))
    store.open()
    return store


def _compact(store):
    """Compact; the most blocks that were in use."""
    most = 0
    for at, _ in enumerate(store.compacting(lambda line: True)):
        if at % 32 == 0:
            most = max(most, _used())
    while store.tick():
        pass
    return max(most, _used())


def _check(store, number):
    assert store.count() == number
    for seq in range(1, number, number // 10):
        words = store.get(seq)["text"].split()
        assert seq in [hit.number for hit in store.search(Query(words, (), (), 0, 0, "", None), 10)]


def main(flash_path, number):
    """Fill, compact and look whether all is there."""
    random.seed(1)
    gc.threshold(20000)
    flash.mount(flash_path, FLASH_BYTES, "/flash")
    records, turns = _open("records"), _open("turns")
    for at in range(number):
        records.append([("text", _text()), ("at", START + 60 * at), ("tags", ["tag%d" % (at % 40)])])
        turns.append([("text", _text()), ("at", START + 60 * at), ("session", 1 + at // 20), ("who", "ann")])
    full = _used()
    most = max(_compact(records), _compact(turns))
    _check(records, number)
    _check(turns, number)
    print(json.dumps({"blocks": FLASH_BYTES >> 12, "full": full, "most": most, "compacted": _used()}))


main(sys.argv[1], int(sys.argv[2]))
