"""A year of 8 senses on a board whose power fails, and a plain model of what must be there afterwards."""

import json
import random
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy

from board_program import KILLED, run

PROGRAM = str(Path(__file__).with_name("sense_year_board.py"))
HEAP = "4m"
START = 1790000400 // 60
SENSES = 8
OFFSETS = (180, 60, -120, -1440, 40 * 1440, -400 * 1440)
"""Minutes by which a clock is wrong."""

LEAST_COMPARED = 0.9
"""Share of the slots on flash that have to be compared: those that were met once."""

MEAN_LOSS = 2
"""Each level rounds the mean once more."""

MOST_DIVIDED = 12
"""Hours of which a part may have left."""

Row = list[int]


@dataclass
class Plan:
    """A stretch between two starts: steps of (minutes, seconds that the clock is wrong, whether it is set, gap before it);
    from the minute `armed_at` on the power fails `after` changes of the flash, -1 ends it in order.
    """

    minute: int
    steps: list[tuple[int, int, bool, int]]
    armed_at: int
    after: int

    @property
    def end(self) -> int:
        return self.minute + sum(step[0] + step[3] for step in self.steps)

    def readings(self) -> list[tuple[int, int]]:
        """(minute of the year, slot of the clock) of each reading while the clock is set."""
        found, minute = [], self.minute
        for minutes, offset, is_known, gap in self.steps:
            minute += gap
            if is_known:
                found += [(at, START + at + offset // 60) for at in range(minute, minute + minutes)]
            minute += minutes
        return found


@dataclass
class Life:
    """What was read and is known to be written, in the order of the blocks."""

    kept: list[tuple[int, int]] = field(default_factory=list)
    """(minute of the year, slot) of all that must be there."""
    blocks: list[int] = field(default_factory=list)
    """Of each of these the number of its block."""
    read: int = 0
    erases: int = 0
    cuts: int = 0


def plans(seed: int, minutes: int, cuts: int) -> list[Plan]:
    """A year, or less, with power cuts, wrong clocks and gaps."""
    rng = random.Random(seed)
    found, minute = [], 0
    length = minutes // (cuts + 1)
    for number in range(cuts + 1):
        end = minute + rng.randrange(length * 2 // 3, length * 4 // 3) if number < cuts else max(minute + 600, minutes)
        steps: list[tuple[int, int, bool, int]] = []
        at = minute
        if rng.random() < 0.3:
            steps.append((rng.randrange(2, 90), 0, False, 0))
        while at < end:
            offset = 60 * rng.choice(OFFSETS) if rng.random() < 0.25 else 0
            gap = rng.randrange(2, 2000) if rng.random() < 0.2 else 0
            steps.append((rng.randrange(30, 400) if offset else rng.randrange(300, 4000), offset, True, gap))
            at += steps[-1][0] + gap
        plan = Plan(minute, steps, -1, 0)
        if number < cuts:
            plan.armed_at, plan.after = max(minute, plan.end - 300), rng.randrange(1, 30)
        found.append(plan)
        minute = plan.end + rng.choice((0, 1, 30, 700))
    return found


def live(folder: Path, stretches: list[Plan]) -> Life:
    """Play stretches on one flash; what must be there."""
    flash, file = folder / "flash.bin", folder / "stretch.json"
    life, pending = Life(), (0, [])
    for plan in stretches:
        file.write_text(json.dumps(plan.__dict__))
        told, status = run([PROGRAM, "live", str(flash), str(file)], HEAP)
        assert status == (KILLED if plan.armed_at >= 0 and status else 0), told[-3:]
        life.cuts += status == KILLED
        pending = _follow(life, plan, told, pending)
    _take(life, pending, _run("look", flash)[0][1])
    return life


def _follow(life: Life, plan: Plan, told: list[Any], pending: tuple[int, list]) -> tuple[int, list]:
    """Take what a stretch wrote; (the newest block, the readings) of before what it was about to write at its end."""
    readings, taken = plan.readings(), 0
    erases = 0
    for name, *words in told:
        if name == "began":
            _take(life, pending, words[0])
            pending = words[0], []
        elif name == "due":
            count = sum(at < words[0] for at, _ in readings)
            pending = pending[0], readings[taken:count]
        else:
            assert (words[0] > pending[0]) == bool(pending[1]), (plan, words, pending)
            _take(life, pending, words[0])
            taken += len(pending[1])
            pending, erases = (words[0], []), words[1]
    life.read += SENSES * sum(step[0] for step in plan.steps)
    life.erases += erases
    return pending


def _take(life: Life, pending: tuple[int, list], newest: int) -> None:
    """Take readings if their block is there."""
    number, readings = pending
    if newest > number:
        life.kept += readings
        life.blocks += [number] * len(readings)


def _run(what: str, flash: Path) -> list[Any]:
    told, status = run([PROGRAM, what, str(flash)], "64m")
    assert status == 0
    return told


def look(folder: Path) -> tuple[dict[tuple[int, int], list[Row]], list[int]]:
    """The rows of each (sense, level), and the bytes of the rings."""
    found, sizes = defaultdict(list), []
    for name, *words in _run("look", folder / "flash.bin"):
        if name == "rows":
            found[words[0], words[1]] += words[2]
        elif name == "bytes":
            sizes = words[0]
    return found, sizes


class Model:
    """What the readings of a life are together, by sense and level."""

    def __init__(self, life: Life):
        kept = numpy.array(life.kept, dtype=numpy.int64)
        self._minutes, self._slots = kept[:, 0], kept[:, 1]
        self._blocks = numpy.array(life.blocks)

    def values(self, sense: int) -> numpy.ndarray:
        """The readings of a sense."""
        minute = self._minutes
        year = abs(minute % 525600 - 262800) // 2628
        day = abs(minute % 1440 - 720) * (8 + 9 * sense) // 360
        return 100 * sense + year + day + (minute % 10007 * 7919 + sense * 1047) % 10007 % 9

    def rows(self, sense: int, level: int) -> tuple[numpy.ndarray, numpy.ndarray]:
        """[slot, count, min, max, mean, last] of all slots of a level, and whether their readings came in order."""
        slots = self._slots // (1, 60)[level]
        order = numpy.lexsort((self._slots, self._blocks, slots))
        slots, values, clock = slots[order], self.values(sense)[order], self._slots[order]
        starts = numpy.flatnonzero(numpy.r_[True, slots[1:] != slots[:-1]])
        counts = numpy.diff(numpy.r_[starts, len(slots)])
        sums = numpy.add.reduceat(values, starts)
        means = (2 * sums + counts) // (2 * counts)
        ends = starts + counts - 1
        low, high = numpy.minimum.reduceat(values, starts), numpy.maximum.reduceat(values, starts)
        back = numpy.r_[False, (clock[1:] <= clock[:-1]) & (slots[1:] == slots[:-1])]
        in_order = numpy.add.reduceat(back.astype(int), starts) == 0
        return numpy.stack([slots[starts], counts, low, high, means, values[ends]], 1), in_order


def check(model: Model, found: dict[tuple[int, int], list[Row]]) -> None:
    """Raises AssertionError unless what was found is the model's: the oldest have left their ring."""
    for (sense, level), rows in found.items():
        expected, in_order = model.rows(sense, level)
        there = numpy.array(rows)
        at = numpy.searchsorted(expected[:, 0], there[:, 0])
        assert len(there) <= len(expected) and (expected[at, 0] == there[:, 0]).all(), sense
        compared = in_order[at]  # the readings of a slot that was met twice may be in another order
        assert compared.mean() >= LEAST_COMPARED, (sense, compared.mean())
        off = abs(there[compared] - expected[at][compared])
        wrong = (off[:, [0, 1, 2, 3, 5]] > 0).any(axis=1) | (off[:, 4] > MEAN_LOSS * level)
        # A part of the oldest hours may have left already.
        assert wrong.sum() <= MOST_DIVIDED * level, (
            sense,
            there[compared][wrong][:3],
            expected[at][compared][wrong][:3],
        )
