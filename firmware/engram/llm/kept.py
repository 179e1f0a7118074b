"""Fields of a reply that its adapter does not know, such as signatures and thoughts, to be sent back
within the turn.
"""

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
    """A joiner of one reply's extra fields from streamed pieces."""

    def __init__(self):
        self._left = _KEPT_BYTES

    @property
    def is_whole(self) -> bool:
        """True if all fields were kept."""
        return self._left >= 0

    @property
    def is_empty(self) -> bool:
        return self._left == _KEPT_BYTES

    def add(self, holder: dict, piece: dict, known=()) -> None:
        for name in piece:
            if name not in known and piece[name] is not None:
                holder[name] = self._join(holder.get(name), piece[name], name)

    def fields(self, holder: dict) -> tuple:
        return tuple([(name, plain(holder[name])) for name in holder]) if self._left >= 0 else ()

    def _join(self, old, new, name):
        """Return a field joined with its next piece; text is a bytearray meanwhile."""
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
        count = len(old)  # of earlier pieces: two items of one piece are never one
        for item in new:
            for at in range(count):
                if _goes_on(old[at], item, at == count - 1):
                    old[at] = self._join(old[at], item, "")
                    break
            else:
                old.append(self._join(None, item, ""))


def _goes_on(entry, item, is_last) -> bool:
    """True if an item continues an entry: same index, or the last one without a signature."""
    if not (isinstance(entry, dict) and isinstance(item, dict)):
        return False
    if item.get("index") is None and (not is_last or "signature" in entry):
        return False
    return all(item.get(name) is None or entry.get(name) in (None, item[name]) for name in _IDENTITY)


def plain(value):
    """Return a joined field as JSON values."""
    if isinstance(value, bytearray):
        return decode(value)
    if isinstance(value, dict):
        return {name: plain(value[name]) for name in value}
    return [plain(item) for item in value] if isinstance(value, list) else value
