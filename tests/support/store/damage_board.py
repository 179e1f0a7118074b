"""Runs on the board: damages a store's files in random ways, and sees what is left of it.

    damage_board.py FOLDER KIND FIRST LAST [FLASH]      KIND is turns or records, FIRST and LAST number mutations

Prints what it does before each mutation, so that the last line names the one that brought it down, and at the end how
many entries were checked and how many lines were lost.
"""

import gc
import os
import random
import sys

from engram import diag
from engram.compat import finish
from engram.store.index import memtable
from engram.store.log.reserve import Reserve
from engram.store.log.segments import Log
from engram.store.store import Store
from engram.store.types import Query
from plain_owner import Owner

LINES = 150
SEGMENT = 4096
CHUNK = 1500
MUTATIONS = 50  # of the same store
WORDS = ("bako", "dufi", "lomu", "koba", "fidu", "mulo")
TAGS = ("home", "work", "trip")
START = 1790000040


def _open(folder):
    store = Store(Log(folder, "log", segment_bytes=SEGMENT), Owner(), Reserve(folder + "/reserve.bin", 2048))
    store.open()
    return store


def _names(folder, below=""):
    """The names of all files in a folder and those below."""
    for name in os.listdir(folder + below):
        path = below + "/" + name
        if os.stat(folder + path)[0] & 0x4000:
            yield from _names(folder, path)
        else:
            yield path[1:]


def _clear(folder):
    for name in list(_names(folder)):
        os.remove(folder + "/" + name)


def _read(path):
    with open(path, "rb") as file:
        return file.read()


def _write(path, data):
    with open(path, "wb") as file:
        file.write(data)


class Made:
    """A store's files as they were written, and what each line says."""

    def __init__(self, folder, is_turns, chance):
        self.is_turns = is_turns
        self.lines = {}  # seq: (key, value) pairs
        _clear(folder)
        store = _open(folder)
        for number in range(1, LINES + 1):
            self.lines[number] = fields = dict(self._fields(number, chance))
            assert store.append(list(fields.items())) == number
            if chance.randrange(60) == 0:
                while store.tick():
                    pass
        Reserve(folder + "/reserve.bin", 2048).keep()
        _write(folder + "/log.bad", b"set aside before\n")
        store.close()
        self.files = {name: _read(folder + "/" + name) for name in _names(folder)}
        self.places = self._places()

    def _fields(self, number, chance):
        kind = chance.randrange(10)
        if number > 10 and kind == 0:
            yield "forget", chance.randrange(1, number)
            return
        words = [WORDS[chance.randrange(len(WORDS))] for _ in range(chance.randrange(1, 12))]
        yield "text", " ".join(words) + " own%d" % number
        yield "at", START + 60 * number
        if self.is_turns:
            yield "session", chance.randrange(1, 6)
            return
        yield "tags", [TAGS[chance.randrange(3)]]
        entries = [seq for seq, fields in self.lines.items() if "text" in fields and "of" not in fields]
        if number > 10 and kind == 1:
            yield "of", entries[chance.randrange(len(entries))]
        elif number > 10 and kind == 2:
            yield "supersedes", entries[chance.randrange(len(entries))]

    def _places(self):
        """{seq: (file, first byte, byte after the last)} of all lines."""
        found = {}
        for name, data in self.files.items():
            if not name.endswith(".jsonl"):
                continue
            start = 0
            while start < len(data):
                end = data.find(b"\n", start) + 1
                if data[start : start + 7] == b'{"seq":':
                    seq = int(data[start + 7 : data.find(b",", start)])
                    assert seq not in found
                    found[seq] = (name, start, end)
                start = end
        assert len(found) == LINES
        return found

    def restore(self, folder):
        """Write the files as they were."""
        _clear(folder)
        for name, data in self.files.items():
            _write(folder + "/" + name, data)

    def lost(self, touched):
        """The seqs of the lines of which a byte was touched: [(file, first byte, byte after the last), ...]."""
        return {
            seq
            for seq, (name, start, end) in self.places.items()
            if any(name == other and start < last and first < end for other, first, last in touched)
        }

    def sure(self, lost):
        """{number: what should be found under it, None for nothing} of the entries of which no line was touched."""
        found = {}
        unsure = set()
        for seq in sorted(self.lines):
            fields = self.lines[seq]
            hidden = fields.get("forget", fields.get("supersedes"))
            number = fields.get("of", seq)
            if seq in lost:
                unsure.update((number, hidden))
            if hidden in found:
                found[hidden] = None
            if "text" in fields:
                found[number] = fields["text"]
        return {number: text for number, text in found.items() if number not in unsure}


