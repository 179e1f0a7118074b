"""Fields of a reply that its adapter does not know, such as signatures and thoughts: they go back within the turn."""

from engram.compat import const
from engram.text import decode, encode

# Protects the heap from thoughts without end. What is not whole must not go back: beyond this nothing of the reply does.
_KEPT_BYTES = const(32768)
# About what a number, a word or a container takes.
_SMALL = const(16)
# Fields that name something, and come again with each piece: all other text goes on where the last piece ended.
_LABELS = ("id", "type", "index", "format", "name", "role", "object")
_IDENTITY = ("index", "id", "type")


class Kept:
    """Puts the fields of one reply together from their pieces, in dicts that the adapter holds."""

    def __init__(self):
        self._left = _KEPT_BYTES

    @property
    def is_whole(self) -> bool:
        """True if all of the reply's fields were kept."""
        return self._left >= 0

    @property
    def is_empty(self) -> bool:
        """True if nothing was added."""
        return self._left == _KEPT_BYTES

    def add(self, holder: dict, piece: dict, known=()) -> None:
        """Add a piece's fields, except those that are `known`."""
        for name in piece:
            if name not in known and piece[name] is not None:
                holder[name] = self._join(holder.get(name), piece[name], name)

    def fields(self, holder: dict) -> tuple:
        """(name, value) pairs of a holder."""
        return tuple([(name, plain(holder[name])) for name in holder]) if self._left >= 0 else ()

    def _join(self, old, new, name):
        """The value of a field after one more piece of it; text is a bytearray while it grows."""
        self._left -= len(new) if isinstance(new, str) else _SMALL
        if self._left < 0:
            return None
        if isinstance(new, str) and name not in _LABELS:
            old = old if isinstance(old, bytearray) else bytearray()
            old.extend(encode(new))
        elif isinstance(new, dict):
            old = old if isinstance(old, dict) else {}
            self.add(old, new)
        elif isinstance(new, list):
            old = old if isinstance(old, list) else []
            self._join_list(old, new)
        else:
            old = new
        return old

    def _join_list(self, old, new):
        count = len(old)
        for place, item in enumerate(new):
            at = _place(old, count, item, place == 0)
            if at < 0:
                old.append(self._join(None, item, ""))
            else:
                old[at] = self._join(old[at], item, "")


def _place(entries, count, item, is_first):
    """The entry of an earlier piece that an item goes on with, -1 if it begins one."""
    if not isinstance(item, dict):
        return -1
    has_index = item.get("index") is not None
    for at in range(count - 1, -1, -1):
        entry = entries[at]
        # Without an index only what came last may go on, until its signature.
        may_go_on = has_index or (
            is_first and at == count - 1 and not (isinstance(entry, dict) and "signature" in entry)
        )
        if may_go_on and isinstance(entry, dict) and _is_same(entry, item):
            return at
    return -1


def _is_same(entry, item):
    return all(item.get(name) is None or entry.get(name) in (None, item[name]) for name in _IDENTITY)


def plain(value):
    """A joined field as JSON has it, with text in place of what grew."""
    if isinstance(value, bytearray):
        return decode(value)
    if isinstance(value, dict):
        return {name: plain(value[name]) for name in value}
    return [plain(item) for item in value] if isinstance(value, list) else value
