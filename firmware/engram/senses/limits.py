"""Limits of senses, and current events: readings beyond a limit, or unusual ones.

A row is a limit set in a room, with a `bound` scaled by its sense's decimals; during an event it has `start`
and the first `value`. An unusual event is a row of its own. An event's memory is saved once by its text, and
its report once by its id (`event:l1:START`), despite power cuts.
"""

from engram import diag
from engram.errors import ArgumentError, EngramError, NotFound
from engram.memory import access
from engram.schema_check import check
from engram.senses.values import scale, value_text
from engram.store.table_file import TableFile, needed, optional

MOST = const(48)
"""Maximum rows: limits, and one unusual event per sense."""

_IMPORTANCE = const(0.3)  # others go before it when memory is short
_EVENT = ("start", "value", "told")
_ROW = (
    needed("sense", str), needed("kind", str), needed("minutes", int),
    needed("who", str), needed("room", str), optional("group", bool), optional("workspace", str),
    optional("bound", int), optional("usual", list),
    optional("start", int), optional("value", int), optional("told", bool),
)  # fmt: skip


class Limits:
    """The limits and events of `senses`; push(mid, caller, text) is False if it must be retried."""

    def __init__(self, folder: str, senses, clock, records, push, room: str):
        self._table = TableFile(folder + "/limits.jsonl", "limit", "l", _ROW, MOST, _is_sound)
        self._senses = senses
        self._clock = clock
        self._records = records
        self._push = push
        self._room = room
        self._remembered = set()
        """Events known to be saved as memories since the start."""
        self._table.open()

    def of_sense(self, sense) -> list:
        return [row for row in self._table.rows if row["sense"] == sense.name]

    def of_caller(self, caller) -> list:
        return [row for row in self._table.rows if "bound" in row and access.caller_of(row) == caller]

    def add(self, caller, sense, low=None, high=None, minutes: int = 0) -> dict:
        """Add a limit in the sense's unit, replacing the caller's own on that side."""
        if (low is None) == (high is None):
            raise ArgumentError("low", "or high is needed, one of the two.")
        check("minutes", minutes, "0..1440")
        kind, value = ("below", low) if high is None else ("above", high)
        fields = {"sense": sense.name, "kind": kind, "bound": scale(value, sense.decimals), "minutes": minutes}
        fields.update(access.fields_of(caller))
        own = [row for row in self.of_caller(caller) if (row["sense"], row["kind"]) == (sense.name, kind)]
        for row in own:
            if (row["bound"], row["minutes"]) == (fields["bound"], minutes):
                return row  # code on the board sets its limits at each start
        return self._table.add(fields, [row["id"] for row in own])

    def remove(self, caller, ref: str) -> dict:
        """Remove a limit of the caller; NotFound."""
        for row in self.of_caller(caller):
            if row["id"] == ref:
                self._table.change({ref: None})
                return row
        raise NotFound("limit", str(ref), "a list shows those that you set here.")

    def forget(self, sense) -> None:
        gone = [row["id"] for row in self.of_sense(sense)]
        if gone:
            self._table.change(dict.fromkeys(gone))

    # --- events

    @property
    def lasting(self) -> list:
        return [row for row in self._table.rows if "start" in row]

    def scope_of(self, row: dict) -> str:
        return access.own_scope(access.caller_of(row)) if "bound" in row else self._senses.scope

    def begin(self, row: dict, start: int, value: int) -> None:
        """Begin a limit's event, unless its owner may not see the sense."""
        if access.may_see(access.caller_of(row), self._senses.scope):
            self._change(row, dict(row, start=start, value=value))

    def begin_unusual(self, sense, start: int, value: int, usual: list) -> None:
        fields = {"sense": sense.name, "kind": "unusual", "minutes": 0, "usual": usual}
        fields.update({"start": start, "value": value})
        fields.update(access.fields_of(access.Caller(access.OWNER.principal, self._room, False, "")))
        try:
            self._table.add(fields)
        except EngramError as error:
            diag.warning("senses", "an event of %s is not kept: %s" % (sense.name, error))

    def settle(self) -> None:
        """Save and report new events, retrying after power cuts or an offline chat."""
        for row in self.lasting:
            sense = self._senses.find(row["sense"])
            if sense and not row.get("told"):
                self._remember(row, sense)
                if self._report(row, sense):
                    self._change(row, dict(row, told=True))

    def end(self, row: dict) -> None:
        is_limit = "bound" in row
        self._change(row, {name: row[name] for name in row if name not in _EVENT} if is_limit else None)

    def _change(self, row: dict, changed) -> None:
        try:
            self._table.change({row["id"]: changed})
        except EngramError as error:
            diag.warning("senses", "%s is not on flash: %s" % (row["id"], error))

    def _remember(self, row: dict, sense) -> None:
        mid = _mid(row)
        if mid in self._remembered:
            return
        tags = ["sense", sense.name] if access.tag(sense.name) != "sense" else ["sense"]
        more = {"type": "event", "source": "sense", "scope": self.scope_of(row), "importance": _IMPORTANCE}
        try:
            self._records.store(describe(row, sense, self._clock), tags, **more)
        except (EngramError, MemoryError) as error:
            diag.warning("senses", "%s is not among the memories: %s" % (row["id"], error))
        self._remembered.add(mid)

    def _report(self, row: dict, sense) -> bool:
        caller = access.caller_of(row)
        if not caller.room or not access.may_see(caller, self._senses.scope):
            return True
        try:
            return self._push(_mid(row), caller, describe(row, sense, self._clock))
        except (EngramError, MemoryError) as error:
            diag.warning("senses", "%s was not told: %s" % (row["id"], error))
            return True


def describe(row: dict, sense, clock) -> str:
    value, at = sense.text(row["value"]), clock.minute(row["start"])
    if row["kind"] == "unusual":
        low, high = row["usual"]
        usual = "%s to %s" % (value_text(low, sense.decimals), sense.text(high))
        return "%s was unusual at %s: %s, where %s is usual (%s)" % (sense.name, at, value, usual, row["id"])
    bound = sense.text(row["bound"])
    return "%s was %s %s at %s: %s (%s)" % (sense.name, row["kind"], bound, at, value, row["id"])


def bound_text(row: dict, sense) -> str:
    """Return a limit such as "below 5.0 °C for 10 min"."""
    lasting = " for %d min" % row["minutes"] if row["minutes"] else ""
    return "%s %s%s" % (row["kind"], sense.text(row["bound"]), lasting)


def _mid(row: dict) -> str:
    return "event:%s:%d" % (row["id"], row["start"])


def _is_sound(row: dict) -> bool:
    is_whole = "value" in row if "start" in row else "bound" in row
    return is_whole and ("usual" in row if row["kind"] == "unusual" else row["kind"] in ("below", "above"))
