"""Runs on the board: a stretch of a year of 8 senses, one reading a minute, with wrong clocks and power cuts; or what there is.

    sense_year_board.py live FLASH STRETCH     STRETCH is a JSON file, see sense_year.py
    sense_year_board.py look FLASH

Prints before each write how many minutes it will have, and after it the place of the newest block and all erases so far.
"""

import gc
import json
import sys

import vfs  # type: ignore

import faulty_flash
import flash
from engram.clock import Clock
from engram.senses.rows import SIZE
from engram.senses.sense_config import parse_senses
from engram.senses.senses import Senses

FLASH_BYTES = 2 << 20
START = 1790000400
SENSES = 8
SETTINGS = (524288, 60)
ROWS = 400


def tell(*words):
    """Print one line."""
    sys.stdout.write("> " + json.dumps(words) + "\n")


def value_of(number, minute):
    """The reading of a sense: a year's and a day's cycle, and noise."""
    year = abs(minute % 525600 - 262800) // 2628
    day = abs(minute % 1440 - 720) * (8 + 9 * number) // 360
    return 100 * number + year + day + (minute % 10007 * 7919 + number * 1047) % 10007 % 9


class Board:
    """The senses on a flash, with a clock that is set by hand."""

    def __init__(self, device, minute):
        vfs.mount(vfs.VfsLfs2(device, **flash.OPTIONS), "/flash")
        self.device = device
        self.minute = minute
        self.offset = 0
        self.is_known = True
        table = {"sense %d" % number: {"kind": "code", "decimals": 0} for number in range(SENSES)}
        self.senses = Senses("/flash", Clock(0, self.read_clock), *SETTINGS, parse_senses(table, {}, ()))
        self.senses.open()

    def read_clock(self):
        """What the machine's clock says."""
        return START + 60 * self.minute + self.offset if self.is_known else 0

    def seq(self):
        """The place of the newest block of minutes: a later one is higher."""
        sizes = self.senses.history.minutes.sizes
        return max([number << 16 | sizes[number] // SIZE for number in sizes if sizes[number]] or [0])

    def live(self, steps, armed_at, after):
        """Read for some steps; from a minute on the power fails so many changes of the flash later."""
        names = ["sense %d" % number for number in range(SENSES)]
        gc.threshold(100000)  # pyright: ignore[reportAttributeAccessIssue]  # a change of the flash collects nothing
        tell("began", self.seq())
        for minutes, self.offset, self.is_known, gap in steps:
            self.minute += gap
            for _ in range(minutes):
                for number in range(SENSES):
                    self.senses.observe(names[number], value_of(number, self.minute))
                self.write(armed_at, after)
                self.minute += 1
        if armed_at < 0:
            tell("due", self.minute)
            self.senses.flush()
            tell("wrote", self.seq(), self.device.erases)

    def write(self, armed_at, after):
        """Let the background work, and tell what it writes."""
        if not self.is_known or not self.senses._is_due(self.read_clock() // 60):
            self.senses.tick()
            return
        if 0 <= armed_at <= self.minute and not self.device.when:
            self.device.what, self.device.when = "half", self.device.changes + after
        tell("due", self.minute)
        self.senses.tick()
        tell("wrote", self.seq(), self.device.erases)


def live(path, stretch):
    """A stretch on a flash."""
    flash.mount(path, FLASH_BYTES, "/made")
    vfs.umount("/made")
    with open(stretch) as file:
        plan = json.load(file)
    Board(faulty_flash.FaultyFlash(path, 0), plan["minute"]).live(plan["steps"], plan["armed_at"], plan["after"])


def look(path):
    """What there is."""
    board = Board(flash.Flash(path, 0), 0)
    tell("began", board.seq())
    tell("bytes", [sum(ring.sizes.values()) for ring in board.senses.history.rings])
    for number, sense in enumerate(board.senses.all()):
        for level in (0, 1):
            rows = []
            for slot, row in board.senses.range(sense, 0, 1 << 31, level):
                rows.append([slot] + list(row))
                if len(rows) == ROWS:
                    tell("rows", number, level, rows)
                    rows = []
            tell("rows", number, level, rows)


{"live": live, "look": look}[sys.argv[1]](*sys.argv[2:])
