"""The file of what is usual for each sense: memory/senses/baseline.bin, written once a day.

It has a version (1 byte), then for each sense its number (1 byte) and the numbers of its Baseline (4 bytes each), then the
crc32 of all that (4 bytes); all little-endian. Without it everything is learned again.
"""

from array import array
from binascii import crc32
from struct import pack

from engram import diag, files
from engram.compat import const
from engram.errors import StoreError
from engram.senses.events.baseline import SIZE, Baseline

_VERSION = const(1)
_ENTRY = 1 + 4 * SIZE
_MOST = const(16)


def load(path: str) -> dict:
    """The baselines that a file has, by the numbers of their senses; {} if there is none, or it is damaged."""
    try:
        data = files.read(path, 5 + _MOST * _ENTRY)
    except StoreError as error:
        diag.warning("senses", str(error))
        return {}
    if data is None:
        return {}
    end = len(data) - 4
    if end < 1 or (end - 1) % _ENTRY or data[0] != _VERSION or pack("<I", crc32(data[:end])) != data[end:]:
        diag.warning("senses", path + " is damaged: what is usual is learned again")
        return {}
    found = {}
    for at in range(1, end, _ENTRY):
        found[data[at]] = Baseline(array("i", data[at + 1 : at + _ENTRY]))
    return found


def save(path: str, baselines) -> None:
    """Replace the file by (number of a sense, Baseline) pairs; StoreFull or StoreError, the old one then stays."""
    crc = crc32(bytes((_VERSION,)))

    def parts():
        nonlocal crc
        yield bytes((_VERSION,))
        for number, baseline in baselines:
            part = bytes((number,)) + bytes(baseline.numbers)
            crc = crc32(part, crc)
            yield part
        yield pack("<I", crc)

    files.write_parts(path, parts())
