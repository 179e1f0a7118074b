"""The commands that look after the memory: distil, clear the daily log, pin."""

from engram.compat import const, ticks_add, ticks_diff, ticks_ms
from engram.errors import ArgumentError
from engram.memory import access
from engram.memory.recall import snippet
from engram.memory.records import dedup, fields

_LOOK_MS = const(50)
_LONGEST_MS = const(180_000)  # that a person waits for a distillation; it goes on without
_WIDTH = const(100)


def distill_command(board, caller, _rest: str):
    """Turn the notes that wait into memories, and tell what came of it."""
    board.notes.for_caller(caller)  # refused in a group room
    if board.config.get("mode") != "full":
        raise ArgumentError("/distill", "is for full mode: in lightweight mode the notes are the memory (/mode full).")
    waiting = board.note_retention.waiting().get(access.notebook_of(caller), 0)
    if not waiting:
        yield "no note is waiting (/memory shows today's)"
        return
    if not board.distillation:
        yield "notes waiting: %d; distilling them needs a model (llm.url, llm.model)" % waiting
        return
    report = board.distillation.ask(access.notebook_of(caller), access.is_owner(caller))
    yield "reading (notes: %d) ..." % waiting
    end = ticks_add(ticks_ms(), _LONGEST_MS)
    while not (report.is_over or report.why) and ticks_diff(end, ticks_ms()) > 0:
        yield _LOOK_MS
    yield from report.lines()
    if report.added or report.superseded or report.merged:
        yield "/undo undoes all of it"
    elif not (report.is_over or report.why):
        yield "it continues in the background; /stats shows how"


def note_command(board, caller, rest: str):
    """Add a line to today's note."""
    notebook = board.notes.for_caller(caller)
    notebook.note(rest)
    yield "noted in %s; it is distilled later" % notebook.today()


def clear_command(board, caller, rest: str):
    """Empty the day's notes."""
    daily, notebook = board.note_retention, board.notes.for_caller(caller)
    name = rest + ".md" if rest else notebook.today()
    before = daily.waiting().get(access.notebook_of(caller), 0)
    old = notebook.clear(rest)
    count = sum(1 for line in old.split("\n") if line.strip())
    if not count:
        yield "%s has no notes" % name
        return
    lost = before - daily.waiting().get(access.notebook_of(caller), 0)
    told = ", not distilled yet: %d" % lost if lost > 0 and board.config.get("mode") == "full" else ""
    yield "%s is empty now (notes: %d%s); /undo brings them back. Memories and other days stay" % (name, count, told)


def pin_command(board, caller, rest: str):
    """Protect a memory from eviction; on a board that has pins, also show or set them."""
    if board.pins and board.pins.is_meant(rest):
        return board.pins.command(caller, rest)
    return _pin_memory(board.records, caller, rest)


def _pin_memory(records, caller, ref: str, pinned: bool = True):
    """Keep a memory whatever happens: it never leaves for lack of room."""
    if not ref:
        raise ArgumentError("/pin" if pinned else "/unpin", "needs the id of a memory, such as m12.")
    record = records.get(ref, caller)
    if bool(record.get("pinned")) == pinned:
        yield "%s is %s" % (record["id"], "already pinned" if pinned else "not pinned")
        return
    records.update(ref, {"pinned": pinned}, caller)
    change = "is pinned" if pinned else "is no longer pinned"
    yield "%s %s: %s" % (record["id"], change, snippet(record["content"], _WIDTH))


def unpin_command(board, caller, ref: str):
    """Let a memory leave as others do."""
    return _pin_memory(board.records, caller, ref, False)


def dedupe_command(board, caller, _rest: str):
    """Let of two memories that say the same the lesser one go."""
    records, looked, gone = board.records, 0, []
    for record in records.newest(caller):
        looked += 1
        twin = dedup.twin(records, record, caller)
        if twin and not (record.get("pinned") and twin.get("pinned")):
            lesser = min(record, twin, key=_worth)
            kept = twin if lesser is record else record
            taken_over = _taken_over(kept, lesser)
            if taken_over:
                records.update(kept["id"], taken_over, caller)
            records.forget(lesser["id"], caller)
            gone.append(lesser["id"])
            gone_and_kept = lesser["id"], kept["id"], snippet(lesser["content"], _WIDTH)
            yield "forgot %s, which says the same as %s: %s" % gone_and_kept
        yield 0
    if gone:
        yield "memories compared: %d, forgotten: %d; /undo brings them back one by one" % (looked, len(gone))
    else:
        yield "memories compared: %d; no two say the same" % looked


def _worth(record: dict) -> tuple:
    """Choose one of two memories that say the same: pinned before others, then the one that lasts longer, then the more
    important, then the older."""
    return (
        bool(record.get("pinned")),
        record.get("expires", fields.NEVER),
        record.get("importance", fields.IMPORTANCE),
        -record["created"],
        -int(record["id"][1:]),
    )


def _taken_over(kept: dict, lesser: dict) -> dict:
    """The fields that the kept memory takes from the other: tags and keywords for which there is room, and its longer time."""
    changes = {}
    for name, most in (("tags", fields.MOST_TAGS), ("keywords", fields.MOST_KEYWORDS)):
        words = list(kept.get(name, ()))
        # A tag of a workspace would move the memory.
        new = [word for word in lesser.get(name, ()) if word not in words and word[:3] != access.WORKSPACE]
        if new[: most - len(words)]:
            changes[name] = words + new[: most - len(words)]
    if kept.get("expires", fields.NEVER) < lesser.get("expires", fields.NEVER):
        changes["expires"] = lesser.get("expires")
    return changes
