"""Events: what a record adds to its text on time, people and place, and the events that a rule writes.

A rule writes what a tool did after a person's yes, what failed twice, and which open task is done.
"""

from engram import text
from engram.compat import const
from engram.memory.access import own_scope
from engram.memory.records.fields import stated

_TASK = "open-task"
_MOST_OF_TASK = const(20)  # memories of one task
_KEPT_SECONDS = const(604_800)  # of these, after the end


def unsaid(record: dict, clock) -> dict:
    """Return the time, people and place of an event, as shown, that its text does not have."""
    content, found = record["content"], {}
    for name in ("when", "until"):
        shown = moment_text(record[name], clock) if name in record else ""
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
    end = "to " + found["until"] if "until" in found else ""
    span = " ".join([part for part in (found.get("when"), end) if part])
    more = "; ".join([part for part in (span, ", ".join(found.get("people", ())), found.get("where")) if part])
    return "%s (%s)" % (stated(record), more) if more else stated(record)


def moment_text(at: int, clock) -> str:
    """Return a moment in local time, at midnight only its day."""
    shown = clock.minute(at)
    return shown[:-6] if shown.endswith(" 00:00") else shown


def close_task(records, clock, caller, task: str) -> None:
    """Write the event of a task that is done, and let the memories for it alone expire."""
    changes = {"expires": clock.now() + _KEPT_SECONDS}
    drafts = [
        records.draft_update(record["id"], changes, caller)
        for record in records.newest(caller, (_TASK,))
        if record.get("scope") == own_scope(caller) and "expires" not in record
    ]
    records.store("Done: " + " ".join(task.split()), ("done",), caller, type="event", source="auto_rule")
    records.keep(drafts[:_MOST_OF_TASK])
