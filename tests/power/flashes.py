"""Images of a flash chip, made on the host from the trace of what was done to one (see tools/board/faulty_flash.py)."""

import struct
from dataclasses import dataclass
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

    def __init__(self, content: bytes):
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
