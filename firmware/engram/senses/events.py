"""Events of senses that last: beyond a limit, or unusual.

Each is a row of a table from its beginning to its end, so that it goes on after a restart; a
memory, whose text is another one when it is over; and a message to whom it concerns, which has an
id (`event:e5`) and so arrives once, whenever the power fails.
"""

from engram import diag
from engram.compat import const
from engram.errors import EngramError
from engram.memory import access
from engram.memory.records import fields as record_fields
from engram.senses.limits import caller_of
from engram.senses.values import value_text
from engram.store.table_file import TableFile, needed, optional

_MOST = const(48)
_IMPORTANCE = const(0.3)  # others go before it when memory is short
_ROW = (
    needed("sense", int), needed("kind", str), needed("start", int), needed("value", int),
    optional("limit", str), optional("bound", int), optional("usual", list), optional("scope", str),
    optional("record", str), optional("told", bool),
)  # fmt: skip


class Events:
    """The events of a board's `senses`, in a folder.

    push(mid, caller, text) says something in a chat, once for each id; False if it cannot now.
    `tell` is the owner's room for events that no person's limit asks for, "" if there is none.
    """

    def __init__(self, folder: str, senses, limits, clock, records, push, tell: str):
        self._table = TableFile(folder + "/events.jsonl", "event", "e", _ROW, _MOST)
        self._senses = senses
        self._limits = limits
        self._clock = clock
        self._records = records
        self._push = push
        self._tell = tell

    def open(self) -> None:
        """Read which events last."""
        self._table.open()

    @property
    def lasting(self) -> list:
        """The rows of the events that last, oldest first."""
        return self._table.rows

    def find(self, sense, kind: str, limit: str = ""):
        """Return the event of a kind that lasts, of the limit with an id; None if there is none."""
        for row in self._table.rows:
            if (row["sense"], row["kind"], row.get("limit", "")) == (sense.number, kind, limit):
                return row
        return None

    def begin(self, sense, kind: str, start: int, value: int, limit=None, usual=None) -> None:
        """Keep, remember and report an event, unless who set the limit may not see the sense."""
        fields = {"sense": sense.number, "kind": kind, "start": start, "value": value, "usual": usual}
        fields["scope"] = self._senses.scope_of(sense)
        if limit:
            fields.update({"limit": limit["id"] or None, "bound": limit[kind]})
        if limit and limit["id"]:
            fields["scope"] = access.own_scope(caller_of(limit))
            if not access.may_see(caller_of(limit), self._senses.scope_of(sense)):
                return
        try:
            self._table.add(fields)
        except EngramError as error:
            diag.warning("senses", "an event of %s is not kept: %s" % (sense.name, error))
        self.settle()

    def settle(self) -> None:
        """Remember and report what has begun, as far as the power failed before, or its chat was away."""
        for row in list(self._table.rows):
            sense = self._senses.get(row["sense"])
            if sense is None:
                self._change(row, None)
            elif not row.get("told"):
                changed = dict(row)
                if "record" not in row:
                    changed["record"] = self._remember(row, sense)
                changed["told"] = self._report(row, sense) or None
                if changed["told"] or changed["record"] != row.get("record"):
                    self._change(row, changed)

    def end(self, row: dict, at: int) -> None:
        """Let an event be over at a moment: its memory says so."""
        sense = self._senses.get(row["sense"])
        if sense is not None and row.get("record"):
            try:
                self._records.update(row["record"], {"content": summary(row, sense, self._clock, at)})
            except (EngramError, MemoryError) as error:
                diag.warning("senses", "the end of %s is not remembered: %s" % (row["id"], error))
        self._change(row, None)

    def _change(self, row: dict, changed) -> None:
        try:
            self._table.change({row["id"]: changed})
        except EngramError as error:
            diag.warning("senses", "%s is not on flash: %s" % (row["id"], error))

    def _remember(self, row: dict, sense):
        """Keep the memory of an event; its id, "" if there is no room. The same text is kept once."""
        tags = ["sense", sense.name] if record_fields.tag(sense.name) != "sense" else ["sense"]
        said = "%s, since %s (%s)" % (describe(row, sense), self._clock.minute(row["start"]), row["id"])
        more = {"type": "event", "source": "sense", "scope": row["scope"], "importance": _IMPORTANCE}
        try:
            return self._records.store(said, tags, **more).id
        except (EngramError, MemoryError) as error:
            diag.warning("senses", "%s is not among the memories: %s" % (row["id"], error))
            return ""

    def _report(self, row: dict, sense) -> bool:
        """Tell whom an event concerns; False if that is to be tried again."""
        caller = self._concerned(row, sense)
        if caller is None:
            return True
        try:
            return self._push("event:" + row["id"], caller, "%s (%s)" % (describe(row, sense), row["id"]))
        except (EngramError, MemoryError) as error:
            diag.warning("senses", "%s was not told: %s" % (row["id"], error))
            return True

    def _concerned(self, row: dict, sense):
        """Return who gets the report of an event, None if nobody does."""
        if not row.get("limit"):
            return access.Caller(access.OWNER.principal, self._tell, False, "") if self._tell else None
        for limit in self._limits.of_sense(sense):
            if limit["id"] == row["limit"] and access.may_see(caller_of(limit), self._senses.scope_of(sense)):
                return caller_of(limit)
        return None


def describe(row: dict, sense) -> str:
    """Return what an event is, in one sentence."""
    said = "%s: %s, " % (sense.name, sense.text(row["value"]))
    if row["kind"] == "unusual":
        return said + "where %s would be usual at this hour" % _usual(row, sense)
    return said + "%s the limit of %s" % (_side(row), sense.text(row["bound"]))


def summary(row: dict, sense, clock, end: int) -> str:
    """Return an event that is over, as a memory of it."""
    span = "from %s to %s" % (clock.minute(row["start"]), clock.minute(end))
    value = sense.text(row["value"])
    if row["kind"] == "unusual":
        said = "%s was unusual %s: %s, where %s was usual" % (sense.name, span, value, _usual(row, sense))
    else:
        bound = sense.text(row["bound"])
        said = "%s was %s %s %s, %s at the %sest" % (sense.name, _side(row), bound, span, value, row["kind"])
    return "%s (%s)" % (said, row["id"])


def _side(row: dict) -> str:
    return "below" if row["kind"] == "low" else "above"


def _usual(row: dict, sense) -> str:
    low, high = row["usual"]
    return "%s to %s" % (value_text(low, sense.decimals), sense.text(high))
