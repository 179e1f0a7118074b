"""Every error of the commands for boards, in one tree.

    BoardError           what none of the others says
      BadRequest         a wrong argument, profile, setting or file
        NoFile           a file or folder that was named is not there
      NoPort             no board is plugged in, or there is no such port
      PortBusy           another program has the port, or this person may not open it
      NoBoardAnswer      nothing that can be understood answers on the port, or it stopped answering
      WrongBoard         the chip, its flash or what runs on it is not what was named
      WrongFirmware      the MicroPython, in a file or on the board, is none, another chip's, or too old
      MemoryAtRisk       the board holds what would be lost
      BoardFailed        the board could not do it: its flash is full, a file is missing there
        Garbled          what went over the line did not arrive as it was sent

str(error) is one sentence for a person: what is wrong, and what to do. It decides the exit status (see cli/exit_status.py).
"""

import os

from engram_host.wording import listed


class BoardError(Exception):
    """Base of all errors of the commands for boards."""


class BadRequest(BoardError):
    """Invalid argument, profile, setting or file."""


class NoFile(BadRequest):
    """Missing file or folder."""


class NoPort(BoardError):
    """No board is plugged in, or the named port does not exist."""


class PortBusy(BoardError):
    """The port is in use by another program, or this user may not open it."""


class NoBoardAnswer(BoardError):
    """The board sends nothing, or nothing that can be understood."""


class WrongBoard(BoardError):
    """The chip, its flash or its program is not the expected one."""


class WrongFirmware(BoardError):
    """The MicroPython is invalid, for another chip, or too old."""


class MemoryAtRisk(BoardError):
    """The board holds data that would be lost; `holds` describes it."""

    def __init__(self, holds: list[str], advice: str):
        super().__init__(f"the board holds {listed(holds)}: {advice}")
        self.holds = holds


class BoardFailed(BoardError):
    """The board could not do it: full flash, missing file."""


class Garbled(BoardFailed):
    """Data were damaged on the serial line."""


# --- commands in messages


VARIABLE = "ENGRAM_UNDER_MAKE"

_FLAGS = {"ERASE_MEMORY"}


def command_name(name: str) -> str:
    """Return a board command as a person types it, in backquotes."""
    return f"`make {name}`" if under_make() else f"`engram board {name}`"


def option_name(name: str, value: str = "...") -> str:
    """Return an option such as PORT: PORT=... for make, --port for `engram board`."""
    if under_make():
        return f"{name}=1" if name in _FLAGS else f"{name}={value}"
    flag = "--" + name.lower().replace("_", "-")
    return flag if name in _FLAGS or value == "..." else f"{flag} {value}"


def under_make() -> bool:
    return bool(os.environ.get(VARIABLE))
