"""NAME.index: which tables an index has, in lines as in log_line.py; it is replaced in one step and counts only as a whole.

    {"format":2,"epoch","tail":[segment, offset, seq],"next","tidy","drop":[numbers of files to remove],
     "pieces":[[number, first seq], ...],"marked":N,"pending":[entry, ...],"crc"}
    {"state":{...},"crc"}
    {"piece","dead":bits of dead rows in base64,"crc"}       for each of the N tables that have some

`tail` is where the lines begin that are not in a table; only those are read when the log is opened. `next` is the number of
the next table; those with dead rows and a number below `tidy` still have lines that have left the log. `pending` and `state`
belong to the store and to the log's owner.
"""

from binascii import b2a_base64

from engram import diag, log_line
from engram.compat import const
from engram.errors import StoreError

_FORMAT = const(2)  # also counts what the tables have: 1 is of other stems and lengths of rows
_BUFFER = const(512)
_FIELDS = const("format epoch tail next tidy drop pieces marked pending state")


def read(path: str):
    """The fields of the manifest, with the dead rows by table in "dead"; None without a whole one."""
    written = log_line.whole_lines(path, bytearray(_BUFFER))
    try:
        # A damaged line is decoded, too, as one that is none.
        found = (log_line.decode(line or b"") for line in written)
        saved = next(found, None)
        if saved is None:
            return None
        saved.update(next(found, {}))
        saved["dead"] = {line["piece"]: line["dead"] for line in found}
        is_known = all(name in saved for name in _FIELDS.split()) and saved["format"] == _FORMAT
        if is_known and len(saved["dead"]) == saved["marked"]:
            return saved
    except (OSError, ValueError, KeyError, StoreError):
        written.close()
    diag.warning("index", path + " is damaged and is rebuilt")
    return None


def lines(index, tail, drop, pending, state):
    """Yield the lines of the manifest of an Index."""
    marked = [table for table in index.tables if any(table.dead)]
    named = [[table.number, table.first] for table in index.tables]
    head = [("format", _FORMAT), ("epoch", index.epoch), ("tail", tail), ("next", index.next_number)]
    head += [("tidy", index.tidy_below), ("drop", drop), ("pieces", named)]
    yield log_line.encode(head + [("marked", len(marked)), ("pending", pending)])
    yield log_line.encode((("state", state or {}),))
    for table in marked:
        yield log_line.encode((("piece", table.number), ("dead", b2a_base64(table.dead).decode().strip())))
