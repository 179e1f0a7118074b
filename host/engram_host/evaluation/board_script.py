"""The board's half of the evaluation: takes in one conversation, or answers the questions about it.

    board_script.py FLASH feed TURNS IDS
    board_script.py FLASH ask QUESTIONS ANSWERS LIMIT

TURNS has a JSON list [session, Unix seconds, speaker, text, caption, role] in each line; IDS gets a line for each with the id
that the store gave the turn. QUESTIONS has a JSON string in each line; ANSWERS gets a line for each with the
confidence in thousandths, then the ids of what was found, best first, at most LIMIT.
"""

import gc
import json
import sys

from engram import text
from engram.clock import Clock
from engram.memory import line_meaning
from engram.memory.journal import schema
from engram.memory.recall import confidence
from engram.store.log.segments import Log
from engram.store.search.weights import distinct_terms, known_weights, measure_query, weights
from engram.store.store import Store
from engram.store.types import Query

SIZE = 6 << 20
CAP = 2 << 20
PROGRESS = 100


class Turns:
    """The turns of one conversation in a store, in a folder. Lines mean what they mean in the journal."""

    def __init__(self, folder):
        self._store = Store(Log(folder, "journal", cap=CAP), schema.TurnSchema(Clock(), 0))
        self._store.open()

    def add(self, session, at, who, content, caption, role):
        """Append a turn; its id."""
        line = [("sid", "s%d" % session), ("role", role), ("who", who), ("text", content), ("at", at)]
        if caption:
            line.append(("caption", caption))
        return self._store.append(line)

    def finish_background(self):
        """Let the work in the background end, as it does between messages."""
        while self._store.tick():
            pass

    @property
    def partial(self):
        """Why a search may miss something, "" if it does not."""
        return self._store.partial

    def search(self, query, limit):
        """The confidence in thousandths, and the ids of what fits a query, best first."""
        terms = distinct_terms(text.terms(query))
        frequencies = (self._store.frequencies(terms),)
        idfs = weights(frequencies)
        known = known_weights(frequencies, idfs)
        speaker = line_meaning.named_speaker(query, self._store.names("%"), lambda label: True)
        asked = line_meaning.asks_replies(query)
        found = []
        evidence = 0
        for hit in self._store.search(Query(terms, (), (), 0, 0, speaker, known, asked), limit):
            found.append(hit.number)
            evidence = max(evidence, hit.evidence)
        return confidence(evidence, measure_query(frequencies, known)), found


def feed(store, turns, ids) -> None:
    """Take in all turns."""
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
    """Answer all questions."""
    count = 0
    with open(questions) as file, open(answers, "w") as out:
        for line in file:
            sure, found = store.search(json.loads(line), int(limit))
            out.write(" ".join(["%d" % number for number in [sure] + found]) + "\n")
            count += 1
            if count % PROGRESS == 0:
                print("%d questions answered" % count)
    if store.partial:
        # Something was found to be damaged on the way: the figures are not those of a whole index.
        print("WARNING: " + store.partial)


def main(flash_file, step, *arguments) -> None:
    """Do one step."""
    import flash  # of the simulated board; the host runs Turns without it

    gc.threshold(8000)  # as the app sets it
    flash.mount(flash_file, SIZE, "/flash")
    store = Turns("/flash")
    if step == "feed":
        feed(store, *arguments)
    else:
        ask(store, *arguments)


if __name__ == "__main__":
    main(*sys.argv[1:])
