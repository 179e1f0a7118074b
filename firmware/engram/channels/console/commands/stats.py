"""The commands that tell how the board is doing: /stats and /companion."""

from engram import __version__, diag
from engram.channels.console.commands import only_owner
from engram.compat import heap_free, heap_used
from engram.memory import access


def stats_command(
    config,
    clock,
    agent,
    model,
    records,
    eviction,
    trash,
    journal,
    reminders,
    make_recall,
    jobs,
    companion,
    archived,
    network,
    caller,
    rest,
):
    """Tell how the board is doing: the owner all, others what concerns them."""
    yield _row("version", __version__)
    yield _row("time", clock.minute(clock.now()) + ("" if clock.known else " (a guess: the clock is not set)"))
    yield _row("mode", config.get("mode"))
    yield _row("model", model.name if model else "none, offline")
    if not access.is_owner(caller):
        yield _row("memories", "%d" % records.count(caller))
        return
    yield _row("memories", _memories(records, eviction, trash, caller))
    yield _row("turns", "%d, %d bytes" % (journal.entries.count(), journal.bytes))
    yield _row("answered", "%d since the start, %d failed" % (agent.turns, agent.failed))
    damaged = records.damaged + journal.damaged + reminders.damaged
    yield _row("damaged", "lines set aside since the start: %d" % damaged)
    yield _row("heap", "%d bytes used, %d free" % (heap_used(), heap_free()))
    for name, line in jobs.status_lines() if jobs else ():
        yield _row(name, line)
    if companion:
        yield _row("companion", companion.short())
    yield from _archive(companion, archived)
    if journal.unsent:
        yield _row("journal", "lines evicted before the companion had them: %d" % journal.unsent)
    if network:
        yield _row("network", network.status())
    partial = make_recall().partial
    if partial:
        yield _row("index", partial)
    if journal.dropped_segments:
        yield _row("journal", "segments of old turns evicted: %d" % journal.dropped_segments)
    for line in diag.lines():
        yield "log       " + line


def _row(name: str, value: str) -> str:
    return "%-9s %s" % (name, value)


def _memories(records, eviction, trash, caller) -> str:
    told = "%d, %d bytes" % (records.count(caller), records.bytes)
    if eviction.archived:
        told += "; archived since the start: %d" % eviction.archived
    if eviction.left or trash.bytes:
        told += "; evicted since the start: %d, the trash has %d bytes" % (eviction.left, trash.bytes)
    return told + ("; " + eviction.why if eviction.why else "")


def _archive(companion, archived):
    if companion and companion.archive:
        told = companion.archive.status()
        if told:
            yield _row("archive", "%s with the companion%s" % (told, companion.unreachable()))
        if archived.damage:
            yield _row("archive", archived.damage)
        if companion.archive.missed:
            missed = companion.archive.missed
            yield _row("journal", "turns up to t%d were evicted; the companion may not have them" % missed)
    elif archived and archived.total:
        told = "memories with a companion that is no longer set up (companion.url, archive.on): %d"
        yield _row("archive", told % archived.total)


def companion_command(companion, caller, rest: str):
    """Tell how the link to the companion is."""
    only_owner(caller, "/companion")
    if companion is None:
        yield "no companion is set up (see docs/start/companion.md); the board needs none"
        return
    yield from companion.status_lines()
