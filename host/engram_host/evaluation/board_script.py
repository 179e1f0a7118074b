"""The board's half of the evaluation: stores a conversation, or answers the questions about it.

    board_script.py FLASH feed TURNS IDS
    board_script.py FLASH ask QUESTIONS ANSWERS LIMIT

TURNS has a JSON list [session, Unix seconds, speaker, text, caption, role] per line; IDS gets the id of
each stored turn. QUESTIONS has a JSON string per line; ANSWERS gets a line for each, with the confidence
in thousandths, then at most LIMIT ids, best first.
"""

import json
import sys

from engram.clock import Clock
from engram.compat import collect_often
from engram.memory.access import OWNER
from engram.memory.journal import schema
from engram.memory.journal.journal import Journal
from engram.memory.recall import Recall, best_confidence, make_query
from engram.store.log.segments import Log
from engram.store.store import Store

SIZE = 6 << 20
CAP = 2 << 20
MOST = 50

PROGRESS = 100


class _NoRecords:
    def __init__(self):
        self.entries = self.importance = self

    def frequencies(self, terms):
        return 0, {}

    def none(self, *_):
        return ()

    search = importance_of = newest = related = is_used = none


class _NoNotes:
    def for_caller(self, caller):
        return self

    def names(self):
        return ()


class Turns:
    def __init__(self, folder):
        # Questions come after the last turn.
        clock = Clock(0, self._last_moment)
        turn_schema = schema.TurnSchema(clock)
        self._store = Store(Log(folder, "journal", cap=CAP), turn_schema)
        self._store.open()
        self._last = 0
        journal = Journal(self._store, turn_schema, clock, CAP, None)
        self._recall = Recall(_NoRecords(), journal, _NoNotes(), clock, None, [0, 0])
        self._recall.candidates = MOST

    def add(self, session, at, who, content, caption, role):
        line = [("sid", "s%d" % session), ("role", role), ("who", who), ("text", content), ("at", at)]
        if caption:
            line.append(("caption", caption))
        return self._store.append(line)

    def _last_moment(self):
        return self._last

    def finish_background(self):
        while self._store.tick():
            pass

    @property
    def partial(self):
        return self._store.partial

    def search(self, query, limit):
        if not self._last:
            self._last = self._store.line(self._store.next_seq - 1)["at"]
        ranked = self._recall.rank(make_query(query, OWNER))
        return best_confidence(ranked), [int(item.id[1:]) for item in self._recall.all_items(ranked)[:limit]]


def feed(store, turns, ids) -> None:
    count = 0
    with open(turns) as file, open(ids, "w") as out:
        for line in file:
            session, at, who, content, caption, role = json.loads(line)
            out.write("%d\n" % store.add(session, at, who, content, caption, role))
            count += 1
            if count % PROGRESS == 0:
                print("%d turns taken in" % count)
    store.finish_background()


def ask(store, questions, answers, limit) -> None:
    count = 0
    with open(questions) as file, open(answers, "w") as out:
        for line in file:
            sure, found = store.search(json.loads(line), int(limit))
            out.write(" ".join(["%d" % number for number in [sure] + found]) + "\n")
            count += 1
            if count % PROGRESS == 0:
                print("%d questions answered" % count)
    if store.partial:
        # The index was damaged: figures would be wrong.
        print("WARNING: " + store.partial)


def main(flash_file, step, *arguments) -> None:
    import flash  # on the simulated board; the host runs Turns without it

    collect_often()  # as the app does
    flash.mount(flash_file, SIZE, "/flash")
    store = Turns("/flash")
    if step == "feed":
        feed(store, *arguments)
    else:
        ask(store, *arguments)


if __name__ == "__main__":
    main(*sys.argv[1:])
