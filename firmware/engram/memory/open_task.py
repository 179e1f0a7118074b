"""Closes a person's open task: an event says what was done, and memories about the task expire."""

from engram.compat import const
from engram.memory.access import own_scope

_TAG = "open-task"
_MOST = const(20)  # memories of one task
_KEPT_SECONDS = const(604_800)  # of these, after the end


def close_task(records, clock, caller, task: str) -> None:
    changes = {"expires": clock.now() + _KEPT_SECONDS}
    drafts = [
        records.draft_update(record["id"], changes, caller)
        for record in records.newest(caller, (_TAG,))
        if record.get("scope") == own_scope(caller) and "expires" not in record
    ]
    records.store("Done: " + " ".join(task.split()), ("done",), caller, type="event", source="auto_rule")
    records.keep(drafts[:_MOST])
