"""The commands that look after the memory: distil, clear the daily log, pin."""

from engram.compat import const, ticks_add, ticks_diff, ticks_ms
from engram.errors import ArgumentError
from engram.memory import access
from engram.memory.recall import snippet

_LOOK_MS = const(50)
_LONGEST_MS = const(180_000)  # that a person waits for a distillation; it goes on without
_WIDTH = const(100)


def distill_command(board, caller, _rest: str):
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
    distillation = board.distillation
    report = distillation.ask(access.notebook_of(caller), access.is_owner(caller))
    yield "reading (notes: %d) ..." % waiting
    end = ticks_add(ticks_ms(), _LONGEST_MS)
    while not (report.is_over or distillation.pause.why) and ticks_diff(end, ticks_ms()) > 0:
        yield _LOOK_MS
    yield report.line()
    yield from distillation.refusal_lines()
    if report.added or report.superseded or report.merged:
        yield "each /undo takes back one of these"
    if not report.is_over:
        yield "it continues in the background: " + (distillation.pause.why or "/stats shows how")


def note_command(board, caller, rest: str):
    notebook = board.notes.for_caller(caller)
    notebook.note(rest)
    yield "noted in %s; it is distilled later" % notebook.today()


def clear_command(board, caller, rest: str):
    notebook = board.notes.for_caller(caller)
    name = rest + ".md" if rest else notebook.today()
    old = notebook.clear(rest)
    count = sum(1 for line in old.split("\n") if line.strip())
    if not count:
        yield "%s has no notes" % name
        return
    yield "%s is empty now (notes: %d); /undo brings them back. Memories and other days stay" % (name, count)


def pin_command(board, caller, rest: str):
    if board.pins and board.pins.is_meant(rest):
        return board.pins.command(caller, rest)
    return _pin_memory(board.records, caller, rest)


def _pin_memory(records, caller, rest: str):
    ref, _, what = rest.partition(" ")
    if not ref or what not in ("", "off"):
        raise ArgumentError("/pin", "needs the id of a memory, such as m12, and off to let it leave as others do.")
    record, pinned = records.get(ref, caller), not what
    if bool(record.get("pinned")) == pinned:
        yield "%s is %s" % (record["id"], "already pinned" if pinned else "not pinned")
        return
    records.update(ref, {"pinned": pinned}, caller)
    change = "is pinned" if pinned else "is no longer pinned"
    yield "%s %s: %s" % (record["id"], change, snippet(record["content"], _WIDTH))
