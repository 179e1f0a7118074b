"""Gives the companion the senses of the board and what is kept of them: the blocks of its rings, as they are on flash.

    senses     the senses that there are                         perceived: the newest block that it has of each level
    readings   the block of a level that follows                 perceived

Blocks are only appended, so the newest one says what is there. A block is known by its seq and check: where the ring has no
such block, since the board's flash went back to an older state, all of its blocks are sent again, and the companion passes
over those that it has.
"""

from engram.compat import sleep_ms
from engram.errors import NetError
from engram.link.messages import is_row, shown


class SenseProgress:
    """How far the companion's copy of the senses is. `told` is the version that it has in full, `begun` the one that it gets;
    `have` is what it has of that, (seq, check) of the newest block of each level, None before it was asked.
    """

    def __init__(self):
        self.told = None
        self.begun = None
        self.have = None
        self.state = None

    def is_due(self, sync, senses) -> bool:
        """True if there is something to tell the companion."""
        state = sync.sense_state
        if state is not None and self.state != state:
            # It has not heard of them since the start, or has lost some.
            self.told = self.have = None
            self.state = state
        return state is not None and self.told != senses.version

    def take(self, sync, have, state: str) -> None:
        """Note what the companion has after a message."""
        self.have = have
        self.state = sync.sense_state = state

    def end(self) -> None:
        """Everything has been sent."""
        self.told, self.have = self.begun, None


async def copy_next(sync, senses, epoch: int, progress) -> None:
    """Send one message on the senses, and take its answer; NetError, StoreError.

    `epoch` is that of the records: a board that was reset has other senses.
    """
    version = senses.version
    if progress.have is None or progress.begun != version:
        await _list(sync, senses, epoch, progress)
        progress.begun = version
        return
    for level, newest in enumerate(progress.have):
        block = senses.history.rings[level].next_block(newest[0], _check_of(newest[1]))
        if block is not None:
            await _send(sync, block, level, epoch, progress)
            return
        await sleep_ms(0)  # a file was read: others run in between
    progress.end()


async def _list(sync, senses, epoch: int, progress) -> None:
    listed = senses.all()
    items = [[sense.number, sense.name, sense.unit, sense.decimals, sense.made] for sense in listed]
    fields = {"next": senses.next_number, "whole": not senses.damaged, "items": items}
    shared = [sense.number for sense in listed if senses.is_shared(sense)]
    if shared:
        fields["shared"] = shared
    answer = await sync.ask("senses", epoch=epoch, **fields)
    progress.take(sync, _rows(answer), answer["state"])


async def _send(sync, block, level: int, epoch: int, progress) -> None:
    answer = await sync.ask("readings", block, epoch=epoch, level=level, seq=block.seq)
    have = _rows(answer)
    if list(have[level]) != [block.seq, shown(block.check)]:
        raise NetError("the companion acknowledged other readings than it was sent")
    progress.take(sync, have, answer["state"])


def _rows(answer: dict):
    have = answer["have"]
    if not all(is_row(row, int, str) and _check_of(row[1]) >= 0 for row in have):
        raise NetError("the companion says in another form than this board knows what it has of the senses")
    return have


def _check_of(digits: str) -> int:
    """A check as it stands in a message, -1 if it is none."""
    try:
        return int(digits or "0", 16)
    except ValueError:
        return -1
