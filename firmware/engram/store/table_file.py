"""A small table of rows in RAM and in a file that each change replaces whole.

    {"next":4}                                            first and last line
    {"id":"w3","kind":"say","what":"water the plants",..}

Lines are those of engram.log_line. A change has happened or not, whenever the power fails; if the
flash refuses it, the rows in RAM stay as they were.
"""

from engram import files, log_line
from engram.errors import ArgumentError, NotFound
from engram.store.log.repair import repair_file

_MOST_READ = const(127)  # rows, whatever a setting says: bounds the heap
_DIGITS = const(9)  # of an id's number
_ROOM = const(20480)  # bytes of a file up to which rows are added: each change writes all of it


def needed(name: str, kind: type) -> tuple:
    return name, kind, True


def optional(name: str, kind: type) -> tuple:
    return name, kind, False


class TableFile:
    """At most `most` rows of a schema in a file; ids are `letter` and a never reused number."""

    def __init__(self, path: str, name: str, letter: str, schema: tuple, most: int, is_valid=None):
        self.rows = []
        """Dicts, oldest first; a change replaces a dict."""
        self.next = 1
        self.damaged = 0
        self._path = path
        self._name = name
        self._letter = letter
        self._schema = schema
        self.most = most
        self._is_valid = is_valid
        self.is_open = False

    def open(self) -> None:
        if self.is_open:
            return
        self.damaged += repair_file(self._path, self._name)
        rows = []
        for line in log_line.whole_lines(self._path):
            fields = log_line.decode(line) if line else {}
            number, following = self._number(fields.get("id")), fields.get("next")
            self.next = max(self.next, number + 1, following if isinstance(following, int) else 0)
            if number and len(rows) < _MOST_READ and self._is_row(fields):
                rows.append(fields)
        self.rows = rows
        self.is_open = True

    def _number(self, ref) -> int:
        digits = ref[1:] if isinstance(ref, str) and ref[:1] == self._letter else ""
        return int(digits) if digits.isdigit() and len(digits) <= _DIGITS else 0

    def _is_row(self, fields: dict) -> bool:
        for name, kind, is_needed in self._schema:
            value = fields.get(name)
            if is_needed if value is None else type(value) is not kind:
                return False
        return self._is_valid is None or self._is_valid(fields)

    def get(self, ref: str):
        for row in self.rows:
            if row["id"] == ref:
                return row
        return None

    def find(self, ref: str) -> dict:
        """Return the row with a given id; NotFound."""
        row = self.get(ref.strip().lower())
        if row is None:
            raise NotFound(self._name, ref[:12], "a list shows those that there are.")
        return row

    def add(self, fields: dict, replaced=()) -> dict:
        """Add a row, replacing those with the ids `replaced`; return it with its id."""
        rows = [row for row in self.rows if row["id"] not in replaced]
        row = _present(fields)
        row["id"] = "%s%d" % (self._letter, self.next)
        size = files.size(self._path) + len(self._line(row))
        if len(rows) >= self.most or size > _ROOM:
            problem = "there are %d already, as many as have room: remove one first."
            raise ArgumentError(self._name + "s", problem % len(rows))
        self._write(rows + [row], self.next + 1)
        return row

    def change(self, changed: dict) -> None:
        """Replace fields of rows by id; None removes a row."""
        rows = []
        for row in self.rows:
            new = changed.get(row["id"], row)
            if new is not None:
                rows.append(row if new is row else _present(new))
        self._write(rows, self.next)

    def _write(self, rows: list, following: int) -> None:
        # Twice: if one is damaged, no number is given again all the same.
        ends = [log_line.encode((("next", following),))]
        files.write_parts(self._path, ends + [self._line(row) for row in rows] + ends)
        self.rows, self.next = rows, following

    def _line(self, row: dict) -> bytes:
        fields = [(name, row.get(name)) for name, _, _ in self._schema]
        return log_line.encode([("id", row["id"])] + fields)


def _present(fields: dict) -> dict:
    return {name: value for name, value in fields.items() if value is not None}
