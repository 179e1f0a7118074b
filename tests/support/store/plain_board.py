"""A board as plain Python: two logs in dictionaries, and the way in which it tells a store of them.

It follows docs/reference/messages.md as a board does: hello, then for each log what differs and what is new, one message
at a time.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

from engram import log_line
from engram_host.companion.errors import Refused, Stale
from engram_host.companion.store import CompanionStore
from engram_host.companion.store.boards.replica import SILENCE_SECONDS
from engram_host.companion.types import (
    LOGS,
    HeldLog,
    Hello,
    LineBatch,
    LineQuota,
    LogName,
    LogState,
    Sender,
    SeqRange,
    Welcome,
)
from sending import digest

SPAN = 4
"""Seqs in a message."""

TRIES = 3
EPOCHS = count(1)
TEXTS = count(1)


def copy_lines(store: CompanionStore, number: int) -> None:
    """Copy so many turns of a board `kitchen`."""
    board = PlainBoard(store)
    board.logs["journal"].append(number)
    board.sync()


class NoAnswer(Exception):
    """A message, or its answer, is lost."""


@dataclass
class PlainLog:
    """A log: what stands in it, by seq."""

    epoch: int = field(default_factory=lambda: next(EPOCHS))
    lines: dict[int, bytes] = field(default_factory=dict)
    oldest: int = 1
    next: int = 1
    rewrites: int = 0

    @property
    def state(self) -> LogState:
        return LogState(self.epoch, self.oldest, self.next, self.rewrites)

    def append(self, number: int = 1) -> None:
        for _ in range(number):
            self.lines[self.next] = log_line.encode([("seq", self.next), ("text", f"text {next(TEXTS)}")])
            self.next += 1

    def drop_oldest(self, number: int) -> None:
        self.oldest = min(self.oldest + number, self.next)
        self.lines = {seq: line for seq, line in self.lines.items() if seq >= self.oldest}

    def between(self, after: int, to: int) -> list[tuple[int, bytes]]:
        return [(seq, line) for seq, line in sorted(self.lines.items()) if after < seq <= to]

    def compact(self, gone: set[int], emptied: set[int]) -> set[tuple[int, bytes]]:
        """Take lines out, and leave of others that they were forgotten; the lines that are no more."""
        before = set(self.lines.items())
        for seq in emptied & set(self.lines):
            self.lines[seq] = log_line.encode([("seq", seq), ("gone", True)])
        self.lines = {seq: line for seq, line in self.lines.items() if seq not in gone}
        self.rewrites += 1
        return before - set(self.lines.items())


class PlainBoard:
    """A board that talks to a store. `deliver` brings a message there: a call that gives the answer, or NoAnswer."""

    def __init__(self, store: CompanionStore, name: str = "kitchen", board: str = "board-1"):
        self.store = store
        self.name = name
        self.board = board
        self.logs: dict[LogName, PlainLog] = {log: PlainLog() for log in LOGS}
        self.link = 0
        self.n = 0
        self.now = 1_000_000
        self.durable_seq = 0
        self.quota = LineQuota()
        self.deliver: Callable[[Callable[[], object]], object] = lambda call: call()

    def flash(self) -> tuple[dict[LogName, PlainLog], int]:
        """A raw copy of the flash."""
        return copy.deepcopy(self.logs), self.link

    def put_flash(self, flash: tuple[dict[LogName, PlainLog], int]) -> None:
        self.logs, self.link = copy.deepcopy(flash)

    def sync(self) -> None:
        """Bring the store's copies up to date; NoAnswer when the board gave up."""
        welcome = self.hello()
        for log in LOGS:
            self._sync_log(log, welcome.logs[log])

    def hello(self) -> Welcome:
        self.link += 1
        self.n = 0
        try:
            answer = self._ask(self._hello)
        except Stale:
            # The flash is an older one: after a silence the store believes it.
            self.now += SILENCE_SECONDS
            answer = self._ask(self._hello)
        assert isinstance(answer, Welcome)
        return answer

    def sender(self) -> Sender:
        return Sender(self.board, self.link, self.n)

    def _hello(self) -> Callable[[], object]:
        hello = Hello(self.name, self.sender(), 60, {log: self.logs[log].state for log in LOGS}, self.durable_seq)
        return lambda: self.store.replication.greet(hello, self.now, self.quota)

    def _sync_log(self, name: LogName, held: HeldLog) -> None:
        log = self.logs[name]
        own = log.lines[held.have][-11:-3].decode() if held.have in log.lines else ""
        if held.rewrites != log.rewrites or (own != held.crc and held.have >= log.oldest):
            self._compare(name, held.have)
        have = held.have
        while have < log.next - 1:
            have = self.send(name, have, min(have + SPAN, log.next - 1))

    def _compare(self, name: LogName, have: int) -> None:
        log = self.logs[name]
        for after in range(log.oldest - 1, have, SPAN):
            to = min(after + SPAN, have)
            if not self._ask(lambda a=after, t=to: self._is_same(name, a, t)):
                self.send(name, after, to)
        rewrites, epoch = log.rewrites, log.epoch
        self._ask(lambda: self._agree(name, epoch, rewrites))

    def _is_same(self, name: LogName, after: int, to: int) -> Callable[[], object]:
        batch = self.batch(name, after, to)
        crc = digest(line for _, line in batch.lines)
        return lambda: self.store.replication.is_same(batch.sender, batch.span, len(batch.lines), crc)

    def _agree(self, name: LogName, epoch: int, rewrites: int) -> Callable[[], object]:
        sender = self.sender()
        return lambda: self.store.replication.mark_agreed(sender, self.name, name, epoch, rewrites)

    def batch(self, name: LogName, after: int, to: int) -> LineBatch:
        log = self.logs[name]
        return LineBatch(self.sender(), SeqRange(self.name, name, log.epoch, after, to), log.between(after, to))

    def send(self, name: LogName, after: int, to: int) -> int:
        have = self._ask(lambda: self._lines(name, after, to))
        assert isinstance(have, int)
        return have

    def _lines(self, name: LogName, after: int, to: int) -> Callable[[], object]:
        batch = self.batch(name, after, to)
        return lambda: self._taken(batch)

    def _taken(self, batch: LineBatch) -> int:
        (outcome,) = self.store.replication.store_batches([batch], self.now, self.quota)
        if isinstance(outcome, (Refused, Stale)):
            raise outcome
        return outcome

    def _ask(self, message: Callable[[], Callable[[], object]]) -> object:
        """Send one message, again with the same number when no answer comes."""
        self.n += 1
        call = message()
        for _ in range(TRIES - 1):
            try:
                return self.deliver(call)
            except NoAnswer:
                continue
        return self.deliver(call)
