"""Images of a flash chip, made on the host from the trace of what was done to one (see board/faulty_flash.py)."""

import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

BLOCK = 4096
_HEAD = struct.Struct("<BHHH")


@dataclass(frozen=True)
class Change:
    """One change of a flash: a block's erase, or the programming of some bytes in it."""

    kind: str
    block: int
    offset: int
    data: bytes


def read_trace(path: Path) -> list[Change]:
    """The changes in a trace."""
    raw = path.read_bytes()
    changes = []
    at = 0
    while at < len(raw):
        kind, block, offset, length = _HEAD.unpack_from(raw, at)
        at += _HEAD.size
        data = b"\xff" * length
        if kind == ord("P"):
            data = raw[at : at + length]
            at += length
        changes.append(Change(chr(kind), block, offset, data))
    return changes


class Image:
    """The bytes of a flash."""

    def __init__(self, content: bytes | bytearray):
        self.content = bytearray(content)

    def apply(self, change: Change) -> None:
        """Do a whole change."""
        at = change.block * BLOCK + change.offset
        end = at + len(change.data)
        new = change.data
        if change.kind == "P":
            old = int.from_bytes(self.content[at:end], "little")
            new = (old & int.from_bytes(new, "little")).to_bytes(end - at, "little")
        self.content[at:end] = new

    def with_half(self, change: Change) -> "Image":
        """This flash when the power failed half-way through a change: its first half is done."""
        half = Image(self.content)
        half.apply(Change(change.kind, change.block, change.offset, change.data[: len(change.data) // 2]))
        return half


@dataclass(frozen=True)
class Cut:
    """A power cut: so many changes are whole, and half of the next one is done if `is_half`."""

    changes: int
    is_half: bool

    def __str__(self) -> str:
        return f"after change {self.changes}" + (" and half of the next" if self.is_half else "")


class Trace:
    """What was done to a flash that began as `base`, and the power cuts that could have struck it."""

    def __init__(self, base: bytes, changes: list[Change]):
        self.base = base
        self.changes = changes

    def cuts(self) -> list[Cut]:
        """All cuts, in order."""
        whole = [Cut(number, half) for number in range(len(self.changes)) for half in (False, True)]
        return [*whole, Cut(len(self.changes), False)]

    def images(self, cuts: list[Cut]) -> Iterator[tuple[Cut, Image]]:
        """The flash after each of some cuts, which come in order."""
        image = Image(self.base)
        done = 0
        for cut in cuts:
            while done < cut.changes:
                image.apply(self.changes[done])
                done += 1
            yield cut, image.with_half(self.changes[done]) if cut.is_half else image

    @cached_property
    def commits(self) -> set[int]:
        """The changes by which littlefs may commit something: a directory's block is programmed again and again, and in between
        others are, while a file's is filled at one go.
        """
        visits: Counter[tuple[int, int]] = Counter()
        fills: Counter[int] = Counter()
        place: dict[int, tuple[int, int]] = {}
        before = -1
        for number, change in enumerate(self.changes):
            if change.kind == "E":
                fills[change.block] += 1
                continue
            place[number] = change.block, fills[change.block]
            visits[place[number]] += change.block != before
            before = change.block
        return {number for number, where in place.items() if visits[where] > 1}

    @property
    def erases(self) -> int:
        """How many of the changes are erases."""
        return sum(change.kind == "E" for change in self.changes)


def sample(trace: Trace, every: int) -> list[Cut]:
    """One cut in so many changes, by turns before one and half-way through it: at a commit, if there is one among them."""
    found = []
    for stride, first in enumerate(range(0, len(trace.changes), every)):
        commits = [number for number in range(first, min(first + every, len(trace.changes))) if number in trace.commits]
        found.append(Cut(commits[stride % len(commits)] if commits else first, stride % 2 == 1))
    return found
