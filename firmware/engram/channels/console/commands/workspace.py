"""The command that says in which workspace the owner is; for all others their channel says it."""

from engram.errors import ArgumentError
from engram.memory import caller_check
from engram.memory.access import OWNER

_SETTING = "console.workspace"


def workspace_command(config, caller, rest: str):
    """Show the workspace, enter one or leave it."""
    present = caller.workspace
    if rest:
        if (caller.principal, caller.room) != OWNER[:2]:
            raise ArgumentError("/workspace", "is set by the channel here: only the owner changes it, on the console.")
        present = "" if rest == "off" else caller_check.workspace("/workspace", rest)
        config.save(_SETTING, present)
    if present:
        yield "in the workspace %s: a memory tagged ws:%s is for all who are in it" % (present, present)
    else:
        yield "in no workspace"
