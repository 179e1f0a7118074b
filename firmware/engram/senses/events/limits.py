"""Limits of senses: those that people set, in memory/senses/limits.jsonl, and those of config.json.

    {"format":1,"next":4}                                                      first and last line
    {"id":"l3","sense":2,"low":50,"minutes":0,"who":"owner","room":"console"}

Lines are those of engram.log_line; the file is small and is replaced whole. `low` and `high` are as readings are kept, scaled
by the decimals of the sense.
"""

from engram import files, log_line
from engram.compat import const
from engram.errors import ArgumentError, NotFound
from engram.memory import access, ids
from engram.senses.values import scale
from engram.store.log.repair import repair_file

MOST = const(32)
_FORMAT = const(1)
_BUFFER = const(512)
_MOST_MINUTES = const(1440)
_FIELDS = ("id", "sense", "low", "high", "minutes", "who", "room", "group", "workspace")


class Limits:
    """The limits of a board's senses; `declared` has, by name, what config.json says of a sense, checked."""

    def __init__(self, path: str, senses, declared=None):
        self._path = path
        self._senses = senses
        self._declared = declared or {}
        self._next = 1
        self._set = []

    def load(self) -> None:
        """Read those that people set; damage is taken out of the file first."""
        repair_file(self._path, "senses")
        for line in log_line.whole_lines(self._path, bytearray(_BUFFER)):
            fields = log_line.decode(line) if line else {}
            self._next = max(self._next, fields.get("next", 0), _number(fields) + 1)
            if _number(fields) and len(self._set) < MOST:
                self._set.append(fields)

    def of_sense(self, sense) -> list:
        """The fields of all limits of a sense; those of config.json have the id ""."""
        found = [fields for fields in self._set if fields["sense"] == sense.number]
        for name, value in self._declared.get(sense.config_name, {}).get("limits", {}).items():
            found.append({"id": "", "sense": sense.number, name: scale(value, sense.decimals)})
        return found

    def of_caller(self, caller) -> list:
        """The fields of those that a caller set in their room, oldest first."""
        return [fields for fields in self._set if caller_of(fields) == caller]

    def add(self, caller, sense, low=None, high=None, minutes: int = 0) -> dict:
        """Keep a limit, as numbers of the sense's unit; its fields. It takes the place of the caller's own on that side."""
        if (low is None) == (high is None):
            raise ArgumentError("low", "or high is needed, one of the two.")
        if isinstance(minutes, bool) or not isinstance(minutes, int) or not 0 <= minutes <= _MOST_MINUTES:
            raise ArgumentError("minutes", "must be a whole number from 0 to %d." % _MOST_MINUTES)
        side = "high" if low is None else "low"
        value = scale(high if low is None else low, sense.decimals)
        fields = {"id": "l%d" % self._next, "sense": sense.number, side: value, "minutes": minutes}
        fields.update({"who": caller.principal, "room": caller.room})
        fields.update({"group": True if caller.group else None, "workspace": caller.workspace or None})
        for other in self.of_caller(caller):
            if all(other.get(name) == fields.get(name) for name in ("sense", "low", "high", "minutes")):
                return other  # code on the board sets its limits at each start
        kept = [
            other
            for other in self._set
            if not (other["sense"] == sense.number and side in other and caller_of(other) == caller)
        ]
        if len(kept) >= MOST:
            raise ArgumentError("limits", "there are %d already, the most there may be: remove one first." % len(kept))
        self._save(kept + [fields], self._next + 1)
        return fields

    def remove(self, caller, ref: str) -> dict:
        """Remove a limit that a caller set; its fields. NotFound if they have none of that id."""
        for fields in self.of_caller(caller):
            if fields["id"] == ref:
                self._save([other for other in self._set if other is not fields], self._next)
                return fields
        raise NotFound("limit", str(ref), "a list shows those that you set here.")

    def forget(self, number: int) -> None:
        """Remove the limits of a sense that is forgotten."""
        kept = [fields for fields in self._set if fields["sense"] != number]
        if len(kept) < len(self._set):
            self._save(kept, self._next)

    def _save(self, limits: list, following: int) -> None:
        ends = log_line.encode((("format", _FORMAT), ("next", following)))
        parts = [ends]
        for fields in limits:
            parts.append(log_line.encode([(name, fields.get(name)) for name in _FIELDS]))
        # Twice: if one is damaged no number is used again all the same.
        parts.append(ends)
        files.write_parts(self._path, parts)
        self._set, self._next = limits, following


def caller_of(fields: dict):
    """Who set a limit, as a Caller in their room."""
    return access.Caller(fields["who"], fields["room"], bool(fields.get("group")), fields.get("workspace") or "")


def _number(fields: dict) -> int:
    """The number in a limit's id, 0 if the line is no limit of a known form."""
    number, sides = ids.number_of(fields, "l"), [fields[side] for side in ("low", "high") if side in fields]
    is_limit = len(sides) == 1 and isinstance(sides[0], int)
    has_texts = isinstance(fields.get("who"), str) and isinstance(fields.get("room"), str)
    return number if is_limit and has_texts and isinstance(fields.get("sense"), int) else 0
