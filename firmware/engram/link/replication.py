"""Keeps the companion's copy of both logs like the board's.

    hello      what the board's logs are                         welcome: what the companion has of each
    check      a span of a log, and the digest of its lines      same, differs
    lines      a span of a log, and all lines that it has        have: up to where the companion has the log
    agreed     all up to there was compared

Where the companion's newest line is the board's own, and both know of the same compactions, the board goes on behind it.
Else it first compares what both have, span by span. There is no queue: what is to be sent stands in the log. Each message
says all of its span, so a message that comes twice, or a link that breaks anywhere, does no harm.
"""

from engram import diag, text
from engram.compat import sleep_ms, ticks_diff, ticks_ms
from engram.errors import NetError
from engram.link.messages import LOGS, VERSION, is_row, shown
from engram.link.rpc import Body, NoAnswer

_BATCH = const(4096)  # bytes of lines in a message, unless one line is longer: it is read in one go
_ANSWER_MS = (4_000, 8_000, 16_000)  # for the companion to write a message down and say so: else it is sent again
_HELLO_MS = const(50_000)  # between two greetings: they are the sign of life, and show what the companion lost
_LOOK_MS = const(400)  # between two looks whether there are new lines
_MOST_STALLS = const(3)  # answers in a row that do not say what they should


class Replication:
    def __init__(self, exchange, logs, link_state, clock, is_busy, greeted, idle_work=None, archived=None):
        self._exchange = exchange
        self._archived = archived
        self._clock = clock
        self._is_busy = is_busy
        self._greeted = greeted
        self._idle_work = idle_work
        self._stalls = 0
        self.is_greeted = False
        """True once the greeting of this link was answered."""
        self.copies = [_Copy(name, raw, link_state) for name, raw in logs]
        self.message = ""
        """Latest sentence of the companion for a person, or ""."""

    @property
    def epoch(self) -> int:
        """Return the records' epoch, which a reset changes for notes and senses too."""
        return self.copies[0].raw.store.epoch

    def have(self, name: str) -> int:
        return self.copies[LOGS.index(name)].have

    def is_done(self, name: str) -> bool:
        """True if a log's copy is complete, as far as known."""
        return self.copies[LOGS.index(name)].is_done

    def greet_again(self) -> None:
        self.copies[0].epoch = 0

    def compare(self, name: str) -> None:
        """Compare a whole log with its copy."""
        copy = self.copies[LOGS.index(name)]
        copy.is_doubted = True
        copy.cursor = copy.raw.store.oldest - 1

    async def run(self) -> None:
        """Copy, forever; NetError and StoreError end it."""
        self._stalls = 0
        self.is_greeted = False
        while True:
            await self._greet()
            greeted_at = ticks_ms()
            while ticks_diff(ticks_ms(), greeted_at) < _HELLO_MS and not self._has_changed():
                if not await self._step() and not (self._idle_work and await self._idle_work()):
                    await sleep_ms(_LOOK_MS)
                if self._exchange.failure:
                    raise self._exchange.failure

    async def _greet(self) -> None:
        states = {copy.name: copy.state() for copy in self.copies}
        relied = self._archived.durable_seq if self._archived else 0
        clock = self._clock
        rule = clock.zone.rule if clock.zone else ""
        fields = {"version": VERSION, "zone": clock.zone_minutes, "relied": relied, "rule": rule}
        welcome = await self.ask("hello", **fields, **states)
        if welcome["told"]:
            self.message = text.printable(welcome["told"])
            diag.info("companion", self.message)
        for copy in self.copies:
            copy.welcome(welcome[copy.name])
        self.is_greeted = True
        self._greeted(welcome)

    async def ask(self, op: str, body=None, **fields) -> dict:
        """Send a message until it is answered, a few times."""
        for within_ms in _ANSWER_MS[:-1]:
            try:
                return await self._exchange.ask(op, within_ms, body, **fields)
            except NoAnswer as silence:
                diag.info("companion", "%s is sent again: %s" % (op, silence))
        return await self._exchange.ask(op, _ANSWER_MS[-1], body, **fields)

    def _has_changed(self) -> bool:
        for copy in self.copies:
            store = copy.raw.store
            if not store.is_compacting and (copy.epoch, copy.rewrites) != (store.epoch, store.log.rewrites):
                return True
        return False

    async def _step(self) -> bool:
        for copy in self.copies:
            if not (copy.is_done or copy.raw.store.is_compacting or self._is_busy()):
                await self._advance(copy)
                return True
        return False

    async def _advance(self, copy) -> None:
        if copy.cursor < 0:
            span = copy.raw.span(copy.have, copy.raw.store.next_seq - 1, _BATCH)
            await self._send(copy, span)
            return
        after = max(copy.cursor, copy.raw.store.oldest - 1)
        if after >= copy.have:
            await self.ask("agreed", log=copy.name, epoch=copy.epoch, rewrites=copy.rewrites)
            copy.cursor = -1
            copy.is_doubted = False
            return
        span = copy.raw.span(after, copy.have, _BATCH)
        answer = await self.ask("check", digest=shown(span.check), **_fields(copy, span))
        if answer["op"] == "same" or await self._send(copy, span):
            copy.cursor = span.to

    async def _send(self, copy, span) -> bool:
        """Send a span's lines; True if the companion has them."""
        body = Body(span.size, lambda: copy.raw.pieces(span))
        answer = await self.ask("lines", body, **_fields(copy, span))
        if answer["log"] != copy.name or answer["epoch"] != copy.epoch:
            raise NetError("the companion acknowledged another log than it was sent")
        if answer["have"] != max(copy.have, span.to):
            # It has lost data or names a position: the next greeting has the details.
            self._stalls += 1
            if self._stalls > _MOST_STALLS:
                raise NetError("the companion has the %s up to %d and takes no more" % (copy.name, answer["have"]))
            copy.epoch = 0
            return False
        self._stalls = 0
        copy.acknowledge(answer["have"])
        return True


