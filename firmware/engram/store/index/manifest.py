"""NAME.index: which tables an index has, in lines as in log_line.py; it is replaced in one step and counts only as a whole.

    {"format":1,"epoch","tail":[segment, offset, seq],"next","tidy","drop":[numbers of files to remove],
     "pieces":[[number, first seq], ...],"marked":N,"pending":[entry, ...],"crc"}
    {"state":{...},"crc"}
    {"piece","dead":bits of dead rows in base64,"crc"}       for each of the N tables that have some

`tail` is where the lines begin that are not in a table; only those are read when the log is opened. `next` is the number of
the next table; those with dead rows and a number below `tidy` still have lines that have left the log. `pending` and `state`
belong to the store and to the log's owner.
"""

from binascii import b2a_base64

from engram import diag, files, log_line
from engram.compat import const

_FORMAT = const(1)
_BUFFER = const(512)
_FIELDS = ("format", "epoch", "tail", "next", "tidy", "drop", "pieces", "marked", "pending", "state")


def read(path: str):
    """The fields of the manifest, with the dead rows by table in "dead"; None without a whole one."""
    try:
        with open(path, "rb") as file:
            found = _whole_lines(file)
            saved = next(found, {})
            saved.update(next(found, {}))
            saved["dead"] = {line["piece"]: line["dead"] for line in found}
            is_known = all(name in saved for name in _FIELDS) and saved["format"] == _FORMAT
            if is_known and len(saved["dead"]) == saved["marked"]:
                return saved
    except OSError as error:
        if error.errno == files.ENOENT:
            return None
    except (ValueError, KeyError):
        pass
    diag.warning("index", path + " is damaged and is rebuilt")
    return None


def _whole_lines(file):
    for _, line, ended in log_line.long_lines(file, bytearray(_BUFFER)):
        if not log_line.is_whole(line, ended):
            raise ValueError("a line is damaged")
        yield log_line.decode(line)  # pyright: ignore


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
