"""The commands about the board as a whole: /help, /stats, /companion, /mode, /compact and /json."""

from engram import __version__, diag
from engram.channels.console.commands.commands import only_owner
from engram.compat import heap_free, heap_used
from engram.errors import ArgumentError
from engram.memory import access

HELP = """\
/help [COMMAND]
    what there is to type
/memory [list [PAGE] | tags | show ID | history ID]
    what is remembered; alone: today's and the counts
/recall [--explain] QUERY
    find memories and turns by words; --explain: what each score is made of
/forget ID | QUERY
    forget a memory (m12) or a turn (t12); a query lists candidates
/pin ID
    keep a memory whatever happens: it never leaves for want of room
/unpin ID
    let it leave again as others do
/undo
    take the latest change of memory, profile or notes back
/session [new [TITLE] | list | switch ID | delete ID]
    threads of conversation; alone: the present one
/profile [FILE [add TEXT | write TEXT | replace OLD => NEW]]
    show or edit user.md, soul.md, identity.md
/intents [list | remove ID]
    what comes up and what you are then reminded of
/mode [full | lightweight]
    which memory the agent uses; the other one is kept
/note TEXT
    add a line to today's note
/distill
    turn the notes that wait into memories; /undo takes all of it back
/clear [DAY]
    empty the notes of today, or of a day such as 2026-01-31; memories stay
/dedupe
    look for memories that say the same, and let the lesser one go
/export [md | trash]
    all memories, profile and notes as JSON Lines; md: memories as Markdown; trash: what left
/import FILE | OBJECT
    take memories from a .jsonl file of the board or a JSON object
/compact
    take what was forgotten off the flash
/companion
    the link to the companion: whether there is one, and what it has of the board's logs
/stats
    how the board is doing
/workspace [ID | off]
    the workspace of this conversation: who is in it shares what is tagged ws:ID
/json on | off
    on the serial line: one JSON object a line, for programs
All else is a message to the agent."""
"""Each command, and below it what it is for."""


def help_command(board, caller, rest: str):
    """List the commands, or tell of one."""
    if not rest:
        yield from HELP.split("\n")
        return
    wanted = "/" + rest.strip("/")
    is_wanted = is_known = False
    for line in HELP.split("\n"):
        if line[0] != " ":
            is_wanted = line.split()[0] == wanted
        if is_wanted:
            is_known = True
            yield line
    if not is_known:
        raise ArgumentError("/help", "there is no command %s; /help alone lists them." % wanted[:21])


def stats_command(board, caller, rest: str):
    """Tell how the board is doing: the owner all, others what concerns them."""
    config, clock, records, journal = board.config, board.clock, board.records, board.journal
    model = board.agent.model
    yield _row("version", __version__)
    yield _row("time", clock.minute(clock.now()) + ("" if clock.known else " (a guess: the clock is not set)"))
    yield _row("mode", config.get("mode"))
    yield _row("model", model.name if model else "none, offline")
    if not access.is_owner(caller):
        yield _row("memories", "%d" % records.count(caller))
        return
    yield _row("memories", _memories(board, caller))
    yield _row("turns", "%d, %d bytes" % (journal.turns(), journal.bytes))
    yield _row("answered", "%d since the start, %d failed" % (board.agent.turns, board.agent.failed))
    damaged = records.damaged + journal.damaged + board.intents.damaged
    yield _row("damaged", "%d lines set aside since the start" % damaged)
    yield _row("heap", "%d bytes used, %d free" % (heap_used(), heap_free()))
    for name, line in board.jobs.status_lines() if board.jobs else ():
        yield _row(name, line)
    if board.companion:
        yield _row("companion", board.companion.short())
    yield from _archive(board.companion, board.archived)
    if journal.unsent:
        yield _row("journal", "%d lines of old turns left that the companion never had" % journal.unsent)
    if board.network:
        yield _row("network", board.network.status())
    if board.recall.partial:
        yield _row("index", board.recall.partial)
    if journal.dropped_segments:
        yield _row("journal", "%d segments of old turns left to make room" % journal.dropped_segments)
    for line in diag.lines():
        yield "log       " + line


def _row(name: str, value: str) -> str:
    return "%-9s %s" % (name, value)


def _memories(board, caller) -> str:
    records, eviction, trash = board.records, board.capacity, board.trash
    told = "%d, %d bytes" % (records.count(caller), records.bytes)
    if eviction.archived:
        told += "; %d went to the companion since the start" % eviction.archived
    if eviction.left or trash.bytes:
        told += "; %d left for want of room since the start, the trash has %d bytes" % (eviction.left, trash.bytes)
    return told + ("; " + eviction.why if eviction.why else "")


def _archive(companion, archived):
    if companion and companion.archive:
        told = companion.archive.status()
        if told:
            yield _row("archive", "%s are with the companion%s" % (told, companion.unreachable()))
        if archived.damage:
            yield _row("archive", archived.damage)
        if companion.archive.missed:
            missed = companion.archive.missed
            yield _row("journal", "turns up to t%d left that the companion may not have" % missed)
    elif archived and archived.total:
        told = "%d memories are with a companion that is not set up here any more (companion.url, archive.on)"
        yield _row("archive", told % archived.total)


def companion_command(board, caller, rest: str):
    """Tell how the link to the companion is."""
    only_owner(caller, "/companion")
    if board.companion:
        yield from board.companion.status_lines()
    else:
        yield "no companion is set up (companion.url, see docs/companion.md); the board needs none"


def mode_command(board, caller, rest: str):
    """Show or set which memory the agent uses."""
    if rest:
        only_owner(caller, "/mode")
        board.config.save("mode", rest)
        board.tools.mode = rest
    yield "%s mode%s" % (board.config.get("mode"), "; nothing of the other mode is lost" if rest else "")


def compact_command(board, caller, rest: str):
    """Take what was forgotten off the flash."""
    only_owner(caller, "/compact")
    saved = 0
    for log in (board.records, board.journal):
        before = log.bytes
        work = log.compacting()
        try:
            for _ in work:
                yield 0
        finally:
            # MicroPython ends no generator by itself that is dropped half-way: no other compaction would begin.
            work.close()
        saved += before - log.bytes
    yield "%d bytes came free" % saved if saved > 0 else "there was nothing to free"


def json_command(board, caller, rest: str):
    """Say that this is for the serial line: where it fits, the console takes it before it gets here."""
    if rest != "off":
        raise ArgumentError("/json", "takes on or off, and on only on the serial line.")
    yield "it is off"
