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


class SenseCopy:
    """A copier of the senses of find_senses(), None without any."""

    def __init__(self, sync, find_senses):
        self._sync = sync
        self._find_senses = find_senses
        self._state = None  # what the companion has, None before the first greeting
        self._version = None  # of the senses that it was told of
        self._have = None  # (seq, check) of its newest block of each level, None before it was asked, () if it has all

    def greeted(self, state: str) -> None:
        """Handle the companion's state; compare all senses if it is new or lost some."""
        if self._state != state:
            self._state = state
            self._have = None

    async def step(self) -> bool:
        """Send one message on the senses and handle its answer; True if one was due. NetError, StoreError."""
        senses = self._find_senses()
        if senses is None or self._state is None:
            return False
        if self._have is None or self._version != senses.version:
            self._version = senses.version
            await self._list(senses)
        elif not self._have:
            return False
        elif not await self._send_block(senses):
            self._have = ()
        return True

    async def _list(self, senses) -> None:
        self._have = None  # until this list is answered
        listed = senses.all()
        items = [[sense.number, sense.name, sense.unit, sense.decimals, sense.made] for sense in listed]
        fields = {"next": senses.table.next, "whole": not senses.table.damaged, "items": items}
        fields["shared"] = [sense.number for sense in listed] if senses.is_shared else []
        self._take(await self._sync.ask("senses", epoch=self._sync.epoch, **fields))

    async def _send_block(self, senses) -> bool:
        """Send the next missing block; True if there was one."""
        for level, newest in enumerate(self._have or ()):
            block = senses.history.rings[level].next_block(newest[0], _check_of(newest[1]))
            if block is not None:
                answer = await self._sync.ask("readings", block, epoch=self._sync.epoch, level=level, seq=block.seq)
                if list(self._take(answer)[level]) != [block.seq, shown(block.check)]:
                    raise NetError("the companion acknowledged other readings than it was sent")
                return True
            await sleep_ms(0)  # a file was read: others run in between
        return False

    def _take(self, answer: dict):
        have = answer["have"]
        if not all(is_row(row, int, str) and _check_of(row[1]) >= 0 for row in have):
            raise NetError("the companion says in another form than this board knows what it has of the senses")
        self._have, self._state = have, answer["state"]
        return have


def _check_of(digits: str) -> int:
    try:
        return int(digits or "0", 16)
    except ValueError:
        return -1
