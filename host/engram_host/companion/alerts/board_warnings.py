"""What a person should know of a board that it tells by itself: sentences that say what to do."""

from engram import __version__ as FIRMWARE
from engram_host.companion.store.boards.status import BoardStatus

ROOM_AGAIN_PERCENT = 3
"""How far the use of the flash falls below the bound before it counts as better: else each message would be news."""

_UPDATE = "update it with `engram board deploy`."


def board_warnings(status: BoardStatus | None, flash_percent: int, newest: str = FIRMWARE) -> list[str]:
    """What is wrong with a board by what it told last, None if it told nothing.

    From `flash_percent` on its flash is nearly full (0: never); `newest` is the firmware that this computer has.
    """
    if status is None:
        return [f"It has not told how it is: if it has been connected for some minutes, {_UPDATE}"]
    found = [flash_warning(status.flash_percent)] if is_nearly_full(status.flash_percent, flash_percent) else []
    if not status.model:
        found.append("It has no model, so it only answers plain commands: `engram board setup` sets one.")
    elif status.model_problem:
        found.append(f"Its model gave no answer the last time: {_sentence(status.model_problem)}")
    if status.telegram == "stopped":
        why = _sentence(status.telegram_problem)
        found.append(f"Telegram is stopped until somebody acts: {why} Then restart the board.")
    elif status.telegram == "away":
        found.append(f"Telegram is not reached, and tried again: {_sentence(status.telegram_problem)}")
    if status.reset == "watchdog":
        found.append("Its watchdog restarted it: type /stats on it, and look at its log if that happens again.")
    if _release(status.firmware) < _release(newest):
        found.append(f"Its firmware is {status.firmware or 'unknown'}, and {newest} is here: {_UPDATE}")
    return found


def is_nearly_full(percent: int | None, bound: int) -> bool:
    """Whether a flash that is so full is nearly full; a bound of 0 is none."""
    return bool(bound) and percent is not None and percent >= bound


def flash_warning(percent: int | None) -> str:
    """The sentence on a flash that is nearly full."""
    return (
        f"Its flash is {percent} % full: forget what is not needed and type /compact, remove files, or lower records.bytes and "
        "journal.bytes."
    )


def _sentence(problem: str) -> str:
    """A problem as a sentence of its own."""
    said = problem.strip() or "it did not say why"
    return said if said.endswith(".") else said + "."


def _release(version: str) -> tuple[int, ...]:
    """The numbers of a version such as 0.1.0; those of what is none are lower than all."""
    parts = version.split(".")
    return tuple(int(part) for part in parts) if all(part.isascii() and part.isdigit() for part in parts) else ()
