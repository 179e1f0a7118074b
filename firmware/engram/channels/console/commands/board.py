"""The commands about the board as a whole, its senses, timers and notes."""

from engram.channels.console.commands import only_owner
from engram.compat import ticks_add, ticks_diff, ticks_ms
from engram.errors import ArgumentError
from engram.memory import access
from engram.memory.access import OWNER
from engram.memory.journal.unkept import BEGUN, NOTICE
from engram.memory.recall import snippet
from engram.timers import timer_store
from engram.timers.timers import add as add_timer

_LOOK_MS = const(50)
_LONGEST_MS = const(180_000)  # that a person waits for a distillation; it goes on without
_WIDTH = const(100)


def senses_command(board, caller, rest: str):
    if board.sense_view is None:
        raise ArgumentError("/senses", "there are none yet: docs/guides/senses.md says how a board gets some.")
    return board.sense_view.command(caller, rest)


def mode_command(board, caller, rest: str):
    unkept = board.journal.unkept
    if rest == "off":
        unkept.begin(caller)
        yield BEGUN
        return
    if rest and not (unkept.is_on(caller) and rest == board.config.get("mode")):
        only_owner(caller, "/mode")
        board.config.save("mode", rest)
    change = "; nothing of the other mode is lost" + unkept.end(caller) if rest else ""
    yield "%s mode%s" % (board.config.get("mode"), change)
    if unkept.is_on(caller):
        yield NOTICE


def model_command(board, caller, rest: str):
    only_owner(caller, "/model")
    if rest not in ("", "test"):
        raise ArgumentError("/model", "takes test, or nothing.")
    config = board.config
    yield "model     %s at %s" % (config.get("llm.model") or "none", config.get("llm.url") or "no address")
    if rest:
        yield (yield board.check_model)


def setting_command(board, caller, rest: str):
    only_owner(caller, "/setting")
    name, _, value = rest.partition(" ")
    if value:
        if name == "companion.chat" and caller.room != OWNER.room:
            # People on the link must not extend its rights.
            raise ArgumentError(name, "is set on the console only.")
        board.config.change(name, value.strip())
        yield name + " is set; it holds from the board's next start at the latest"
        return
    count = 0
    for line in board.config.lines():
        count += 1
        if line.startswith(name):
            yield line
    yield "%d of all settings are set, the others have their defaults" % count


def workspace_command(board, caller, rest: str):
    present = caller.workspace
    if rest:
        if (caller.principal, caller.room) != OWNER[:2]:
            raise ArgumentError("/workspace", "is set by the channel here: only the owner changes it, on the console.")
        present = "" if rest == "off" else access.check_workspace("/workspace", rest)
        board.config.save("console.workspace", present)
    if present:
        yield "in the workspace %s: a memory tagged ws:%s is for all who are in it" % (present, present)
    else:
        yield "in no workspace"


def compact_command(board, caller, _rest: str):
    only_owner(caller, "/compact")
    saved = 0
    for log in (board.records, board.journal):
        before = log.entries.bytes
        work = log.compacting()
        try:
            for _ in work:
                yield 0
        finally:
            # MicroPython ends no generator by itself that is dropped half-way: no other compaction would begin.
            work.close()
        saved += before - log.entries.bytes
    yield "freed %d bytes" % saved if saved > 0 else "nothing to free"


def timers_command(board, caller, rest: str):
    timers = board.timers
    action, _, what = rest.partition(" ")
    what = what.strip()
    if action == "remove" and what:
        gone = timers.remove(caller, what)
        yield "removed %s: %s" % (gone["id"], gone["what"])
    elif action == "add" and what:
        yield add_timer(timers, caller, what)
    elif action in ("", "list") and not what:
        yield from _timer_lines(timers, caller)
    else:
        raise ArgumentError("/timers", "takes list, add TIME TEXT, add when WORDS: TEXT, or remove ID.")


def _timer_lines(timers, caller):
    found = timers.owned_by(caller)
    if not found:
        yield "there are none; try: /timers add tomorrow 8:00 water the plants"
    for row in found:
        yield "%-4s %s" % (row["id"], timer_store.describe(row, timers.clock))
        yield "     %s: %s" % (row["kind"], row["what"])
        if "last" in row:
            yield "     last " + timers.clock.minute(row["last"])


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
