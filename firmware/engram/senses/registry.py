"""The senses of a board: their names, units and numbers, in senses.jsonl.

    {"format":1,"next":3}                                                            first and last line
    {"number":2,"name":"bedroom temperature","unit":"°C","decimals":1,"made":1790000000}

Lines are those of engram.log_line; the file is small and is replaced whole. A number is given once: the readings on flash have
it in place of the name, so that of a sense that was removed is not given again. A sense of config.json that has never been read
has `"unread":true`.
"""

from engram import files, log_line, text
from engram.compat import const
from engram.errors import ArgumentError
from engram.senses.sense import Sense
from engram.store.log.repair import repair_file
from engram.text.unicode_fold import fold

NAME_CHARS = const(32)
UNIT_CHARS = const(8)
MOST_DECIMALS = const(3)

_FORMAT = const(1)
_BUFFER = const(512)
_MOST_NUMBERS = const(127)  # in a board's life: the records in RAM have 7 bits for one
_SEPARATOR = const(0x80)  # the first byte that is not ASCII


def key_of(name: str) -> str:
    """The form in which names are compared: without case, accents and points."""
    data = text.encode(name).lower()
    if any(byte >= _SEPARATOR for byte in data):
        data = fold(data)
    return "/".join([str(word, "utf-8") if word[0] < _SEPARATOR else repr(word) for word in data.split()])


def check_name(name) -> str:
    """A sense's name without needless spaces; ArgumentError if it cannot be one."""
    plain = " ".join(text.printable(name).split()) if isinstance(name, str) else ""
    if not plain or plain != " ".join(name.split()):
        raise ArgumentError("name", "must be a text without control characters, such as bedroom temperature.")
    if len(plain) > NAME_CHARS:
        raise ArgumentError("name", "has %d characters, at most %d fit: make it shorter." % (len(plain), NAME_CHARS))
    if not key_of(plain):
        raise ArgumentError("name", "has no letter or digit.")
    return plain


def check_unit(unit) -> str:
    """A unit; ArgumentError if it cannot be one."""
    if not isinstance(unit, str) or len(unit) > UNIT_CHARS or text.printable(unit) != unit:
        raise ArgumentError("unit", "must be a text of at most %d characters, such as °C." % UNIT_CHARS)
    return unit


def load(path: str) -> tuple:
    """(senses by number, the next number, damaged lines) of the file; what is damaged is set aside first."""
    damaged = repair_file(path, "senses")
    senses, following = {}, 0
    for line in log_line.whole_lines(path, bytearray(_BUFFER)):
        fields = log_line.decode(line) if line else {}
        number, upto = fields.get("number"), fields.get("next", 0)
        if isinstance(upto, int):
            following = max(following, upto)
        if isinstance(number, int) and 0 <= number <= _MOST_NUMBERS and isinstance(fields.get("name"), str):
            unit, decimals = fields.get("unit", ""), fields.get("decimals", 1)
            made, is_unread = fields.get("made", 0), fields.get("unread") is True
            senses[number] = Sense(number, fields["name"], unit, decimals, made, is_unread)
            following = max(following, number + 1)
    return senses, following, damaged


def save(path: str, senses: dict, following: int) -> None:
    """Replace the file; StoreFull or StoreError, the old one then stays."""
    if following > _MOST_NUMBERS + 1:
        raise ArgumentError("name", "is new, and all %d numbers of senses are used up." % (_MOST_NUMBERS + 1))
    ends = log_line.encode((("format", _FORMAT), ("next", following)))
    parts = [ends]
    for number in sorted(senses):
        sense = senses[number]
        fields = (("number", number), ("name", sense.name), ("unit", sense.unit), ("decimals", sense.decimals))
        parts.append(log_line.encode(fields + (("made", sense.made), ("unread", sense.is_unread or None))))
    # Twice: if one is damaged no number is given again all the same.
    parts.append(ends)
    files.write_parts(path, parts)
