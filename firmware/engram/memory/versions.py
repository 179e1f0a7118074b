"""What a line of the records' log means to the store.

    {"seq","id","content","tags":[..],"keywords":[..],"type","importance","source","scope","created","updated",
     "pinned","expires","supersedes","turns":[turn ids],"origin","past","was","undoes","with","guess",
     "crc"}                                                                        a version of a record
    {"seq","op":"forget","id","at","was","with":[ids],"redacts":[turn ids],"undoes","restores",
     "crc"}                                                                        a record that has gone
    {"seq","op":"leave","id","at","was","with":[ids],"crc"}                        a record that left for want of room
    {"seq","op":"profile"|"note","file","old","parts","length","at","undoes","crc"}   a text file before an edit
    {"seq","op":"part","old","crc"}                                                how a long one begins
    {"seq","op":"compacted","at","crc"}                                            undo goes back to here
    {"seq","op":"learned","journal","until","at","crc"}                            how far turns were read for facts

Absent fields mean their default. `was` is the seq of the record's line before, `undoes` the seq of a line that this
one takes back. `with` are the older records that it superseded: they go too, or come back to its history. `redacts`
are turns that go, `restores` is a record that was superseded and is live again. `parts` lines before this one hold
the beginning of `old`. `guess` says that the clock was not known. `learned` goes with what turns up to the seq `until` of
the journal with that epoch gave, in one flush. `origin` tells where a record was imported from (see origins.py), and
`past` that it was superseded there, so that it is history from its first line on.
"""

from engram import text
from engram.memory import ids, scope
from engram.store.entry import FORGOTTEN, SUPERSEDED, Entry, no_entry


class Versions:
    """The owner of the records' log.

    learned: (epoch of the journal, seq of the last turn) up to which turns were read for facts, None if none were.
    """

    learned = None

    def describe(self, line: dict) -> Entry:
        """What a line means."""
        if "id" not in line:
            return no_entry(line.get("at", 0))
        number = ids.number("id", line["id"], "m")
        if "op" in line:
            shows = (_number(line["restores"]),) if "restores" in line else ()
            gone = [(number, FORGOTTEN)] + [(_number(ref), FORGOTTEN) for ref in line.get("with", ())]
            return no_entry(line.get("at", 0), gone, shows)
        phrases = [phrase for name in ("keywords", "tags") for phrase in line.get(name, ())]
        if not all(isinstance(phrase, str) for phrase in phrases + [line["content"], line.get("scope", "")]):
            raise ValueError("a line of another form")
        older = line.get("with", ()) or ((line["supersedes"],) if "supersedes" in line else ())
        hides = [(_number(ref), SUPERSEDED) for ref in older]
        if line.get("past"):
            hides.append((number, SUPERSEDED))
        return Entry(number, terms(line), _labels(line), 0, line.get("created", 0), hides, (), 0)

    def observe(self, line: dict) -> None:
        """Take from a line how far turns were read."""
        if line.get("op") == "learned":
            self.restore({"learned": [line.get("journal"), line.get("until")]})

    def state(self) -> dict:
        """What all lines so far told."""
        return {"learned": list(self.learned)} if self.learned else {}

    def restore(self, state) -> None:
        """Go back to such a state, to none if it is None."""
        told = (state or {}).get("learned")
        if told is None or _is_known(told):
            self.learned = tuple(told) if told else None


def _is_known(told) -> bool:
    """Whether it has the form that this version writes."""
    return isinstance(told, list) and len(told) == 2 and isinstance(told[0], int) and isinstance(told[1], int)


def _number(ref: str) -> int:
    return ids.number("id", ref, "m")


def terms(line: dict):
    """Yield the words by which a record is found: its content, keywords and tags."""
    yield from text.index_terms(line["content"])
    for name in ("keywords", "tags"):
        for phrase in line.get(name, ()):
            yield from text.index_terms(phrase)


def _labels(line: dict):
    for tag in line.get("tags", ()):
        yield "#" + tag
    yield "@" + line.get("scope", scope.ALL)
    yield "!" + line.get("type", "fact")
    if "origin" in line:
        yield "^" + line["origin"]
