"""NAME.index: which pieces an index has, in lines as in wire.py; it is replaced in one step and counts only as a whole.

    {"format":1,"epoch","tail":[segment, offset, seq],"next","drop":[numbers of files to remove],
     "pieces":[[number, first seq], ...],"marked":N,"pending":[entry, ...],"crc"}
    {"state":{...},"crc"}
    {"piece","dead":bits of dead rows in base64,"crc"}       for each of the N pieces that have some

`tail` is where the lines begin that are not in a piece; only those are read when the log is opened. `next` is the number of
the next piece. `pending` and `state` belong to the store and to the log's owner.
"""

from binascii import b2a_base64

from engram import files, log, wire
from engram.compat import const

_FORMAT = const(1)
_BUFFER = const(512)
_FIELDS = ("format", "epoch", "tail", "next", "drop", "pieces", "marked", "pending", "state")


def read(path: str):
    """The fields of NAME.index, with the dead rows by piece in "dead"; None without a whole one."""
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
    log.warning("index", path + " is damaged and is made anew")
    return None


def _whole_lines(file):
    for _, line, ended in wire.long_lines(file, bytearray(_BUFFER)):
        if not wire.is_whole(line, ended):
            raise ValueError("a line is damaged")
        yield wire.decode(line)  # pyright: ignore


def lines(epoch: int, tail, number: int, drop, pieces, pending, state):
    """Yield the lines of NAME.index; `number` is that of the next piece."""
    marked = [piece for piece in pieces if any(piece.dead)]
    named = [[piece.number, piece.first] for piece in pieces]
    head = [("format", _FORMAT), ("epoch", epoch), ("tail", tail), ("next", number), ("drop", drop), ("pieces", named)]
    yield wire.encode(head + [("marked", len(marked)), ("pending", pending)])
    yield wire.encode((("state", state or {}),))
    for piece in marked:
        yield wire.encode((("piece", piece.number), ("dead", b2a_base64(piece.dead).decode().strip())))
