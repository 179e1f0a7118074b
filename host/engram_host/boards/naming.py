"""How messages name the commands for a board: `make backup` under make, else `engram board backup`."""

import os

VARIABLE = "ENGRAM_UNDER_MAKE"
"""The Makefile sets it in the environment."""

_FLAGS = {"ERASE_MEMORY"}


def command_name(name: str) -> str:
    """The command for a board as a person types it, in backquotes."""
    return f"`make {name}`" if under_make() else f"`engram board {name}`"


def option_name(name: str, value: str = "...") -> str:
    """An option of such a command, such as PORT: PORT=... for make, --port for `engram board`."""
    if under_make():
        return f"{name}=1" if name in _FLAGS else f"{name}={value}"
    flag = "--" + name.lower().replace("_", "-")
    return flag if name in _FLAGS or value == "..." else f"{flag} {value}"


def under_make() -> bool:
    """Whether this process runs a command of the Makefile."""
    return bool(os.environ.get(VARIABLE))
