"""Which records leave when there is no room, and their way out: into the trash first, then out of the log."""

from engram.compat import const
from engram.memory.importance import given

_CHUNK = const(32)  # records for which the uses are read once
_LOOKED_AT = const(3)  # between two pauses
_SLICE = const(8)  # that leave with one flush
_EXPIRED = const(-1)  # goes before all that has any importance


def leaving(records, trash, count: int, is_enough, keeping=()):
    """Let at most `count` records go: a generator that pauses between slices, and gives how many went.

    Those whose time is over go first, then the least important, of these the one that was touched longest ago. What is pinned
    stays. `is_enough()` tells, before some leave, whether there is room meanwhile; the numbers in
    `keeping` stay too.
    """
    weakest = yield from weakest_of(records, count, keeping)
    left = 0
    while weakest and not is_enough():
        left += records.leave([number for _, _, number in weakest[:_SLICE]], trash)
        weakest = weakest[_SLICE:]
        yield
    return left


def weakest_of(records, count: int, keeping=()):
    """A generator that pauses, and gives [(importance in hundredths, moment when it was touched last, number)] of at most
    `count` records, the first to go first.
    """
    found = []
    chunk = []
    for record in records.all_live():
        if not record.get("pinned") and int(record["id"][1:]) not in keeping:
            chunk.append((given(record), records.is_expired(record)))
        if not len(chunk) % _LOOKED_AT:
            yield
        if len(chunk) == _CHUNK:
            found = _lowest(records, found, chunk, count)
            chunk = []
            yield
    return _lowest(records, found, chunk, count)


def _lowest(records, found: list, chunk: list, count: int) -> list:
    reckoned = records.importance.of([told for told, _ in chunk], exactly=True)
    for (told, is_expired), (importance, touched) in zip(chunk, reckoned):
        found.append((_EXPIRED if is_expired else importance, touched, told[0]))
    found.sort()
    return found[:count]
