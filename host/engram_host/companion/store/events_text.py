"""What a board and its person are told when something has happened to a copy."""

from engram_host.companion.types import LogName
from engram_host.wording import counted

HELLO_FIRST = "say hello first."


def two_boards(device: str, known: str, other: str) -> str:
    """Two boards have one name."""
    return (
        f'two boards are called "{device}": {known}, which was here a moment ago, and {other}. '
        "Give one of them another companion.device."
    )


def first_time(device: str) -> str:
    """Nothing is known of a board."""
    return f'"{device}" is new to this companion: it takes a copy of all that the board has.'


def another_board(device: str, known: str, other: str) -> str:
    """A board has taken the name of one that is silent."""
    return f'"{device}" is another board now: {other} in place of {known}.'


def older_flash(known: int, told: int) -> str:
    """A board counts its connections anew."""
    return f"the board's flash is an older or an empty one: it counts connection {told}, and {known} was here before."


def new_epoch(log: LogName, have: int) -> str:
    """A log began anew."""
    return f"the board's {log} began anew. Its former copy, up to line {have}, is kept, and no search finds it."


def epoch_again(log: LogName, have: int) -> str:
    """A former log is back."""
    return f"the board's {log} is one that was here before: its copy, up to line {have}, is in use again."


def went_back(log: LogName, last: int, lines: int) -> str:
    """A board has less than the copy."""
    later = counted(lines, "later line of the copy was", "later lines of the copy were")
    return f"the board's {log} went back to line {last}: {later} set aside."


def older_database(have: int, told: int) -> str:
    """The database has less than the board was told of."""
    return (
        f"this database has the board's records up to line {have}, and the board knows of one that had line {told}: it is an "
        "older one, so what the board has no more is kept until the board has said what its archive has."
    )


def archived_again(count: int) -> str:
    """Memories are in the archive again."""
    return (
        f"{counted(count, 'memory is', 'memories are')} archived again that the board's archive has and this database did "
        "not know of. What was forgotten since the backup was made may be among them: forget it again."
    )


def lost_before(log: LogName, oldest: int, lines: int) -> str:
    """A board's flash has lost its oldest lines."""
    return (
        f"the board's flash has lost its {log} before line {oldest}: "
        f"{counted(lines, 'line of the copy was', 'lines of the copy were')} set aside."
    )


def left_before(log: LogName, first: int, last: int) -> str:
    """Lines that nobody has any more."""
    return f"the board's {log} had let lines {first} to {last} go before they were copied: there is no copy of them."
