"""Runs on the board: senses with a reading each minute for some days on a littlefs, and what that costs.

    senses_cost.py FLASH SENSES DAYS

Prints {"readings", "erases", "programmed_bytes", "kept_bytes", "heap"}: counts of the flash, the bytes of files, and those of
heap at rest beside the code.
"""

import gc
import json
import sys

import flash
from engram.clock import Clock
from engram.senses import rings  # noqa: F401  all code, before the heap is measured
from engram.senses.senses import Senses

FLASH_BYTES = 1 << 20
START = 1790000400


def used():
    """Bytes of heap in use."""
    gc.collect()
    gc.collect()
    return gc.mem_alloc()  # pyright: ignore[reportAttributeAccessIssue]  # MicroPython has it


def value_of(number, minute):
    """A temperature in tenths: a day's cycle and noise."""
    return 200 + 3 * number + abs(minute % 1440 - 720) // 15 + (minute % 10007 * 7919 + number * 1047) % 10007 % 3


def main(path, count, days):
    """Let the days pass."""
    device = flash.mount(path, FLASH_BYTES, "/flash")
    now = [START]
    clock = Clock(0, lambda: now[0])
    before = used()
    senses = Senses("/flash", clock, 524288, 60)
    senses.open()
    names = ["room number %d" % number for number in range(count)]
    for number, name in enumerate(names):
        senses.observe(name, value_of(number, now[0] // 60) / 10, "°C")
    device.erases = device.programmed_bytes = 0
    for _ in range(days * 1440):
        now[0] += 60
        for number, name in enumerate(names):
            senses.observe(name, value_of(number, now[0] // 60) / 10)
        senses.tick()
    figures = {"readings": count * days * 1440, "erases": device.erases, "programmed_bytes": device.programmed_bytes}
    figures["kept_bytes"] = sum([sum(ring.sizes.values()) for ring in senses.history.rings])
    figures["heap"] = used() - before
    print(json.dumps(figures))


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
