"""Runs on the board: fills a littlefs of 2 MB with memories and turns, and compacts both.

    capacity_board.py FLASH RECORDS TURNS [CODE SETTINGS]

With the settings that a board has by default; or with those in the JSON object SETTINGS and the files of the folder CODE on
the flash.

Prints a JSON object: blocks of the flash, those in use by the code, when full, at most while both were compacted, and after.
"""

import gc
import json
import os
import random
import sys

import flash
from engram.app import App
from engram.memory.access import OWNER, own_scope
from engram.memory.recall import make_query
from engram.memory.records.records import Draft

FLASH_BYTES = 2 << 20
SYLLABLES = ("ba", "ko", "du", "fi", "lo", "mu", "re", "ti")
TEXT = 150  # characters
A_SESSION = 20  # turns


def _text(number):
    words = "number%d " % number
    while len(words) < TEXT - 6 + random.randrange(12):
        words += "".join(SYLLABLES[random.randrange(8)] for _ in range(random.randrange(2, 4))) + " "
    return words


def _used():
    numbers = os.statvfs("/flash")
    return numbers[2] - numbers[3]


def _copy(source, target):
    os.mkdir(target)
    for name in os.listdir(source):
        if os.stat(source + "/" + name)[0] & 0x4000:
            _copy(source + "/" + name, target + "/" + name)
        else:
            with open(source + "/" + name, "rb") as file, open(target + "/" + name, "wb") as copy:
                copy.write(file.read())


def _compact(part):
    """Compact the records or the journal; the most blocks that were in use."""
    most = 0
    for at, _ in enumerate(part.compacting()):
        if at % 32 == 0:
            most = max(most, _used())
    while part.entries.tick():
        pass
    return max(most, _used())


def _check(app, records, turns):
    parts = app.board
    assert (parts.records.count(), parts.journal.entries.count()) == (records, turns)
    for kind, number in (("m", records), ("t", turns)):
        for at in range(0, number, number // 10):
            recall = parts.recall
            found = recall.find(recall.rank(make_query("number%d" % at, OWNER)))
            assert [item for item in found if item.id[0] == kind], (kind, at)


def main(flash_path, records, turns, code="", settings="{}"):
    """Fill, compact and look whether all is there."""
    random.seed(1)
    flash.mount(flash_path, FLASH_BYTES, "/flash")
    if code:
        _copy(code, "/flash/engram")
    told = {"blocks": FLASH_BYTES >> 12, "code": _used()}
    app = App("/flash", json.loads(settings))
    parts = app.board
    for at in range(max(records, turns)):
        if at < records:
            # Without a look for one that says the same, which takes longer than all else.
            values = {"content": _text(at), "tags": ["tag%d" % (at % 40)], "scope": own_scope(OWNER)}
            values["created"] = parts.clock.now()
            parts.records.keep((Draft("", values, [], "", 0),))
        if at < turns:
            if at % A_SESSION == 0:
                parts.journal.begin(OWNER)
            parts.journal.add(OWNER, "agent" if at % 2 else "user", "owner", _text(at))
        gc.collect()
    told["full"] = _used()
    told["most"] = max(_compact(parts.records), _compact(parts.journal))
    told["compacted"] = _used()
    _check(app, records, turns)
    assert not parts.journal.dropped_segments
    print(json.dumps(told))


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
