"""The commands about the board as a whole: /mode, /compact and /json."""

from engram.channels.console.commands.commands import only_owner
from engram.errors import ArgumentError


def mode_command(config, caller, rest: str):
    """Show or set which memory the agent uses."""
    if rest:
        only_owner(caller, "/mode")
        config.save("mode", rest)
    yield "%s mode%s" % (config.get("mode"), "; nothing of the other mode is lost" if rest else "")


def compact_command(records, journal, caller, rest: str):
    """Take what was forgotten off the flash."""
    only_owner(caller, "/compact")
    saved = 0
    for log in (records, journal):
        before = log.bytes
        work = log.compacting()
        try:
            for _ in work:
                yield 0
        finally:
            # MicroPython ends no generator by itself that is dropped half-way: no other compaction would begin.
            work.close()
        saved += before - log.bytes
    yield "freed %d bytes" % saved if saved > 0 else "nothing to free"


def json_command(caller, rest: str):
    """Say that this is for the serial line: where it fits, the console takes it before it gets here."""
    if rest != "off":
        raise ArgumentError("/json", "takes on or off, and on only on the serial line.")
    yield "it is off"