ALL = 1 << 30
"""Where a damage ends that goes to a file's end."""


def _mutate(folder, made, chance):
    """Damage a file; (what was done, the bytes of the original that were touched: as for Made.lost)."""
    names = sorted(made.files)
    name = names[chance.randrange(len(names))]
    path = folder + "/" + name
    if name not in list(_names(folder)) or _read(path) != made.files[name]:
        return "nothing", []
    kinds: list = [_delete, _empty, _replace, _cut, _swap, _swap, _fill, _flip, _flip]
    if name.endswith(".jsonl"):
        kinds.append(_double)
    kind = kinds[chance.randrange(len(kinds))]
    told, touched = (kind if made.files[name] else _empty)(path, bytearray(made.files[name]), made, chance)
    return name + " " + told, [(name, first, last) for first, last in touched]


def _delete(path, data, made, chance):
    os.remove(path)
    return "deleted", [(0, ALL)]


def _empty(path, data, made, chance):
    _write(path, b"")
    return "emptied", [(0, ALL)]


def _replace(path, data, made, chance):
    names = sorted(made.files)
    other = names[chance.randrange(len(names))]
    if path.endswith("/" + other):
        _write(path, bytes(chance.getrandbits(8) for _ in range(500)))
        return "has noise in it", [(0, ALL)]
    _write(path, made.files[other])
    return "has what was in " + other, [(0, ALL)]


def _cut(path, data, made, chance):
    at = chance.randrange(len(data))
    _write(path, data[:at])
    return "cut at %d" % at, [(at, ALL)]


def _double(path, data, made, chance):
    start = data.find(b"\n", chance.randrange(len(data))) + 1
    end = data.find(b"\n", start) + 1
    times = chance.randrange(1, 4)
    _write(path, data[:end] + bytes(data[start:end]) * times + data[end:])
    return "has the line at %d %d times more" % (start, times), []


