"""The order in which records are evicted; a module of its own, since it is seldom needed."""

from engram.compat import const
from engram.memory.records.importance import stated_importance

_CHUNK = const(32)  # records for which the uses are read once
_LOOKED_AT = const(3)  # between two pauses
_EXPIRED = const(-1)  # leaves before all that has any importance


def least_important(records, count: int, keeping=()):
    """Pauses, then gives the numbers of at most `count` records, the first to go first."""
    found = []
    chunk = []
    for record in records.entries.newest():
        if not record.get("pinned") and int(record["id"][1:]) not in keeping:
            chunk.append((stated_importance(record), records.is_expired(record)))
        if not len(chunk) % _LOOKED_AT:
            yield
        if len(chunk) == _CHUNK:
            found = _lowest(records, found, chunk, count)
            chunk = []
            yield
    return [number for _, _, number in _lowest(records, found, chunk, count)]


def _lowest(records, found: list, chunk: list, count: int) -> list:
    importances = records.importance.importance_of([stated for stated, _ in chunk], exactly=True)
    for (stated, is_expired), (importance, touched) in zip(chunk, importances):
        found.append((_EXPIRED if is_expired else importance, touched, stated[0]))
    found.sort()
    return found[:count]
