"""Every error of the commands for boards, in one tree; each has an exit status of its own.

    BoardError         1  what none of the others says
      BadRequest       2  a wrong argument, profile, setting or file
      NoPort           3  no board is plugged in, or there is no such port
      PortBusy         4  another program has the port, or this person may not open it
      NoAnswer         5  nothing that can be understood answers on the port, or it stopped answering
      WrongBoard       6  the chip, its flash or what runs on it is not what was named
      WrongFirmware    7  the MicroPython, in a file or on the board, is none, another chip's, or too old
      MemoryAtRisk     8  the board holds what would be lost
      BoardFailed      9  the board could not do it: its flash is full, a file is missing there
        Garbled           what went over the line did not arrive as it was sent

str(error) is one sentence for a person: what is wrong, and what to do.
"""


class BoardError(Exception):
    """Base of all errors of the commands for boards."""

    status = 1


class BadRequest(BoardError):
    """A wrong argument, profile, setting or file."""

    status = 2


class NoPort(BoardError):
    """No board is plugged in, or there is no port of that name."""

    status = 3


class PortBusy(BoardError):
    """The port cannot be opened: another program has it, or this person may not."""

    status = 4


class NoAnswer(BoardError):
    """Nothing that can be understood answers on the port, or it stopped answering."""

    status = 5


class WrongBoard(BoardError):
    """The chip, its flash or what runs on it is not what was named."""

    status = 6


class WrongFirmware(BoardError):
    """The MicroPython, in a file or on the board, is none, another chip's, or too old."""

    status = 7


class MemoryAtRisk(BoardError):
    """The board holds what would be lost; `holds` says what."""

    status = 8

    def __init__(self, holds: list[str], advice: str):
        super().__init__(f"the board holds {listed(holds)}: {advice}")
        self.holds = holds


class BoardFailed(BoardError):
    """The board could not do what it was asked for."""

    status = 9


class Garbled(BoardFailed):
    """What went over the line did not arrive as it was sent."""


def listed(things: list[str]) -> str:
    """Things as a person lists them: a, b and c."""
    return ", ".join(things[:-1]) + " and " + things[-1] if len(things) > 1 else "".join(things)


def kilobytes(size: int) -> str:
    """A number of bytes for a person."""
    return f"{size} bytes" if size < 1024 else f"{(size + 512) // 1024:,} KB"
