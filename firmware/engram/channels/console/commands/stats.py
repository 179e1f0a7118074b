"""The commands that tell how the board is doing: /stats and /companion."""

from engram import __version__, diag
from engram.channels.console.commands.commands import only_owner
from engram.compat import heap_free, heap_used
from engram.memory import access


def stats_command(parts, caller, rest: str):
    """Tell how the board is doing: the owner all, others what concerns them."""
    clock = parts.clock
    model = parts.agent.model
    rows = (
        ("version", __version__),
        ("time", clock.minute(clock.now()) + ("" if clock.known else " (a guess: the clock is not set)")),
        ("mode", parts.config.get("mode")),
        ("model", model.name if model else "none, offline"),
        ("memories", _memories_status(parts, caller)),
    )
    for name, value in rows:
        yield "%-9s %s" % (name, value)
    if access.is_owner(caller):
        yield from _all_status(parts)


def _all_status(parts):
    """What concerns the whole board, and everybody on it."""
    damaged = sum(part.damaged for part in (parts.records, parts.journal, parts.intents))
    rows = (
        ("turns", "%d, %d bytes" % (parts.journal.turns(), parts.journal.bytes)),
        ("answered", "%d since the start, %d failed" % (parts.agent.turns, parts.agent.failed)),
        ("damaged", "%d lines set aside since the start" % damaged),
        ("heap", "%d bytes used, %d free" % (heap_used(), heap_free())),
    )
    for name, value in rows:
        yield "%-9s %s" % (name, value)
    for name, told in parts.agent.after.status_lines() if parts.agent.after else ():
        yield "%-9s %s" % (name, told)
    if parts.companion:
        yield "%-9s %s" % ("companion", parts.companion.short())
    yield from _archive_status(parts)
    if parts.network:
        yield "%-9s %s" % ("network", parts.network.status())
    if parts.recall.partial:
        yield "%-9s %s" % ("index", parts.recall.partial)
    if parts.journal.dropped_segments:
        yield "%-9s %d segments of old turns left to make room" % ("journal", parts.journal.dropped_segments)
    for line in diag.lines():
        yield "log       " + line


def _archive_status(parts):
    if parts.companion and parts.companion.archive:
        told = parts.companion.archive.status()
        if told:
            yield "%-9s %s are with the companion%s" % ("archive", told, parts.companion.unreachable())
        if parts.archived.damage:
            yield "%-9s %s" % ("archive", parts.archived.damage)
        if parts.companion.archive.missed:
            yield "%-9s turns up to t%d left that the companion may not have" % (
                "journal",
                parts.companion.archive.missed,
            )
    elif parts.archived and parts.archived.total:
        told = "%d memories are with a companion that is not set up here any more (companion.url, archive.on)"
        yield "%-9s %s" % ("archive", told % parts.archived.total)
    if parts.journal.unsent:
        yield "%-9s %d lines of old turns left that the companion never had" % ("journal", parts.journal.unsent)


def companion_command(parts, caller, rest: str):
    """Tell how the link to the companion is."""
    only_owner(caller, "/companion")
    if parts.companion is None:
        yield "no companion is set up (companion.url, see docs/companion.md); the board needs none"
        return
    yield from parts.companion.status_lines()


def _memories_status(parts, caller) -> str:
    told = "%d" % parts.records.count(caller)
    if not access.is_owner(caller):
        return told
    told += ", %d bytes" % parts.records.bytes
    if parts.capacity.archived:
        told += "; %d went to the companion since the start" % parts.capacity.archived
    if parts.capacity.left or parts.trash.bytes:
        told += "; %d left for want of room since the start, the trash has %d bytes" % (
            parts.capacity.left,
            parts.trash.bytes,
        )
    return told + ("; " + parts.capacity.why if parts.capacity.why else "")
