"""Events: what a record adds to its text on time, people and place, and the events that a rule writes.

A rule writes what a tool did after a person's yes, what failed twice, and which open task is done.
"""

from engram import diag, text
from engram.errors import EngramError
from engram.memory.access import OPEN_TASK, own_scope
from engram.memory.records.fields import stated

_A_DAY = const(20)
_CHARS = const(400)  # of one
_MOST_OF_TASK = const(20)  # memories of one task
_KEPT_SECONDS = const(604_800)  # of these, after the end


def unsaid(record: dict, clock) -> dict:
    """Return the time, people and place of an event, as shown, that its text does not have."""
    content, found = record["content"], {}
    for name in ("when", "until"):
        shown = clock.minute(record[name]).replace(" 00:00", "") if name in record else ""  # midnight is a day alone
        if shown not in content:
            found[name] = shown
    if "people" not in record and "where" not in record:
        return found
    said = set(text.words(content))
    people = [name for name in record.get("people", ()) if not said.issuperset(text.words(name))]
    if people:
        found["people"] = people
    if "where" in record and not said.issuperset(text.words(record["where"])):
        found["where"] = record["where"]
    return found


def whole_text(record: dict, clock) -> str:
    """Return a record's content, as stated, with what it does not say of its event."""
    found = unsaid(record, clock)
    span = " – ".join([found[name] for name in ("when", "until") if name in found])
    more = "; ".join([part for part in (span, ", ".join(found.get("people", ())), found.get("where")) if part])
    return "%s (%s)" % (stated(record), more) if more else stated(record)


class EventLog:
    """Writes events by rule, the same text once a day and at most 20 a day since the start.

    So a tool that fails all day does not fill the memory.
    """

    def __init__(self, records, clock):
        self._records = records
        self._clock = clock
        self._day = self._count = 0

    def add(self, caller, content: str, tag: str, source: str, turn: str = "") -> None:
        """Write an event of today, with the turn that it came from, unless there is one with the same text."""
        day = self._clock.day_number(self._clock.now())
        self._day, self._count = day, self._count + 1 if day == self._day else 1
        if self._count > _A_DAY:
            return
        more = {"when": self._clock.moment(day)} if self._clock.known else {}
        more.update({"type": "event", "source": source, "turns": [turn] if turn else ()})
        try:
            self._records.store(text.cut(content, _CHARS), (tag,), caller, **more)
        except EngramError as error:
            diag.warning("memory", "an event was not kept: %s" % error)

    def close_task(self, caller, task: str) -> None:
        """Write that a task is done, and let the memories for it alone expire."""
        drafts = [
            self._records.draft_update(record["id"], {"expires": self._clock.now() + _KEPT_SECONDS}, caller)
            for record in self._records.newest(caller, (OPEN_TASK,))
            if record.get("scope") == own_scope(caller) and "expires" not in record
        ]
        self.add(caller, "Done: " + " ".join(task.split()), "done", "auto_rule")
        self._records.keep(drafts[:_MOST_OF_TASK], urgent=True)
