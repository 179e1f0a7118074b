"""Rebuilds the archive's index from the companion's list, where the file was lost or damaged, or has fewer memories.

list      the archived memories whose lines have a seq after this one       listed: [number, scope, created, tags] of some
"""

from engram import log_line
from engram.archive.index import add_memory
from engram.link.messages import is_row
from engram.link.rpc import LinkError
from engram.memory import ALL


async def rebuild_index(ask, archived, raw) -> bool:
    """Rebuild the index `archived`; the companion has all lines of the records, `raw`. LinkError, StoreError.

    False if the archive changed meanwhile: then replication has to finish first.
    """
    epoch, newest = raw.store.epoch, raw.store.next_seq - 1
    entries = {}
    after = 0
    while True:
        page = await ask("list", epoch=epoch, after=after)
        for item in page["items"]:
            if _is_memory(item):
                add_memory(entries, item[0], item[1] or ALL, item[2], item[3])
        if not page["next"]:
            return raw.store.epoch == epoch and archived.rebuild(entries, newest)
        if page["next"] <= after:
            raise LinkError("the companion lists its archive in no order")
        after = page["next"]


def _is_memory(item) -> bool:
    if not is_row(item, int, str, int, (list, tuple)):
        return False
    return 0 < item[0] <= log_line.MAX_SEQ and all(isinstance(tag, str) for tag in item[3])
