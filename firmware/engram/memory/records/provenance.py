"""The origin of a record: it tells on every board that two lines are the same record.

An origin is the records' epoch of the board on which it was first stored, as eight hexadecimal digits, and its id there:
"1a2b3c4d:m12". What came from another program has that one's name and id: "esp-claw:mem-17". A record keeps its origin
for good, and one that has none is this board's own.
"""

from engram.errors import ArgumentError
from engram.memory import ids

_LONGEST = const(96)  # characters: the name of a program and its id


def epoch_text(epoch: int) -> str:
    """Return the prefix of the origins of a store's own records."""
    return "%08x" % epoch


def origin_of(record: dict, epoch: int) -> str:
    return record.get("origin") or epoch_text(epoch) + ":" + record["id"]


def check(name: str, value) -> str:
    """Return a stored origin; ArgumentError."""
    if not isinstance(value, str) or len(value) > _LONGEST or not 0 < value.find(":") < len(value) - 1:
        raise ArgumentError(name, "must be a text such as 1a2b3c4d:m12.")
    for letter in value:
        if not "!" <= letter <= "~":
            raise ArgumentError(name, "must have printable ASCII characters only, and no space.")
    return value


def find_by_origin(entries, origin: str, accepts) -> tuple:
    """Return (state, latest line) of an accepted record with an origin, live first; or (None, None)."""
    found = None, None
    for number in numbers_of(entries, origin):
        state, line = entries.state_and_latest(number)
        if line is not None and accepts(line) and (found[0] is None or state < found[0]):
            found = state, line
    return found


def numbers_of(entries, origin: str):
    """Yield the numbers of the records with an origin, in any state."""
    source, _, ref = origin.partition(":")
    if source == epoch_text(entries.epoch):
        number = ids.number_of({"id": ref}, "m")
        # A line that was imported has another origin, whatever its id is here.
        if number and "origin" not in (entries.line(number) or {}):
            yield number
    seen = set()
    for seq in entries.seqs_with_label("^" + origin):
        line = entries.line(seq) or {}
        # The index knows labels by a part of a crc only.
        if line.get("origin") == origin:
            number = int(line["id"][1:])
            if number not in seen:
                seen.add(number)
                yield number
