"""Closes a person's open task: an event says what was done, and memories about the task expire."""

from engram.compat import const

_TAG = "task"
_MOST = const(20)  # memories of one task
_KEPT_SECONDS = const(604_800)  # of these, after the end


def close_task(records, clock, caller, task: str) -> None:
    open_ones = [record["id"] for record in records.newest(caller, (_TAG,)) if "expires" not in record]
    drafts = [records.draft("Done: " + " ".join(task.split()), ("done",), caller, type="event", source="auto_rule")]
    changes = {"expires": clock.now() + _KEPT_SECONDS}
    drafts += [records.draft_update(ref, changes, caller) for ref in open_ones[:_MOST]]
    records.keep(drafts)
