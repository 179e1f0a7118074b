"""The commands about the board's state: /stats and /companion."""

from engram import __version__, diag, native
from engram.channels.console.commands import only_owner
from engram.compat import heap_free, heap_used
from engram.memory import access
from engram.status import find_status


def stats_command(board, caller, _rest: str):
    yield _row("version", __version__)
    clock, records, journal = board.clock, board.records, board.journal
    yield _row("time", clock.minute(clock.now()) if clock.known else "not known: the clock is not set")
    yield _row("mode", board.config.get("mode"))
    yield _row("model", board.model.name if board.model else "none, offline")
    if not access.is_owner(caller):
        yield _row("memories", "%d" % records.count(caller))
        return
    yield _row("memories", _memories(records, board.eviction, caller))
    yield _row("turns", "%d, %d bytes" % (journal.entries.count(), journal.entries.bytes))
    yield from _figures(
        find_status(board), records.entries.damaged + journal.entries.damaged + board.timers.table.damaged
    )
    for name, line in board.jobs.status_lines() if board.jobs else ():
        yield _row(name, line)
    if board.companion:
        yield _row("companion", board.companion.short())
    yield from _archive(board.companion, board.archived)
    if journal.unsent:
        yield _row("journal", "lines evicted before the companion had them: %d" % journal.unsent)
    if board.telegram:
        yield _row("telegram", board.telegram.short())
    if board.network:
        yield _row("network", board.network.status())
    partial = board.recall.partial
    if partial:
        yield _row("index", partial)
    if journal.dropped_segments:
        yield _row("journal", "segments of old turns evicted: %d" % journal.dropped_segments)
    for line in diag.lines():
        yield "log       " + line


def _row(name: str, value: str) -> str:
    return "%-9s %s" % (name, value)


def _memories(records, eviction, caller) -> str:
    told = "%d, %d bytes" % (records.count(caller), records.entries.bytes)
    if eviction.archived:
        told += "; archived since the start: %d" % eviction.archived
    if eviction.left:
        told += "; evicted since the start: %d" % eviction.left
    return told + ("; " + eviction.why if eviction.why else "")


def _figures(status: dict, damaged: int):
    yield _row("answered", "%d since the start, %d failed" % (status["turns"], status["failed"]))
    if status["model"]:
        told = "%d requests since the start, %d tokens" % (status["calls"], status["tokens"])
        yield _row("asked", told + ("; the last time: " + status["model_problem"] if status["model_problem"] else ""))
    if status["searches"]:
        yield _row("searches", "%d since the start, %d found nothing" % (status["searches"], status["searches_empty"]))
    yield _row("damaged", "lines set aside since the start: %d" % damaged)
    if not native.IS_NATIVE:
        yield _row("code", "plain: this MicroPython takes no native code, and searches take longer")
    yield _row("heap", "%d bytes used, %d free" % (heap_used(), heap_free()))
    yield _row("flash", "%d of %d KB used" % (status["flash"] >> 10, status["flash_size"] >> 10))


def _archive(companion, archived):
    if companion and companion.archive:
        told = companion.archive.status()
        if told:
            yield _row("archive", "%s with the companion%s" % (told, companion.unreachable()))
        if companion.archive.missed:
            missed = companion.archive.missed
            yield _row("journal", "turns up to t%d were evicted; the companion may not have them" % missed)
    elif archived and archived.total:
        told = "memories with a companion that is no longer set up (companion.url, archive.on): %d"
        yield _row("archive", told % archived.total)


def companion_command(board, caller, _rest: str):
    only_owner(caller, "/companion")
    if board.companion is None:
        yield "no companion is set up (see docs/start/companion.md); the board needs none"
    else:
        yield from board.companion.status_lines()
