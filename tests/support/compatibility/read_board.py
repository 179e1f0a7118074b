"""Tells all that a board holds, as seen by each of its people: runs on each runtime, over a folder or a littlefs.

    read_board.py FOLDER FLASH NOW STEP ...

FLASH is a file with a littlefs that is mounted at FOLDER, "-" for none; NOW is what the clock reads, in Unix seconds. A STEP:

    see       prints "> " and a JSON object with all that is there
    unindex   removes both keyword indexes and lets the board make them again
    go_on     appends to, changes and forgets something of each kind, compacts both logs, and starts the board again

Only this file names the parts of the firmware that the tests of this folder read.
"""

import json
import os
import random
import sys
from binascii import crc32

from engram.app import App
from engram.clock import Clock
from engram.errors import EngramError
from engram.memory.access import Caller
from engram.memory.confidence import MadeOf
from engram.memory.recall import make_query

CALLERS = (
    ("owner", Caller("owner", "console", False, "")),
    ("owner in the garden", Caller("owner", "console", False, "garden")),
    ("ann", Caller("ann", "chat#1", False, "")),
    ("bob", Caller("Bob", "chat#2", False, "")),
    ("group", Caller("Bob", "group#7", True, "")),
    ("stranger", Caller("eve", "chat#9", False, "")),
)
OWNER, ANN = CALLERS[0][1], CALLERS[2][1]
QUERIES = (
    "green ladder cellar", "Who repaired the violin of Mila?", "自行车", "望远镜 地下室", "лестница Ольга", "مفتاح", "shelf 42",
    "what did ann say about the kettle in September", "hazelnuts allergic", "sister Lena Graz", "bees of Emil", "zwieback",
    "third version", "oven clock blinks", "plan of the greenhouse", "router", "a hose with a leak near the roses",
)  # fmt: skip
FOUND = 10
COMMANDS = (
    "/memory",
    "/memory list",
    "/memory list 2",
    "/memory tags",
    "/session",
    "/session list",
    "/profile",
    "/intents",
)


