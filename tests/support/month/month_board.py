"""Runs on the board: some turns of a simulated month, between one start and the next restart or power cut.

    month_board.py FLASH FORM DAY FIRST LAST CUT HEARD

Turns FIRST to LAST of a day are played (see life.py); with the last one of the day the board does what it does at night. CUT
is the number of the change of the flash at which the power fails, 0 for none; HEARD the line of the log of records that was
told last. Lines "> {...}" tell of each turn once it is acknowledged, of what was kept (see witness.py), of what it has cost,
before the power fails too, and of the day when it ends.
"""

import asyncio
import gc
import json
import random
import sys

import vfs  # type: ignore

import engram.clock
import faulty_flash
import flash
import life
from engram import files
from engram.agent.agent import Sink
from engram.app import App
from engram.clock import Clock
from engram.compat import heap_used
from engram.errors import EngramError
from engram.learning import distill
from engram.memory.access import OWNER, Caller
from engram.timers import timer_store
from scripted_month import Model
from witness import Witness

ASKERS = {
    "owner": OWNER,
    "ann": Caller("ann", "chat#ann", False, ""),
    "bob": Caller("bob", "chat#bob", False, ""),
    "group": Caller("ann", "chat#all", True, ""),
}
_TICKS = 0x3FFFFFFF
_QUIET_MS = 15_000  # after which the board takes a conversation to have paused


def tell(what):
    """Print a line for the one who plays."""
    print("> " + json.dumps(what))


class Ear(Sink):
    """Keeps the notices of a turn."""

    def __init__(self):
        self.notices = []

    async def notice(self, line):
        self.notices.append(line)


class Device(faulty_flash.FaultyFlash):
    """A flash that has `at_the_end` called before the power fails."""

    def _fail(self, kind, block, offset, data):
        self.at_the_end()
        return super()._fail(kind, block, offset, data)


class Board:
    """One start of the board."""

    def __init__(self, path, form, day, first, cut, heard):
        self.day = day
        self.form = form
        self.turns = life.FORMS[form].turns
        self._look_at_clock(first)
        # A clock that is not set goes on by the ticks: they pass as the month does, not as its player does.
        engram.clock.ticks_ms = lambda: self.ticks
        flash.mount(path, life.FLASH_BYTES, "/made")
        vfs.umount("/made")
        self.device = Device(path, life.FLASH_BYTES, "", ("half", cut))
        self.device.at_the_end = self.spent
        self.model = Model()
        self.parts = None
        self.highest = 0
        vfs.mount(vfs.VfsLfs2(self.device, **flash.OPTIONS), "/flash")
        clock = Clock(0, lambda: self.now)
        limits = life.FORMS[form]
        distill.NOTES = limits.notes
        self.app = App("/flash", limits.settings, clock=clock, model=self.model)
        self.parts = self.app.board
        self.parts.timers.table.most = limits.reminders
        timer_store.WORDS_DAYS = limits.reminder_days
        self.witness = Witness(self.parts, tell)
        self.witness.catch_up(heard)

    def _look_at_clock(self, turn):
        self.now = life.reading(self.day, turn)
        self.ticks = 1000 * (life.moment(self.day, turn) - life.START) & _TICKS

    async def play(self, turn):
        """One turn, and what the board does once nobody speaks."""
        self._look_at_clock(turn)
        self.witness.turn = turn
        said = life.said(self.form, self.day, turn)
        caller = ASKERS[said.who]
        ear = Ear()
        answer = []
        told = {"turn": turn, "now": self.parts.clock.now(), "known": self.parts.clock.known}
        self.model.listens_to(said.who)
        if said.text[0] == "/":
            await self._command(caller, said.text, answer)
        else:
            outcome = await self.app.ask(said.text, ear, caller)
            told["said"] = outcome.turn
            answer = [outcome.problem] if outcome.problem else []
        told["notices"], told["answer"] = ear.notices, answer
        tell(told)
        await self.work(4)
        self.spent()

    async def _command(self, caller, typed, answer):
        try:
            for line in self.parts.commands.run(caller, typed):
                if isinstance(line, int):
                    # Who typed waits for what is done in the background.
                    self.model.listens_to("")
                    await self._job()
                elif not answer:
                    answer.append(line)
        except EngramError as error:
            answer.append("refused: " + str(error))

    async def _job(self):
        for job in self.parts.jobs.jobs:
            if job.is_due():
                await job.step()
                return True
        return False

    async def work(self, most):
        """What is done in the background, once nobody has said anything for a while."""
        self.ticks = self.ticks + _QUIET_MS & _TICKS
        self.model.listens_to("")
        for _ in range(most):
            if not await self._job():
                break
        for _ in range(most):
            if not self._tick():
                break
        self.witness.tidy()
        gc.collect()
        self.highest = max(self.highest, heap_used())

    def _tick(self):
        parts = self.parts
        return parts.records.entries.tick() | parts.journal.entries.tick() | parts.eviction.tick()

    async def night(self):
        """All that is left to do, and the report of the day."""
        await self.work(200)
        while self._tick():
            pass
        parts = self.parts
        parts.records.uses.save()
        tell(
            {
                "day": self.day,
                "records": parts.records.entries.count(),
                "records_bytes": parts.records.entries.bytes,
                "journal_bytes": parts.journal.entries.bytes,
                "notes_bytes": sum(
                    files.size("/flash/memory/" + file) for _, file, _ in parts.note_retention._day_files()
                ),
                "notes_files": len(parts.note_retention._day_files()),
                "intents": sum(len(parts.timers.owned_by(caller)) for caller in ASKERS.values()),
            }
        )

    def spent(self):
        """What this start has cost so far."""
        device, model, parts = self.device, self.model, self.parts
        tell(
            {
                "spent": {
                    "calls": model.calls,
                    "tokens": model.tokens,
                    "erases": device.erases,
                    "programmed": device.programmed_bytes,
                    "read": device.read_bytes,
                    "left": parts.eviction.left if parts else 0,
                },
                "heap": self.highest,
            }
        )


async def _main(board, first, last):
    for turn in range(first, last + 1):
        await board.play(turn)
    if last == board.turns - 1:
        await board.night()
    board.spent()


def main(path, form, day, first, last, cut, heard):
    """Play the turns."""
    random.seed(day * 1000 + first)
    asyncio.run(_main(Board(path, form, day, first, cut, heard), first, last))


if len(sys.argv) > 3:
    main(sys.argv[1], sys.argv[2], *[int(word) for word in sys.argv[3:]])
