"""Runs on the board: gives plain test lines their meaning, as records and journal give it to theirs.

{"text","of","tags","who","scope","session","at","supersedes","reply"}    an entry, or with "of" its next version
{"forget":NUMBER} {"show":NUMBER} {"ends":SESSION}                what becomes of entries
"""

from engram import text
from engram.store.types import FORGOTTEN, SUPERSEDED, Entry, no_entry


class Owner:
    """Counts the lines that it sees, so that its state can be compared after a restart."""

    def __init__(self):
        self.seen = 0

    def describe(self, line):
        if "ends" in line:
            return no_entry(ends=line["ends"])
        if "forget" in line:
            return no_entry(hides=((line["forget"], FORGOTTEN),))
        if "show" in line:
            return no_entry(shows=(line["show"],))
        hides = ((line["supersedes"], SUPERSEDED),) if "supersedes" in line else ()
        labels = ["#" + tag for tag in line.get("tags", ())]
        for mark, key in (("%", "who"), ("@", "scope")):
            if key in line:
                labels.append(mark + line[key])
        number, at = line.get("of", line["seq"]), line.get("at", 0)
        session, is_reply = line.get("session", 0), "reply" in line
        return Entry(number, text.terms(line["text"]), labels, session, at, hides, (), 0, is_reply)

    def observe(self, line):
        self.seen += 1

    def state(self):
        return {"seen": self.seen}

    def restore(self, state):
        self.seen = state["seen"] if state else 0
