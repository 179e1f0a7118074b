"""Limits of senses: those that people set, on flash, and those of config.json.

A limit is a row with `low` or `high`, scaled by the decimals of its sense, `minutes` for which
readings have to be beyond it, and who set it where. Those of config.json have the id "".
"""

from engram.compat import const
from engram.errors import ArgumentError, NotFound
from engram.memory import access
from engram.schema_check import check
from engram.senses.values import scale
from engram.store.table_file import TableFile, needed, optional

MOST = const(32)
_ROW = (
    needed("sense", int), optional("low", int), optional("high", int), needed("minutes", int),
    needed("who", str), needed("room", str), optional("group", bool), optional("workspace", str),
)  # fmt: skip


class Limits:
    """The limits of a board's senses, in a folder."""

    def __init__(self, folder: str):
        self._table = TableFile(folder + "/limits.jsonl", "limit", "l", _ROW, MOST, _has_one_side)

    def open(self) -> None:
        """Read those that people set."""
        self._table.open()

    def of_sense(self, sense) -> list:
        """Return all limits of a sense."""
        found = [row for row in self._table.rows if row["sense"] == sense.number]
        for side, value in sense.config.limits.items() if sense.config else ():
            found.append({"id": "", "sense": sense.number, side: scale(value, sense.decimals), "minutes": 0})
        return found

    def of_caller(self, caller) -> list:
        """Return those that a caller set in their room, oldest first."""
        return [row for row in self._table.rows if caller_of(row) == caller]

    def add(self, caller, sense, low=None, high=None, minutes: int = 0) -> dict:
        """Keep a limit in the unit of its sense, in place of the caller's own on that side."""
        if (low is None) == (high is None):
            raise ArgumentError("low", "or high is needed, one of the two.")
        check("minutes", minutes, "0..1440")
        side = "high" if low is None else "low"
        value = scale(high if low is None else low, sense.decimals)
        fields = {"sense": sense.number, side: value, "minutes": minutes}
        fields.update({"who": caller.principal, "room": caller.room})
        fields.update({"group": caller.group or None, "workspace": caller.workspace or None})
        own = [row for row in self.of_caller(caller) if row["sense"] == sense.number and side in row]
        for row in own:
            if (row[side], row["minutes"]) == (value, minutes):
                return row  # code on the board sets its limits at each start
        return self._table.add(fields, [row["id"] for row in own])

    def remove(self, caller, ref: str) -> dict:
        """Remove a limit that a caller set. NotFound if they have none of that id."""
        for row in self.of_caller(caller):
            if row["id"] == ref:
                self._table.change({ref: None})
                return row
        raise NotFound("limit", str(ref), "a list shows those that you set here.")

    def forget(self, sense) -> None:
        """Remove the limits of a sense that is forgotten."""
        gone = [row["id"] for row in self._table.rows if row["sense"] == sense.number]
        if gone:
            self._table.change(dict.fromkeys(gone))


def side_of(limit: dict) -> str:
    """Return "low" or "high"."""
    return "low" if "low" in limit else "high"


def caller_of(limit: dict):
    """Return who set a limit, as a Caller in their room."""
    return access.Caller(limit["who"], limit["room"], bool(limit.get("group")), limit.get("workspace") or "")


def _has_one_side(row: dict) -> bool:
    return ("low" in row) != ("high" in row)
