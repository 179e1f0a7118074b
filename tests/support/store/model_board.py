"""Runs on the board: a store that does what JSON lines on stdin ask, and answers on stdout.

    model_board.py FOLDER [FLASH]       on the host's file system or, with FLASH, on the littlefs in that file

Beside answers it tells what the plain model cannot know without an index: see `_Told`.
"""

import json
import os
import sys

from engram.compat import collect_often, finish
from engram.store.index import codec, memtable, merge_policy
from engram.store.log.segments import Log
from engram.store.store import Store
from engram.store.types import Query
from plain_owner import Owner


class _Told:
    """Which lines were sealed, with what mean length."""

    def __init__(self):
        self.events = []
        told = self
        insert = merge_policy.insert

        def watched(index, rows, *rest):
            told.events.append([list(rows.seqs[: rows.rows]), index.mean()])
            insert(index, rows, *rest)

        merge_policy.insert = watched


def _marked(table):
    return [table.row(row)[0] for row in range(table.rows) if codec.has_bit(table.dead, row)]


class Board:
    """One store after another, each in a folder of its own."""

    def __init__(self, place):
        self.folder = place + "/store"
        self.told = _Told()
        self.store = None

    def new(self, segment_bytes, chunk_bytes):
        """Begin with an empty store."""
        if self.store:
            self.store.close()
        _remove(self.folder)
        os.mkdir(self.folder)
        memtable.CHUNK_BYTES = chunk_bytes
        self.told.events.clear()
        self.store = Store(Log(self.folder, "log", segment_bytes=segment_bytes), Owner())
        self.store.open()

    def append(self, lines, background):
        """Append lines; the first one's seq."""
        return self.store.append(*[list(line.items()) for line in lines], background=background)

    def reopen(self):
        """Close and open, as after a restart."""
        self.store.close()
        self.store.open()

    def tick(self, times):
        """Do work in the background, to the end if `times` is 0; whether there is more."""
        more = True
        done = 0
        while more and not (times and done == times):
            more = self.store.tick()
            done += 1
            assert done < 100000, "the work in the background does not end"
        return more

    def status(self):
        """What the model has to be told (see plain_model.Index)."""
        index = self.store.index
        events = self.told.events[:]
        self.told.events.clear()
        tables = [[[table.row(row)[0] for row in range(table.rows)], _marked(table)] for table in index.tables]
        rows = index.memtable
        ram = [rows.seqs[row] for row in range(rows.rows)]
        gone = [rows.seqs[row] for row in range(rows.rows) if codec.has_bit(rows.dead, row)]
        return {
            "events": events,
            "tables": tables,
            "ram": ram,
            "ram_marked": gone,
            "mean": index.mean(),
            "partial": self.store.partial,
        }

    def search(self, terms, labels, scopes, since, until, speaker, weights, asks, limit):
        """[[number, score, evidence, seq], ...]."""
        query = Query(terms, labels, scopes, since, until, speaker, weights, asks)
        hits = self.store.search(query, limit)
        return [[hit.number, hit.score, hit.evidence, hit.line["seq"]] for hit in hits]

    def frequencies(self, terms):
        """[live rows, {term: rows with it}]."""
        return list(self.store.frequencies(terms))

    def newest(self, labels, scopes):
        """The seqs of live entries' lines."""
        return [line["seq"] for line in self.store.newest(labels, scopes)]

    def labels(self, prefix, scopes):
        """{label: live entries}."""
        return dict(self.store.labels(prefix, scopes))

    def count_of(self, labels, scopes):
        """The number of live entries."""
        return self.store.count(labels, scopes)

    def thread(self, session):
        """The seqs of a session's lines."""
        return list(self.store.thread(session))

    def backwards(self):
        """The seqs of all lines, newest first."""
        return [line["seq"] for line in self.store.lines_backwards()]

    def entries(self, numbers):
        """[[state, seq of the line that get() gives], ...]."""
        found = []
        for number in numbers:
            line = self.store.get(number)
            found.append([self.store.state(number), line and line["seq"]])
        return found

    def compact(self, kept):
        """Rewrite the log with the lines of some seqs only."""
        kept = set(kept)
        finish(self.store.compacting(lambda line: line["seq"] in kept))

    def drop_oldest(self):
        """Let the oldest segment leave; the oldest seq that there is then."""
        self.store.drop_oldest()
        return self.store.log.oldest


def _remove(place):
    try:
        names = os.listdir(place)
    except OSError:
        return
    for name in names:
        path = place + "/" + name
        if os.stat(path)[0] & 0x4000:
            _remove(path)
        else:
            os.remove(path)
    os.rmdir(place)


def main(place, flash_path=""):
    """Answer until stdin ends."""
    if flash_path:
        import flash

        flash.mount(flash_path, 1 << 20, "/flash")
        place = "/flash"
    collect_often()  # as the app does
    board = Board(place)
    while True:
        line = sys.stdin.readline()
        if not line:
            return
        name, *arguments = json.loads(line)
        print(">" + json.dumps(getattr(board, name)(*arguments)))


main(*sys.argv[1:])
