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
    """A wrong argument, profile, setting or file."""


class NoFile(BadRequest):
    """A file or folder that was named is not there."""


class NoPort(BoardError):
    """No board is plugged in, or there is no port of that name."""


class PortBusy(BoardError):
    """The port cannot be opened: another program has it, or this person may not."""


class NoBoardAnswer(BoardError):
    """Nothing that can be understood answers on the port, or it stopped answering."""


class WrongBoard(BoardError):
    """The chip, its flash or what runs on it is not what was named."""


class WrongFirmware(BoardError):
    """The MicroPython, in a file or on the board, is none, another chip's, or too old."""


class MemoryAtRisk(BoardError):
    """The board holds what would be lost; `holds` says what."""

    def __init__(self, holds: list[str], advice: str):
        super().__init__(f"the board holds {listed(holds)}: {advice}")
        self.holds = holds


class BoardFailed(BoardError):
    """The board could not do what it was asked for."""


class Garbled(BoardFailed):
    """What went over the line did not arrive as it was sent."""


# --- commands as messages name them


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
