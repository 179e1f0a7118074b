"""Warnings from a board's own report, with remedies."""

from engram import __version__ as FIRMWARE
from engram_host.companion.store.boards.status import BoardStatus
from engram_host.sentences import Sentence, SentenceTable

# Points below the bound at which the flash counts as better, so that warnings do not flap.
ROOM_AGAIN_PERCENT = 3
BOARD_WARNINGS = SentenceTable("board_warning")


def board_warnings(status: BoardStatus | None, flash_percent: int, newest: str = FIRMWARE) -> list[Sentence]:
    """List a board's warnings; flash_percent 0 disables the one on flash, `newest` is this firmware."""
    say = BOARD_WARNINGS.say
    if status is None:
        return [say("no_report")]
    found = [flash_warning(status.flash_percent)] if is_nearly_full(status.flash_percent, flash_percent) else []
    if not status.model:
        found.append(say("no_model"))
    elif status.model_problem:
        found.append(say("model_failed", problem=_sentence(status.model_problem)))
    if status.telegram in ("stopped", "away"):
        found.append(say(f"telegram_{status.telegram}", problem=_sentence(status.telegram_problem)))
    if status.reset == "watchdog":
        found.append(say("watchdog"))
    if not status.firmware:
        found.append(say("firmware_unknown", newest=newest))
    elif _release(status.firmware) < _release(newest):
        found.append(say("firmware", firmware=status.firmware, newest=newest))
    return found


def is_nearly_full(percent: int | None, bound: int) -> bool:
    """True if a flash is nearly full; a bound of 0 is none."""
    return bool(bound) and percent is not None and percent >= bound


def flash_warning(percent: int | None) -> Sentence:
    return BOARD_WARNINGS.say("flash", percent=percent or 0)


def _sentence(problem: str) -> str:
    said = problem.strip() or "it did not say why"
    return said if said.endswith(".") else said + "."


def _release(version: str) -> tuple[int, ...]:
    parts = version.split(".")
    return tuple(int(part) for part in parts) if all(part.isascii() and part.isdigit() for part in parts) else ()