def _swap(path, data, made, chance):
    block = (512, 4096)[chance.randrange(2)] if len(data) >= 8192 else 512
    if len(data) < 2 * block:
        return _flip(path, data, made, chance)
    places = [chance.randrange(len(data) // block) * block for _ in range(2)]
    first, second = min(places), max(places)
    kept = data[first : first + block]
    data[first : first + block] = data[second : second + block]
    data[second : second + block] = kept
    _write(path, data)
    # What stands between two swapped blocks may go with them: the lines of a segment have to count up.
    return "with %d bytes swapped at %d and %d" % (block, first, second), [(first, second + block)]


def _fill(path, data, made, chance):
    at, byte = chance.randrange(len(data)), (0, 0xFF)[chance.randrange(2)]
    end = min(len(data), at + (8, 512)[chance.randrange(2)])
    data[at:end] = bytes([byte]) * (end - at)
    _write(path, data)
    return "filled with %d from %d to %d" % (byte, at, end), [(at, end)]


def _flip(path, data, made, chance):
    places = [chance.randrange(len(data)) for _ in range((1, 1, 8)[chance.randrange(3)])]
    for at in places:
        data[at] ^= 1 << chance.randrange(8)
    _write(path, data)
    return "with bits flipped at %s" % places, [(at, at + 1) for at in places]


def _query(words):
    return Query(words, (), (), 0, 0, "", None, True)


def _use(store, is_turns, chance):
    """Call all that reads, as it comes; nothing may be raised."""
    list(store.search(_query(list(WORDS[:3])), 10))
    list(store.search(Query([WORDS[3]], ("#home",), (), START, START + 6000, "", None, True), 10))
    for number in range(1, LINES, 17):
        store.get(number)
        store.line(number)
    store.count()
    dict(store.labels("#"))
    for place, _ in enumerate(store.lines_backwards()):
        if place > 20:
            break
    if is_turns:
        list(store.thread(chance.randrange(1, 6)))
    else:
        list(store.newest())


def _search(store, words):
    """What a search finds when it is not partial: damage to the index is found by searching."""
    hits = list(store.search(_query(words), 64))
    if store.partial:
        _finish(store)
        hits = list(store.search(_query(words), 64))
    return hits


def _check(store, sure, when):
    for at, (number, text) in enumerate(sure.items()):
        line = store.get(number)
        assert (line["text"] if line else None) == text or (line and not text and store.state(number) == 1), (
            "%s: entry %d gives %s in place of %s" % (when, number, line, text)
        )
        if text and (at % 3 == 0 if when == "in the end" else at % 10 == 0):
            own = text[text.rfind(" ") + 1 :]
            found = [hit.number for hit in _search(store, [own])]
            assert number in found, "%s: entry %d is not found by %s, but %s" % (when, number, own, found)


def _check_gone(store, sure, when):
    for hit in _search(store, list(WORDS)):
        assert sure.get(hit.number, "") is not None, "%s: %d is found again" % (when, hit.number)


def _finish(store):
    for _ in range(12000):
        if not store.tick():
            break
    assert not store.partial, "%s; %s" % (store.partial, list(diag.lines()))


def _check_all(store, sure, when):
    _finish(store)
    _check(store, sure, when)
    _check_gone(store, sure, when)


def _lines_lost(store, lost):
    return [seq for seq in sorted(lost) if store.line(seq) is None]


def one(folder, made, chance):
    """Damage the store and use it; (entries that were checked, lines that were lost)."""
    made.restore(folder)
    touched = []
    told = []
    for _ in range(1 + (chance.randrange(4) == 0)):
        what, bytes_touched = _mutate(folder, made, chance)
        told.append(what)
        touched += bytes_touched
    print("; ".join(told))
    lost = made.lost(touched)
    sure = made.sure(lost)
    diag._ring.clear()
    store = _open(folder)
    _check_gone(store, sure, "at once")
    _use(store, made.is_turns, chance)
    new = store.append([("text", "bako ownnew"), ("at", START), ("session", 1 if made.is_turns else 0)])
    assert new > max(set(made.lines) - lost), "seq %d is used again" % new
    store.tick()
    _use(store, made.is_turns, chance)
    sure[new] = "bako ownnew"
    _check_all(store, sure, "in the end")
    gone = _lines_lost(store, lost)
    store.close()
    store.open()
    _check_all(store, sure, "after a restart")
    finish(store.compacting(lambda line: True))
    _check_all(store, sure, "after a compaction")
    is_told = store.damaged or list(diag.lines())
    assert is_told or not gone, "lines %s are lost and nothing was told" % gone
    store.close()
    gc.collect()
    return len(sure), len(gone)


def main(folder, kind, first, last, flash_path=""):
    """Do the mutations with some numbers; each of them can be done alone."""
    if flash_path:
        import flash

        flash.mount(flash_path, 1 << 19, "/flash")
        folder = "/flash/store"
        os.mkdir(folder)
    diag.level = diag.ERROR + 1
    memtable.CHUNK_BYTES = CHUNK
    made = None
    checked = lost = 0
    for number in range(first, last):
        if made is None or number % MUTATIONS == 0:
            random.seed(number // MUTATIONS)
            made = Made(folder, kind == "turns", random)
        random.seed(1000 + number)
        print(number, end=" ")
        entries, lines = one(folder, made, random)
        checked += entries
        lost += lines
    print("checked %d entries, %d lines were lost" % (checked, lost))


main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), *sys.argv[5:])
