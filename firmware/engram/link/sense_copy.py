"""Gives the companion the senses of the board and what is kept of them: the blocks of its rings, as they are on flash.

    senses     the senses that there are                         perceived: the newest block that it has of each level
    readings   the block of a level that follows                 perceived
    events     those that began or ended since                   perceived

Blocks are only appended, so the newest one says what is there. A block is known by its seq and check: where the ring has no
such block, since the board's flash went back to an older state, all of its blocks are sent again, and the companion passes
over those that it has.
"""

from engram.compat import sleep_ms
from engram.errors import NetError
from engram.link.messages import EVENTS_AT_ONCE, is_row, shown

_EVENT_FIELDS = ("id", "sense", "kind", "start", "end", "value", "usual", "limit", "evidence", "told")
"""Of an event, what is told: whom it concerns stays on the board."""


class SenseProgress:
    """How far the companion's copy of the senses is. `told` is the version that it has in full, `begun` the one that it gets;
    `have` is what it has of that, (seq, check) of the newest block of each level, None before it was asked. It has the events
    up to `event`, and all of the version `told_events`.
    """

    def __init__(self):
        self.told = None
        self.begun = None
        self.have = None
        self.event = 0
        self.told_events = -1
        self.state = None

    def is_due(self, sync, senses, events) -> bool:
        """True if there is something to tell the companion."""
        state = sync.sense_state
        if state is not None and self.state != state:
            # It has not heard of them since the start, or has lost some.
            self.told = self.have = None
            self.told_events, self.state = -1, state
        return state is not None and self.told != (senses.version, events.version)

    def take(self, sync, have, state: str) -> None:
        """Note what the companion has after a message."""
        self.have = have
        self.state = sync.sense_state = state

    def end(self) -> None:
        """Everything has been sent."""
        self.told, self.have = self.begun, None


async def copy_next(sync, senses, events, epoch: int, progress) -> None:
    """Send one message on the senses, and take its answer; NetError, StoreError.

    `epoch` is that of the records: a board that was reset has other senses.
    """
    version = senses.version, events.version
    if progress.have is None or progress.begun != version:
        await _list(sync, senses, events, version, epoch, progress)
        return
    for level, newest in enumerate(progress.have):
        block = senses.history.rings[level].next_block(newest[0], _check_of(newest[1]))
        if block is not None:
            await _send(sync, block, level, epoch, progress)
            return
        await sleep_ms(0)  # a file was read: others run in between
    if progress.told_events != version[1]:
        await _tell_events(sync, events, epoch, progress)
        return
    progress.end()


async def _list(sync, senses, events, version: tuple, epoch: int, progress) -> None:
    items, shared = [], []
    for name in senses.names():
        sense = senses.find(name)
        items.append([sense.number, sense.name, sense.unit, sense.decimals, sense.made])
        if events.scope_of(sense) == "all":  # engram.memory.ALL, without the import
            shared.append(sense.number)
    fields = {"next": senses.next_number, "whole": not senses.damaged, "items": items}
    if shared:
        fields["shared"] = shared
    answer = await sync.ask("senses", epoch=epoch, **fields)
    progress.take(sync, _rows(answer), answer["state"])
    progress.begun, progress.event = version, answer["events"]


async def _send(sync, block, level: int, epoch: int, progress) -> None:
    answer = await sync.ask("readings", block, epoch=epoch, level=level, seq=block.seq)
    have = _rows(answer)
    if list(have[level]) != [block.seq, shown(block.check)]:
        raise NetError("the companion acknowledged other readings than it was sent")
    progress.take(sync, have, answer["state"])


async def _tell_events(sync, events, epoch: int, progress) -> None:
    told, last = [], 0
    for fields in events.after(progress.event, EVENTS_AT_ONCE):
        # As pairs: the fields of an object would come in any order.
        told.append([[name, fields[name]] for name in _EVENT_FIELDS if fields.get(name) is not None])
        last = int(fields["id"][1:])
    if not told:
        progress.told_events = progress.begun[1]
        return
    answer = await sync.ask("events", epoch=epoch, items=told)
    progress.take(sync, _rows(answer), answer["state"])
    progress.event = last


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