class Board:
    """A board that is started without a model."""

    def __init__(self, folder, now):
        self._folder = folder
        self._now = now
        self.parts = None
        self.start()

    def start(self):
        if self.parts:
            self.parts.records.entries.close()
            self.parts.journal.entries.close()
        random.seed(99)
        self.app = App(self._folder, {"log.level": "error"}, clock=Clock(120, lambda: self._now))
        self.parts = self.app.board

    def rest(self):
        """Let the work in the background end."""
        parts = self.parts
        while sum([part.tick() for part in (parts.records, parts.journal, parts.eviction)]):
            pass

    def command(self, line, caller):
        """The lines that a command answers; None if it is refused to this caller."""
        try:
            return [said for said in self.parts.commands.run(caller, line) if isinstance(said, str)]
        except EngramError:
            return None

    # --- steps

    def see(self):
        parts = self.parts
        self.rest()
        told = {name: self._seen_by(caller) for name, caller in CALLERS}
        whole = {
            "records": parts.records.entries.count(),
            "bytes": [parts.records.bytes, parts.journal.bytes],
            "turns": parts.journal.entries.count(),
            "oldest turn": parts.journal.entries.oldest,
            "damaged": [parts.records.damaged, parts.journal.damaged, parts.reminders.damaged],
            "partial": [parts.records.partial, parts.journal.partial],
            "archived": parts.archived.total,
            "read up to": parts.learning_cursor.until,
            "notes that wait": parts.note_retention.waiting(),
            "uses": self._uses(),
            "trash": [_version(line) for line in parts.trash.records()],
        }
        print("> " + json.dumps({"board": whole, "callers": told}))

    def unindex(self):
        for log in ("memory/memory_records", "journal/journal"):
            folder, _, name = (self._folder + "/" + log).rpartition("/")
            for file in os.listdir(folder):
                if file == name + ".index" or file.startswith(name + ".x"):
                    os.remove(folder + "/" + file)
        self.start()
        assert self.parts.records.partial and self.parts.journal.partial
        self.rest()

    def go_on(self):
        owner, ann = OWNER, ANN
        records, journal = self.parts.records, self.parts.journal
        new = self.app.memory.store("The lighthouse of Neufeld has 199 steps", ["lighthouse"])
        old = [record["id"] for record in records.newest(owner) if record.get("scope") == "user:owner"]
        records.update(old[1], {"content": "The lighthouse keeper is called Quirin"})
        self.command("/forget " + old[2], owner)
        self.command("/pin " + old[3], owner)
        for caller in (owner, ann):
            journal.add(caller, "user", caller.principal, "We climbed the lighthouse of Neufeld")
            journal.add(caller, "assistant", "Engram", "All 199 steps, as %s says" % new)
        self.command("/note the lighthouse was painted", owner)
        self.command("/profile user.md add Collects lighthouses.", owner)
        self.parts.reminders.add(owner, "lighthouse", "bring the binoculars")
        self.command("/compact", owner)
        self.rest()
        self.start()
        self.rest()

    # --- what there is

    def _uses(self):
        found = {}
        for record in self.parts.records.entries.newest():
            uses = self.parts.records.uses.usage_of(int(record["id"][1:]))
            if uses[0]:
                found[record["id"]] = list(uses)
        return found

    def _seen_by(self, caller):
        parts = self.parts
        memory = self.app.memory.of(caller)
        records = list(memory.newest())
        sessions = []
        for session in parts.journal.sessions(caller):
            seqs = parts.journal.window(session.id, 1000)
            turns = [parts.journal.turn(seq) for seq in seqs]
            sessions.append([session.id, session.title, session.turns, session.at, turns])
        seen = {
            "memories": records,
            "history": self._histories(records, caller),
            "tags": sorted([list(pair) for pair in parts.records.tags(caller)]),
            "archived": [
                parts.archived.count(caller),
                sorted([list(pair) for pair in parts.archived.tags(caller).items()]),
            ],
            "sessions": sessions,
            "current": parts.journal.current(caller),
            "searches": {query: self._found(query, caller) for query in QUERIES},
            "intents": list(parts.reminders.owned_by(caller)),
            "commands": {line: self.command(line, caller) for line in COMMANDS},
        }
        if not caller.group:
            seen["notes"] = self._notes(caller)
            profile = parts.profile.for_caller(caller)
            seen["profile"] = {name: profile.text(name) for name in ("user.md", "soul.md", "identity.md")}
        return seen

    def _histories(self, records, caller):
        found = {}
        for record in records:
            versions = [_version(one) for one in self.parts.records.history(record["id"], caller)]
            if len(versions) > 1:
                found[record["id"]] = versions
        return found

    def _found(self, query, caller):
        """[id, score, what it is made of] of each, best first."""
        found = []
        recall, made_of = self.parts.make_recall(), MadeOf({}, {})
        ranked = recall.rank(make_query(query, caller), made_of)
        for item, parts in recall.explain(ranked, made_of, FOUND):
            found.append([item.id, item.score, [points for _, points in parts]])
        return found

    def _notes(self, caller):
        notes = self.parts.notes.for_caller(caller)
        found = {}
        for name in ["MEMORY.md"] + ["2026-%s.md" % day for day in _days()]:
            text = notes.text(name)
            if text:
                found[name] = text
        return found


def _version(line):
    """A version of a record in short: its id, its seq and the crc32 of its content."""
    return [line["id"], line["seq"], "%08x" % crc32(line["content"].encode())]


def _days():
    return ["%02d-%02d" % (month, day) for month in (9, 10, 11) for day in range(1, 31)]


def main(folder, flash_file, now, *steps):
    if flash_file != "-":
        import flash

        flash.mount(flash_file, 0, folder)
    board = Board(folder, int(now))
    for step in steps:
        getattr(board, step)()


if __name__ == "__main__":
    main(*sys.argv[1:])
