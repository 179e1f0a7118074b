"""Harms lines in a database as a failing disk does: behind the back of the store."""

from engram_host.companion.store import CompanionStore
from engram_host.companion.types import LogName


def harm_line(store: CompanionStore, device: str, log: LogName, seq: int) -> None:
    """Change one byte in the middle of a line; its row stays as it is otherwise."""
    where = "device = ? AND log = ? AND seq = ?"

    def harm(rows) -> None:
        ((line,),) = rows.run(f"SELECT line FROM lines WHERE {where}", (device, log, seq))
        data = bytearray(line)
        data[len(data) // 2] ^= 4
        rows.run(f"UPDATE lines SET line = ? WHERE {where}", (bytes(data), device, log, seq))

    store.database.write(harm)
