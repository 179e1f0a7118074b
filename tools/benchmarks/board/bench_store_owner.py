"""What the lines of the benchmark's stores mean: as in the journal and in the records, without their other duties."""

import time

from engram.store.types import FORGOTTEN, Entry, no_entry
from engram.text.tokenizer import terms

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


class _Owner:
    def observe(self, line):
        """Nothing is kept of a line."""

    def state(self):
        """There is no state."""
        return {}

    def restore(self, state):
        """There is no state."""


class Turns(_Owner):
    """Turns of sessions."""

    def describe(self, line):
        """A turn, or the forgetting of one."""
        if "turn" in line:
            return no_entry(line["at"], hides=((line["turn"], FORGOTTEN),))
        session = int(line["sid"][1:])
        labels = ("~" + line["sid"], "%" + line["who"], "@" + line["scope"])
        return Entry(line.get("of", line["seq"]), _terms(line), labels, session, line["at"], (), (), 0, False)


class Records(_Owner):
    """Records."""

    def describe(self, line):
        """A record, or the forgetting of one."""
        if "op" in line:
            return no_entry(line["at"], hides=((int(line["id"][1:]), FORGOTTEN),))
        labels = ["#" + tag for tag in line["tags"]] + ["@all"]
        return Entry(int(line["id"][1:]), _record_terms(line), labels, 0, line["created"], (), (), 0, False)


def _terms(line):
    year, month, day = time.gmtime(line["at"])[:3]
    yield str(day)
    yield from terms(MONTHS[month - 1])
    yield str(year)
    yield from terms(line["who"])
    yield from terms(line["text"])


def _record_terms(line):
    yield from terms(line["content"])
    for tag in line["tags"]:
        yield from terms(tag)


def owner(kind):
    """The owner of a store of a kind."""
    return Turns() if kind == "turns" else Records()


def line(kind, source, number, store, start, sessions):
    """The next line to append, from one of the texts."""
    at = start + number * 60
    if kind == "turns":
        sid = "s%d" % (1 + source["session"])
        fields = [("sid", sid), ("role", "user"), ("who", source["who"]), ("text", source["text"]), ("at", at)]
        return fields + [("prev", max(0, number - sessions)), ("n", number // sessions), ("scope", "user:owner")]
    fields = [("id", "m%d" % store.next_seq), ("content", source["text"]), ("tags", source["tags"])]
    return fields + [("type", "fact"), ("importance", 0.6), ("scope", "all"), ("created", at)]


def update(kind, line, number):
    """The next version of a line."""
    fields = [(name, value) for name, value in line.items() if name != "seq"]
    if kind == "turns":
        return [field for field in fields if field[0] != "of"] + [("of", number)]
    return [field for field in fields if field[0] != "updated"] + [("updated", 1790000000)]


def forget(kind, number):
    """The line that forgets an entry."""
    if kind == "turns":
        return [("op", "redact"), ("turn", number), ("at", 1790000000)]
    return [("op", "forget"), ("id", "m%d" % number), ("at", 1790000000)]
