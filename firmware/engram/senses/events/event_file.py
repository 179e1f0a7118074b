"""The file of events: memory/senses/events.jsonl.

    {"id":"e5","sense":2,"name":"cellar","kind":"low","start":1790000000,"value":46,"limit":50,...}

Lines are those of engram.log_line. An event has a line when it begins and one, with all fields, when it ends: the last one
counts. A full file is replaced by the newest events, so its size is bounded.
"""

from engram import files, log_line
from engram.compat import const, first_of
from engram.memory import ids
from engram.store.log.repair import repair_file

_BUFFER = const(512)
_MOST_BYTES = const(24576)
_KEPT_BYTES = const(12288)  # of the newest events when it is full
FIELDS = (
    "id", "sense", "name", "kind", "start", "end", "value", "usual", "limit", "by", "evidence", "scope", "turn",
    "record", "told",
)  # fmt: skip
"""Of an event's line, in their order."""


class EventFile:
    """The events of a board's senses, newest last."""

    def __init__(self, path: str):
        self._path = path
        self.next = 1
        self.open = {}
        """The fields of the events that have not ended, by id."""
        self.ended = {}
        """When an event was over, by its key_of()."""
        self.last = None
        """The fields of the last line, None if there is none."""
        self.version = 0
        """Another number when something else is in the file."""
        self.damaged = 0

    def load(self) -> None:
        """Read which events are open; damage is taken out of the file first."""
        self.damaged = repair_file(self._path, "senses")
        for _, _, fields in self._lines():
            self._note(fields)

    def _note(self, fields: dict) -> None:
        self.version += 1
        self.next = max(self.next, number_of(fields) + 1)
        if "end" in fields:
            self.open.pop(fields["id"], None)
            self.ended[key_of(fields)] = fields["end"]
        else:
            self.open[fields["id"]] = fields
        self.last = fields

    def add(self, fields: dict) -> None:
        """Append an event, or what it is now; StoreFull or StoreError, nothing has changed then."""
        line = log_line.encode([(name, fields.get(name)) for name in FIELDS])
        if max(0, files.size(self._path)) + len(line) > _MOST_BYTES:
            self._shorten()
        try:
            with open(self._path, "ab") as file:
                file.write(line)
        except OSError as error:
            raise files.failure(error, self._path) from None
        self._note(fields)

    def _shorten(self) -> None:
        """Replace the file by the newest events, each with one line."""
        newest, room = {}, _KEPT_BYTES
        for at, line, fields in self._lines():
            newest[number_of(fields)] = at, len(line)  # pyright: ignore
        kept = set()
        for number in sorted(newest, reverse=True):
            at, size = newest[number]
            room -= size
            if room > 0 or "e%d" % number in self.open:
                kept.add(at)
        files.write_parts(self._path, (bytes(line) for at, line, _ in self._lines() if at in kept))

    def newest_first(self, since: int = 0):
        """Yield the fields of events that were not over before a moment, newest first."""
        places = {}
        for at, _, fields in self._lines():
            places[number_of(fields)] = at if fields.get("end", since) >= since else -1
        for number in sorted(places, reverse=True):
            if places[number] >= 0:
                yield self._at(places[number])

    def after(self, number: int, most: int):
        """Yield the fields of the first `most` events after a number, oldest first."""
        places = {}
        for at, _, fields in self._lines():
            if number_of(fields) > number:
                places[number_of(fields)] = at
        for each in sorted(places)[:most]:
            yield self._at(places[each])

    def _at(self, offset: int) -> dict:
        return first_of(self._lines(offset))[2]

    def _lines(self, offset: int = 0):
        """Yield (offset, line, fields) of each line that is whole and an event's."""
        if files.size(self._path) < 0:
            return
        try:
            with open(self._path, "rb") as file:
                for at, line, ended in log_line.long_lines(file, bytearray(_BUFFER), offset):
                    if log_line.is_whole(line, ended):
                        fields = log_line.decode(line)  # pyright: ignore
                        if _is_event(fields):
                            yield at, line, fields
        except OSError as error:
            raise files.failure(error, self._path) from None


def _is_event(fields: dict) -> bool:
    has_numbers = all(isinstance(fields.get(name), int) for name in ("sense", "start", "value"))
    return has_numbers and number_of(fields) > 0 and isinstance(fields.get("kind"), str)


def number_of(fields: dict) -> int:
    """The number in an event's id, 0 if there is none."""
    return ids.number_of(fields, "e")


def key_of(fields: dict) -> tuple:
    """What an event is about: its sense, its kind and its limit. There is one at a time."""
    by = fields.get("by")
    return fields["sense"], fields["kind"] + (by[0] if by else "")
