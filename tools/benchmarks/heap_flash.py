"""A flash as a board has it after some months: many records and turns, made by the firmware itself on this computer."""

import random
import tempfile
from pathlib import Path

from engram_host.boards import flash, profile

SESSION_TURNS = 40
START = 1790000000
BETWEEN = 600
"""When the first turn was said, in Unix seconds, and how many later the next one."""

_SYLLABLES = [first + last for first in "bdfghklmnprstvw" for last in "aeiou"]
_WORDS = 4000
_TAGS = 60


def filled(board: profile.BoardProfile, count: int) -> tuple[bytes, int, int]:
    """The image of a board on which `count` turns were said and as many records stored; how many of each it keeps.

    The journal drops its oldest turns at the board's own limit. The image is the same each time.
    """
    from engram import diag
    from engram.app import App
    from engram.clock import Clock
    from engram.memory.access import OWNER, own_scope
    from engram.memory.records.records import Draft

    with tempfile.TemporaryDirectory() as name:
        diag.level = diag.ERROR
        now = START
        random.seed(1)  # the firmware's, of which the logs' epochs come
        app = App(name, board.settings | {"log.level": "error"}, clock=Clock(0, lambda: now))
        parts = app.board
        for number, (text, tags) in enumerate(_texts(count)):
            if number % SESSION_TURNS == 0:
                parts.journal.begin(OWNER)
            role, who = ("assistant", "engram") if number % 2 else ("user", "owner")
            parts.journal.add(OWNER, role, who, text)
            # Not store(), which compares each with its nearest: that took three quarters of the time.
            values = {"content": text, "tags": tags, "scope": own_scope(OWNER), "created": now}
            parts.records.keep((Draft("", values, [], "", 0),))
            now += BETWEEN
            while parts.records.tick() or parts.journal.tick():
                pass
        kept = parts.journal.entries.count(), parts.records.count()
        folder = Path(name)
        files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        return flash.build_littlefs(files, board.filesystem.size), *kept


def _texts(count: int) -> list[tuple[str, list[str]]]:
    """Texts of some ten words, common and rare ones as in a language, with two tags each."""
    rng = random.Random(1)
    words = ["".join(rng.choices(_SYLLABLES, k=rng.randint(1, 4))) for _ in range(_WORDS)]
    weights = [1 / (rank + 8) for rank in range(_WORDS)]
    return [
        (" ".join(rng.choices(words, weights, k=rng.randint(8, 14))), rng.sample(words[:_TAGS], 2))
        for _ in range(count)
    ]
