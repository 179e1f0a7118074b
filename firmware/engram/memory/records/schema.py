"""The records' schema: a line of their log as an entry of the store.

    {"seq","id","content","tags":[..],"keywords":[..],"type","importance","source","scope","created","updated",
     "pinned","expires","when","until","people":[..],"where","supersedes","turns":[turn ids],"origin","past","was","undoes",
     "with","restored","confidence","evidence":[ids],"guess","outdated":[turn ids],"crc"}   a version of a record
    {"seq","op":"forget","id","at","was","with":[ids],"redacts":[turn ids],"undoes","restores",
     "back","crc"}                                                                 a record that has gone
    {"seq","op":"leave","id","at","was","with":[ids],"back","turns":[turn ids],"crc"}   one that left for lack of room
    {"seq","op":"archive","id","at","was","with":[ids],"crc"}                      one that left for the companion
    {"seq","op":"forget","id","at","scopes":[..],"crc"}                            forget it, if it has one of these scopes
    {"seq","op":"profile"|"note","file","old","length","at","undoes","crc"}   a text file before an edit
    {"seq","op":"compacted","at","crc"}                                            undo goes back to here
    {"seq","op":"learned","journal","until","at","crc"}                            how far turns were read for facts
    {"seq","op":"distilled","marks":[[file,bytes,crc32],..],"at","crc"}            how far notes were distilled

Absent fields mean their default. `when` to `until` is the time of an event, which counts as the day of the record; each of
its `people` is a label of the index. `was` is the seq of the record's line before, `undoes` the seq of a line that this one
takes back. `with` are the older records that it superseded: they go too, or come back to its history. `redacts` are
turns that go, `outdated` those that say what this version changes, `restores` is a record that was superseded and is
live again. `guess` says that the clock was not known.
`learned` goes with what turns up to the seq `until` of the journal with that epoch gave, in one flush; `distilled`
likewise with what notes gave. `origin` tells where a record was imported from (see
provenance.py), and `past` that it was superseded there, so that it is history from its first line on. `restored` is
when it came back from the companion, and `back` says of one that has gone that it may have come back before.
"""

from collections import namedtuple

from engram.memory import line_meaning
from engram.store.types import Entry

Archived = namedtuple("Archived", "seq count first last")
"""The newest line about the archive, and the number of archived memories with their lowest and highest number."""


class RecordSchema:
    """The owner of the records' log: progress of reading turns and notes, and what is archived."""

    # learned    [epoch of the journal, seq of the last turn] read for facts, or None
    # distilled  [seq, marks] of the newest line about distilled notes, or None

    learned = None
    distilled = None
    archived = Archived(0, 0, 0, 0)

    def describe(self, line: dict) -> Entry:
        return line_meaning.describe_record(line)

    def observe(self, line: dict) -> None:
        if line.get("op") == "learned":
            self._set_learned([line.get("journal"), line.get("until")])
        elif line.get("op") == "distilled":
            self._set_distilled([line["seq"], line.get("marks")])
        elif is_about_archive(line):
            self._count_archived(line)

    def _count_archived(self, line: dict) -> None:
        _, count, first, last = self.archived
        if line.get("op") == "archive":
            number = int(line["id"][1:])
            self.archived = Archived(line["seq"], count + 1, min(first or number, number), max(last, number))
        else:
            self.archived = Archived(line["seq"], max(0, count - 1), first, last)

    def state(self) -> dict:
        """Return the state after all lines so far."""
        state = {"learned": self.learned, "distilled": self.distilled}
        state["archived"] = list(self.archived) if any(self.archived) else None
        return {name: value for name, value in state.items() if value}

    def restore(self, state) -> None:
        state = state or {}
        self.learned = self.distilled = None
        archived = state.get("archived")
        self.archived = Archived(*(archived if _are_numbers(archived, 4) else (0, 0, 0, 0)))
        self._set_learned(state.get("learned"))
        self._set_distilled(state.get("distilled"))

    def _set_learned(self, values) -> None:
        if _are_numbers(values, 2):
            self.learned = values

    def _set_distilled(self, values) -> None:
        if not (isinstance(values, list) and len(values) == 2 and isinstance(values[1], list)):
            return
        if all(isinstance(mark, list) and _are_numbers(mark[1:], 2) for mark in values[1]):
            self.distilled = values


def is_about_archive(line: dict) -> bool:
    """True if a line archives or restores a record, or forgets an archived one."""
    return line.get("op") == "archive" or "scopes" in line or "restored" in line


def _are_numbers(values, count: int) -> bool:
    return isinstance(values, list) and len(values) == count and all(isinstance(number, int) for number in values)
