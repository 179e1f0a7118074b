"""Warnings of boards, with remedies."""

from engram_host.companion.alerts.board_warnings import board_warnings
from engram_host.companion.store.boards.status import BoardStatus
from engram_host.companion.store.page.types import BoardRow
from engram_host.sentences import Sentence, SentenceTable

LONG_SECONDS = 86400  # age of an undelivered message or of uncopied lines that is worth a warning
_CLOCK_SECONDS = 300
COPY_WARNINGS = SentenceTable(
    "copy_warning",
    {
        "damaged": (
            "{n} line of its copy is damaged: the board sends it again if it still has it; else restore a backup.",
            "{n} lines of its copy are damaged: the board sends again what it still has; restore "
            "a backup for the others.",
        ),
        "waiting": (
            "{n} message waits for it for more than a day: see that it is switched on and reaches the companion.",
            "{n} messages wait for it for more than a day: see that it is switched on and reaches the companion.",
        ),
        "uncopied": (
            "{n} line on the board is not copied, and it is away: see that it is switched on and reaches the companion.",
            "{n} lines on the board are not copied, and it is away: see that it is switched on and reaches the companion.",
        ),
        "clock": "it was heard at a time in the future: this computer's clock was wrong, or is.",
    },
)


def find_warnings(row: BoardRow, damaged: int, now: int) -> tuple[Sentence, ...]:
    """List a board's warnings; `damaged` counts bad lines of its copy."""
    found: list[Sentence] = []
    if damaged:
        found.append(COPY_WARNINGS.say("damaged", n=damaged))
    if row.waiting and now - row.waiting_since > LONG_SECONDS:
        found.append(COPY_WARNINGS.say("waiting", n=row.waiting))
    if row.missing and now - row.heard > LONG_SECONDS:
        found.append(COPY_WARNINGS.say("uncopied", n=row.missing))
    if row.heard > now + _CLOCK_SECONDS:
        found.append(COPY_WARNINGS.say("clock"))
    return tuple(found)


def status_warnings(status: BoardStatus | None, flash_percent: int) -> tuple[Sentence, ...]:
    """List the warnings of a board's last report; a flash counts as nearly full from flash_percent."""
    return tuple(board_warnings(status, flash_percent))
