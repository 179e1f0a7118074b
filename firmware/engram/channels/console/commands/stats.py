"""The board's state: the command /stats, and the figures for a companion (docs/reference/messages.md)."""

import os

from engram import __version__, diag, files, native, text
from engram.compat import heap_free, heap_used
from engram.memory import access

_DRIFT = const(65536)  # bytes that the logs may change by until the flash in use is counted again
_NAME_LONGEST = const(64)  # characters of a model's name
_PROBLEM_LONGEST = const(200)  # of a sentence
_CAUSES = ("PWRON_RESET power", "HARD_RESET reset", "WDT_RESET watchdog", "DEEPSLEEP_RESET sleep", "SOFT_RESET soft")


def stats_command(board, caller, _rest: str):
    yield _row("version", __version__)
    clock, records, journal = board.clock, board.records, board.journal
    yield _row("time", clock.minute(clock.now()) if clock.known else "not known: the clock is not set")
    yield _row("mode", board.config.get("mode"))
    without = "; calls no tools" + board.model.no_tools if board.model and board.model.no_tools else ""
    without += "; window " + board.window.said if board.window and board.window.said else ""
    yield _row("model", board.model.name + without if board.model else "none, offline")
    if not access.is_owner(caller):
        yield _row("memories", "%d" % records.count(caller))
        return
    yield _row("memories", _memories(records, board.eviction, caller))
    yield _row("turns", "%d, %d bytes" % (journal.entries.count(), journal.entries.bytes))
    damaged = records.entries.damaged + journal.entries.damaged + board.timers.table.damaged
    yield from _figures(find_status(board), damaged)
    for name, line in board.jobs.status_lines() if board.jobs else ():
        yield _row(name, line)
    for line in board.companion.status_lines() if board.companion else ():
        yield _row("companion", line)
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


# --- figures


def find_status(board) -> dict:
    """Return the figures of the message `status`; counts are since the start."""
    used, size = flash_use(board)
    records, agent, model = board.records, board.agent, board.model
    found = {
        "firmware": __version__,
        "mode": board.config.get("mode"),
        "flash": used,
        "flash_size": size,
        "records_bytes": records.entries.bytes,
        "records_cap": board.config.get("records.bytes"),
        "memories": records.entries.count(),
        "kept_turns": board.journal.entries.count(),
        "turns": agent.turns,
        "failed": agent.failed,
        "searches": board.searches[0],
        "searches_empty": board.searches[1],
        "errors": diag.errors,
        "model": "",
    }
    if heap_free() >= 0:
        found["heap"] = heap_free()
        found["heap_size"] = heap_free() + heap_used()
    if model:
        found["model"] = text.cut(model.name, _NAME_LONGEST)
        found["calls"] = model.calls
        found["tokens"] = model.tokens
        found["model_problem"] = _sentence(model.problem)
    if board.pins:
        found["pins"] = board.pins.values()
    cause = reset_cause()
    if cause:
        found["reset"] = cause
    found["telegram"], found["telegram_problem"] = _telegram(board)
    return found


def flash_use(board) -> tuple:
    """Return (bytes used, bytes in all): the latest walk plus the logs' changes."""
    if not board.flash_walk:
        walk_flash(board)
    used, size, logs = board.flash_walk
    return max(0, used + log_bytes(board) - logs), size


def log_bytes(board) -> int:
    return board.records.entries.bytes + board.journal.entries.bytes


def walk_flash(board) -> None:
    """Count used blocks, unless little changed: it blocks for seconds."""
    if board.flash_walk and abs(log_bytes(board) - board.flash_walk[2]) < _DRIFT:
        return
    try:
        found = os.statvfs(board.folder or "/")
    except OSError as error:
        raise files.failure(error, board.folder) from None
    board.flash_walk = found[1] * (found[2] - found[3]), found[1] * found[2], log_bytes(board)


def reset_cause() -> str:
    """Return a chip's reset cause in a word, "" elsewhere."""
    try:
        import machine  # of the chip only
    except ImportError:
        return ""
    # The unix port has a module of this name, too.
    cause = machine.reset_cause() if hasattr(machine, "reset_cause") else None
    for each in _CAUSES:
        name, _, word = each.partition(" ")
        if cause is not None and getattr(machine, name, None) == cause:
            return word
    return ""


def _telegram(board) -> tuple:
    if board.telegram is None:
        return "off", ""
    poller = board.telegram.poller
    if not poller.problem:
        return "on", ""
    return ("stopped" if poller.is_stopped else "away"), _sentence(poller.problem)


def _sentence(problem: str) -> str:
    return text.cut(text.printable(problem), _PROBLEM_LONGEST)
