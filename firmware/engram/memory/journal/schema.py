"""What a line of the journal means to the store, and what it tells of the sessions.

    {"seq","sid","role","who","text","caption","at","prev","n","scope","workspace","cut","command",
     "guess","crc"}                                                                a turn
    {"seq","sid","role","who","at","prev","n","scope","gone":true,"crc"}           a turn whose text was forgotten
    {"seq","op":"session","sid","title","scope","at","crc"}                        a session begins
    {"seq","op":"current","room","sid","crc"}                                      a room goes on in a session
    {"seq","op":"drop","sid","at","crc"}                                           a session was deleted
    {"seq","op":"redact","turn","at","crc"}                                        a turn was forgotten
    {"seq","op":"show","turn","at","crc"}                                          that was taken back

role is "user" or "assistant", who the speaker's name, workspace the one in which it was said, if in any, caption what a
picture that came with the turn shows, prev the seq of the session's turn before (0 for none), n the turn's place in its
session from 0 on, cut true for a reply that the link broke, command true for what was understood as a command, which no
search finds. A title is kept only if a person gave it: a session without one is called by its first turn, so that no text
stands in two places when it is forgotten.
"""

from engram import text
from engram.clock import MONTHS, civil
from engram.compat import const
from engram.memory import ALL, ids
from engram.store.types import FORGOTTEN, Entry, no_entry

_DAY_SECONDS = const(86400)
_NEEDED = {
    "": (("sid", str), ("who", str), ("at", int)),
    "session": (("sid", str), ("at", int)),
    "current": (("sid", str), ("room", str)),
    "drop": (("sid", str),),
    "redact": (("turn", int),),
    "show": (("turn", int),),
}


class TurnSchema:
    """The owner of the journal's log: `sessions` and `clock` are told what the lines tell."""

    def __init__(self, sessions, clock):
        self._sessions = sessions
        self._clock = clock

    # --- for the store

    def describe(self, line: dict) -> Entry:
        """What a line means."""
        if not _is_known(line):
            raise ValueError("a line of another form")
        if "op" in line:
            return _operation(line)
        seq = line["seq"]
        gone = ((seq, FORGOTTEN),) if "gone" in line else ()
        found = () if gone or "command" in line else terms(line, self._clock.zone_minutes)
        return Entry(seq, found, labels(line), ids.number("session", line["sid"], "s"), line["at"], gone, (), 0)

    def observe(self, line: dict) -> None:
        """Take what a line tells of its session."""
        operation = line.get("op")
        if not _is_known(line):
            return
        if operation is None:
            head = self._sessions.heads.get(line["sid"])
            if head is not None:
                head.add_turn(line["seq"], line.get("n", head.turns), line["at"])
            self._clock.not_before(line["at"])
        elif operation == "session":
            self._sessions.begin(line["sid"], line.get("title", ""), line.get("scope", ALL), line["at"])
        elif operation == "current":
            self._sessions.enter(line["room"], line["sid"])
        elif operation == "drop":
            self._sessions.end(line["sid"])

    def state(self) -> dict:
        """What all lines so far told."""
        return self._sessions.state()

    def restore(self, state) -> None:
        """Go back to such a state, to none if it is None."""
        self._sessions.restore(state)


def _is_known(line: dict) -> bool:
    """Whether a line has what this version writes: one of another may be whole by its crc and yet of another form."""
    operation = line.get("op", "")
    if not isinstance(operation, str) or operation not in _NEEDED:
        return isinstance(operation, str)
    if not operation and "gone" not in line and not isinstance(line.get("text"), str):
        return False
    if not isinstance(line.get("n", 0), int):
        return False
    for name in ("scope", "title", "caption", "workspace"):
        if not isinstance(line.get(name, ""), str):
            return False
    return all(isinstance(line.get(name), kind) for name, kind in _NEEDED[operation])


def _operation(line: dict) -> Entry:
    operation, at = line["op"], line.get("at", 0)
    if operation == "drop":
        return no_entry(at, ends=ids.number("session", line["sid"], "s"))
    if operation == "redact":
        return no_entry(at, hides=((line["turn"], FORGOTTEN),))
    if operation == "show":
        return no_entry(at, shows=(line["turn"],))
    return no_entry(at)


def terms(line: dict, zone_minutes: int):
    """Yield the words by which a turn is found: its day, speaker, text and caption."""
    year, month, day = civil((line["at"] + zone_minutes * 60) // _DAY_SECONDS)
    yield str(day)
    yield from text.terms(MONTHS[month - 1])
    yield str(year)
    yield from text.terms(line["who"])
    yield from text.terms(line["text"])
    if "caption" in line:
        yield from text.terms(line["caption"])


def labels(line: dict):
    """Yield the filters that a turn passes."""
    yield "~" + line["sid"]
    yield "%" + line["who"]
    yield "@" + line.get("scope", ALL)


def named(query: str, names, is_known) -> str:
    """Of the speakers' labels in `names` the one that a query names, "" if it names none or several; is_known(label) tells
    whether a label counts.
    """
    words = set(text.words(query))
    found = ""
    for label in names:
        if label != found and not set(text.words(label)).isdisjoint(words) and is_known(label):
            if found:
                return ""
            found = label
    return found
