"""Harms a database as a failing disk does, behind the back of the store: bytes of a line, or whole pages of SQLite's file."""

import contextlib
import sqlite3
from pathlib import Path

from engram_host.companion.store import CompanionStore
from engram_host.companion.types import LogName

PAGE = 4096
_INTERIOR = {2: 12, 5: 12}
"""Types of pages that point to others, with the bytes of their heads."""


def harm_line(store: CompanionStore, device: str, log: LogName, seq: int, epoch: int = -1) -> None:
    """Change one byte in the middle of a line; its row stays as it is otherwise. With `epoch` only in that copy."""
    where = "device = ? AND log = ? AND seq = ? AND (epoch = ? OR ? < 0)"
    which = (device, log, seq, epoch, epoch)

    def harm(rows) -> None:
        ((line,),) = rows.run(f"SELECT line FROM lines WHERE {where}", which)
        data = bytearray(line)
        data[len(data) // 2] ^= 4
        rows.run(f"UPDATE lines SET line = ? WHERE {where}", (bytes(data), *which))

    store.database.write(harm)


def tree_pages(path: Path) -> dict[str, list[int]]:
    """The pages of each table and index of a file that nobody has open, the root first; without those of overlong rows."""
    with contextlib.closing(sqlite3.connect(path)) as database:
        roots = database.execute("SELECT name, rootpage FROM sqlite_master WHERE rootpage > 0").fetchall()
    data = path.read_bytes()
    return {"sqlite_master": _below(data, 1)} | {name: _below(data, root) for name, root in roots}


def _below(data: bytes, number: int) -> list[int]:
    page = data[(number - 1) * PAGE : number * PAGE]
    head = 100 if number == 1 else 0
    size = _INTERIOR.get(page[head])
    if size is None:
        return [number]
    count = int.from_bytes(page[head + 3 : head + 5])
    cells = [int.from_bytes(page[head + size + 2 * at :][:2]) for at in range(count)]
    children = [int.from_bytes(page[cell : cell + 4]) for cell in cells] + [int.from_bytes(page[head + 8 : head + 12])]
    return [number, *(found for child in children for found in _below(data, child))]


def overwrite_page(path: Path, number: int, content: bytes = b"\xa5" * PAGE) -> None:
    """Put other bytes in the place of a page."""
    with path.open("r+b") as file:
        file.seek((number - 1) * PAGE)
        file.write(content)
