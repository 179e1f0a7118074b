"""Runs on the board: two senses, whose minutes are written and folded into hours; and what is there of them.

sense_board.py play FLASH TRACE    readings of two hours on each of DAYS days; prints after each write how far it went
sense_board.py look FLASH          what is on a flash, before and after readings of another hour
"""

import sys

import vfs  # type: ignore

import faulty_flash
import flash
from cut_board import tell
from engram.clock import Clock
from engram.senses.rings import HOUR_LEVEL, MINUTE_LEVEL
from engram.senses.senses import Senses

FLASH_BYTES = 512 << 10
START = 1790000400  # an hour begins
DAYS = 40
MINUTES = 120
NAMES = ("room", "door")


def value_of(number, minute):
    """The reading of a sense in a minute since 1970, by no rule that packs well."""
    return (minute * 40503 + number * 7919) % 65521 - 30000


class Board:
    """The senses on a flash, with a clock that is set by hand."""

    def __init__(self, device):
        vfs.mount(vfs.VfsLfs2(device, **flash.OPTIONS), "/flash")
        self.now = START
        self.senses = Senses("/flash", Clock(0, lambda: self.now), 32768, 60)
        self.senses.open()

    def read(self, minutes):
        """A reading of each sense in each of some minutes."""
        for _ in range(minutes):
            for number, name in enumerate(NAMES):
                self.senses.observe(name, value_of(number, self.now // 60) // 10)
            self.now += 60
            self.senses.tick()

    def look(self):
        """What there is: the minutes, and the counts of hours."""
        found = []
        for sense in self.senses.all():
            minutes = [[slot, row[3]] for slot, row in self.senses.range(sense, 0, 1 << 31, MINUTE_LEVEL)]
            hours = [[slot, row[0]] for slot, row in self.senses.range(sense, 0, 1 << 31, HOUR_LEVEL)]
            found.append([sense.name, minutes, hours])
        return found


def play(path, trace):
    """Readings on a flash whose changes are traced."""
    device = faulty_flash.FaultyFlash(path, 0, trace)
    board = Board(device)
    for day in range(DAYS):
        board.now = START + day * 86400
        board.read(MINUTES)
        board.senses.flush()
        tell("written", device.changes, board.now // 60)
    tell("there", board.look(), board.senses.history.hours.until)


def look(path):
    """What is on a flash, before and after another hour."""
    board = Board(flash.Flash(path, 0))
    tell("there", board.look())
    board.now = START + DAYS * 86400
    board.read(60)
    board.senses.flush()
    tell("after", board.look())


if sys.argv[1] == "format":
    flash.mount(sys.argv[2], FLASH_BYTES, "/flash")
else:
    {"play": play, "look": look}[sys.argv[1]](*sys.argv[2:])
