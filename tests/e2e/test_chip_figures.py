"""What /stats shows of a board costs no reads of its flash: to walk a littlefs takes thousands, in one piece."""

from pathlib import Path

from chip_flash import Chip
from driving import Talk
from skips import needs_32_bit

CTRL_D = "\x04"
CONSOLE, PROMPT = "\n> ", ">>> "
FUNCTIONS = """
import os
from engram.channels.console.commands.stats import find_status
def figures(change=None):
    if change:
        change()
    before = flash.reads
    return find_status(app.board)["flash"], flash.reads - before
def walked():
    before = flash.reads
    found = os.statvfs("/")
    return 4096 * (found[2] - found[3]), flash.reads - before
def store():
    for number in range(20):
        app.memory.store("item %d is in the cellar" % number, ["cellar"])
def compact():
    for number in range(1, 21):
        app.memory.forget("m%d" % number)
    for _ in app.board.records.compacting():
        pass
"""


def told(talk: Talk, call: str) -> tuple[int, int]:
    """What a call gives: bytes in use, and how often the flash was read."""
    talk.say(f"print(*{call})")
    used, reads = talk.heard(PROMPT).split()[-3:-1]
    return int(used), int(reads)


@needs_32_bit
def test_the_flash_in_use_follows_the_logs_without_a_read(tmp_path: Path):
    with Chip(tmp_path / "board", {"secrets.json": b"{}"}, {}, 1 << 20).start() as talk:
        talk.heard(CONSOLE)
        talk.type(CTRL_D)
        talk.heard(PROMPT)
        talk.say(f"exec({FUNCTIONS!r})")
        talk.heard(PROMPT)
        used, reads = told(talk, "walked()")
        assert reads > 100
        assert told(talk, "figures()")[0] == used
        assert told(talk, "figures()") == (used, 0)
        more, reads = told(talk, "figures(store)")
        assert used < more < used + 8192 and reads == 0
        less, reads = told(talk, "figures(compact)")
        assert less < more and reads == 0
