"""Makes the archive's index anew from what the companion holds, where the file was lost or damaged, or counts fewer.

list      the archived memories whose lines have a seq after this one       listed: [number, scope, created, tags] of some
"""

from engram import log_line
from engram.link.rpc import LinkError
from engram.memory import ALL


async def rebuild_index(ask, archived, raw) -> bool:
    """Make the index of `archived` anew; `raw` are the lines of the records, of which the companion has all.

    LinkError, StoreError. False if the archive changed meanwhile: then both sides are to be brought in step first.
    """
    epoch, newest = raw.epoch, raw.next_seq - 1
    after, is_first = 0, True
    while True:
        page = await ask("list", epoch=epoch, after=after)
        following = page["next"]
        if following and following <= after:
            raise LinkError("the companion lists its archive in no order")
        lines = [_line(item) for item in page["items"] if _is_good(item)]
        if raw.epoch != epoch or not archived.remade(lines, newest, is_first, not following):
            return False
        if not following:
            return True
        after, is_first = following, False


def _is_good(item) -> bool:
    if not isinstance(item, (list, tuple)) or len(item) != 4:
        return False
    number, told, at, tags = item
    is_good = (
        isinstance(number, int) and 0 < number <= log_line.MAX_SEQ and isinstance(told, str) and isinstance(at, int)
    )
    return is_good and isinstance(tags, (list, tuple)) and all(isinstance(tag, str) for tag in tags)


def _line(item) -> dict:
    """What the line said by which it was archived."""
    number, told, at, tags = item
    return {"op": "archive", "id": "m%d" % number, "seq": 0, "scope": told or ALL, "created": at, "tags": tags}