class _Copy:
    """A copy of one log up to `have`, compared from `cursor` on (-1: done)."""

    def __init__(self, name: str, raw, link_state):
        self.name = name
        self.raw = raw
        self._link_state = link_state
        self.epoch = 0  # as the companion knows it
        self.rewrites = 0
        self.have = link_state.have(name)
        self.cursor = -1
        self.is_doubted = False  # whether it has to be compared, however like they seem

    def state(self) -> list:
        raw = self.raw
        self.epoch, self.rewrites = raw.store.epoch, raw.store.log.rewrites
        return [self.epoch, raw.store.oldest, raw.store.next_seq, self.rewrites]

    def welcome(self, held) -> None:
        """Handle the log's part of `welcome`: [have, crc of that line, rewrites]."""
        if not is_row(held, int, str, int) or held[0] < 0:
            raise NetError("the companion's welcome is of another form than this board knows")
        have, crc, rewrites = held
        raw = self.raw
        have = min(have, raw.store.next_seq - 1)
        is_overlapping = have >= raw.store.oldest
        if have + 1 == raw.store.oldest and not crc and self.have > have:
            # It has lost what it had, or is an older one: what left the board before is not there any more.
            self._link_state.left(self.name, have)
        is_like = rewrites == self.rewrites and (not is_overlapping or raw.store.is_compacting or raw.crc(have) == crc)
        self.cursor = -1 if is_like and not self.is_doubted else raw.store.oldest - 1
        self.acknowledge(have)

    def acknowledge(self, have: int) -> None:
        self.have = have
        self._link_state.acknowledged(self.name, have)

    @property
    def is_done(self) -> bool:
        return self.cursor < 0 and self.have + 1 >= self.raw.store.next_seq


def _fields(copy, span) -> dict:
    return {"log": copy.name, "epoch": copy.epoch, "after": span.after, "to": span.to, "count": span.count}
