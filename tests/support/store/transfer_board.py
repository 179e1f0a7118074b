"""Runs on the board: takes memories in from a file of its flash and out again.

    transfer_board.py FLASH RECORDS

Prints a JSON object: what an import, an export and the same import once more took of flash and heap, and what they told.
"""

import gc
import json
import sys
from binascii import crc32

import flash
from engram import text
from engram.app import App
from engram.compat import heap_used
from engram.memory.access import OWNER

FLASH_BYTES = 16 << 20
SYLLABLES = ("ba", "ko", "du", "fi", "lo", "mu", "re", "ti")
SETTINGS = {"records.most": 12000, "records.bytes": 8 << 20, "journal.bytes": 65536}
EVERY = 50  # lines between two looks at the heap


def _line(number):
    """A memory's line, the same whenever it is asked for."""
    bits = crc32(b"%d" % number)
    words = "".join(SYLLABLES[bits >> at & 7] + (" " if at % 9 == 6 else "") for at in range(0, 30, 3))
    pairs = [
        ("origin", "1a2b3c4d:m%d" % (number + 1)),
        ("content", "number%d %s is kept on shelf %d of the cellar" % (number, words, bits % 97)),
        ("tags", ["tag%d" % (number % 40)]),
        ("importance", number % 49 / 100),
        ("scope", "user:owner"),
        ("created", 1790000000 + number),
    ]
    if number % 10 == 0:
        pairs.append(("pinned", True))
    return text.dumps_fields(pairs)


def _write(path, records):
    with open(path, "wb") as file:
        file.write(b'{"engram_export":1,"epoch":"1a2b3c4d","journal":"00000000"}\n')
        for number in range(records):
            file.write(_line(number).encode() + b"\n")
        file.write(b'{"engram_export_end":%d}\n' % (records + 1))


class Watch:
    """What a command took of the flash and of the heap."""

    def __init__(self, device):
        self._device = device

    def run(self, app, command, on_line):
        """Run a command; what it took, with its last lines."""
        device = self._device
        before = device.reads, device.erases, device.programmed_bytes
        gc.collect()
        first = most = heap_used()
        told = []
        for at, line in enumerate(app.board.commands.run(OWNER, command)):
            if isinstance(line, str) and on_line(line):
                told.append(line)
            if at % EVERY == 0:
                gc.collect()
                most = max(most, heap_used())
        return {
            "told": told,
            "heap": most - first,
            "reads": device.reads - before[0],
            "erases": device.erases - before[1],
            "programmed": device.programmed_bytes - before[2],
        }


def main(path, records):
    device = flash.mount(path, FLASH_BYTES, "/flash")
    _write("/flash/in.jsonl", records)
    app = App("/flash", SETTINGS)
    watch = Watch(device)
    told: dict = {"in": watch.run(app, "/import in.jsonl", lambda line: True)}
    while app.board.records.entries.tick():
        pass
    count = 0

    def compare(line):
        nonlocal count
        fields = json.loads(line)
        if "content" not in fields:
            return False
        wanted = json.loads(_line(count))
        assert {name: fields.get(name) for name in wanted} == wanted, (line, wanted)
        count += 1
        return False

    told["out"] = watch.run(app, "/export", compare)
    told["again"] = watch.run(app, "/import in.jsonl", lambda line: True)
    told["count"] = count
    gc.collect()
    told["heap"] = heap_used()
    print(json.dumps(told))


main(sys.argv[1], int(sys.argv[2]))
