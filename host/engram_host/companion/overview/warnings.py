"""What a person should know of a board, and what to do about it."""

from dataclasses import dataclass
from typing import Literal

from engram_host.companion.alerts.board_warnings import board_warnings
from engram_host.companion.store.boards.status import BoardStatus
from engram_host.companion.store.page.types import BoardRow
from engram_host.wording import counted

WarningKind = Literal["damaged", "waiting", "uncopied", "clock", "status"]

LONG_SECONDS = 86400
"""A message that waits so long for a board, or lines that are not copied for so long, are worth a look."""

_CLOCK_SECONDS = 300

_SENTENCES: dict[WarningKind, str] = {
    "damaged": "{} of its copy {} damaged: the board sends again what it still has; `engram repair` saves what can be read.",
    "waiting": "{} {} for it for more than a day: see that it is switched on and reaches the companion.",
    "uncopied": "{} on the board {} not copied, and it is away: see that it is switched on and reaches the companion.",
    "status": "",
    "clock": "it was heard at a time to come: this computer's clock was wrong, or is.",
}
_COUNTED: dict[WarningKind, tuple[str, str]] = {
    "damaged": ("line", "lines"),
    "waiting": ("message", "messages"),
    "uncopied": ("line", "lines"),
}
_VERBS: dict[WarningKind, tuple[str, str]] = {
    "damaged": ("is", "are"),
    "waiting": ("waits", "wait"),
    "uncopied": ("is", "are"),
}


@dataclass(frozen=True)
class BoardWarning:
    """Something that is not as it should be, with how many things; `text` is the sentence of a warning of the kind `status`."""

    kind: WarningKind
    count: int = 0
    text: str = ""

    @property
    def sentence(self) -> str:
        """It in English, with what to do."""
        if self.kind not in _COUNTED:
            return self.text or _SENTENCES[self.kind]
        verb = _VERBS[self.kind][self.count != 1]
        return _SENTENCES[self.kind].format(counted(self.count, *_COUNTED[self.kind]), verb)


def find_warnings(row: BoardRow, damaged: int, now: int) -> tuple[BoardWarning, ...]:
    """The warnings of a board whose copy has some damaged lines."""
    found: list[BoardWarning] = []
    if damaged:
        found.append(BoardWarning("damaged", damaged))
    if row.waiting and now - row.waiting_since > LONG_SECONDS:
        found.append(BoardWarning("waiting", row.waiting))
    if row.missing and now - row.heard > LONG_SECONDS:
        found.append(BoardWarning("uncopied", row.missing))
    if row.heard > now + _CLOCK_SECONDS:
        found.append(BoardWarning("clock"))
    return tuple(found)


def status_warnings(status: BoardStatus | None, flash_percent: int) -> tuple[BoardWarning, ...]:
    """What is to be said of a board by what it reported last; `flash_percent` says from where on a flash is nearly full."""
    return tuple(BoardWarning("status", text=sentence) for sentence in board_warnings(status, flash_percent))
