"""Runs on the board: some turns of a simulated month, between one start and the next restart or power cut.

    month_board.py FLASH DAY FIRST LAST CUT

Turns FIRST to LAST of a day are played (see life.py); with the last one of the day the board does what it does at night. CUT
is the number of the change of the flash at which the power fails, 0 for none. Each turn prints a line "> {...}" once it is
acknowledged, and the end of the day one with its report.
"""

import asyncio
import gc
import json
import random
import sys

import vfs  # type: ignore

import faulty_flash
import flash
import life
from engram import files
from engram.agent.agent import Sink
from engram.app import App
from engram.clock import Clock
from engram.memory.scope import OWNER, Asker
from scripted_month import Model

ASKERS = {
    "owner": OWNER,
    "ann": Asker("ann", "chat#ann", False, ""),
    "bob": Asker("bob", "chat#bob", False, ""),
    "group": Asker("ann", "chat#all", True, ""),
}


class Ear(Sink):
    """Keeps the notices of a turn."""

    def __init__(self):
        self.notices = []

    async def notice(self, line):
        self.notices.append(line)


class Board:
    """One start of the board."""

    def __init__(self, path, day, cut):
        self.day = day
        self.now = life.START + day * life.DAY
        flash.mount(path, life.FLASH_BYTES, "/made")
        vfs.umount("/made")
        self.device = faulty_flash.FaultyFlash(path, life.FLASH_BYTES, "", ("half", cut))
        vfs.mount(vfs.VfsLfs2(self.device, **flash.OPTIONS), "/flash")
        self.model = Model()
        clock = Clock(0, lambda: self.now)
        self.app = App("/flash", life.SETTINGS, clock=clock, model=self.model)
        self.parts = self.app._parts
        self.highest = 0

    async def play(self, turn):
        """One turn, and what the board does once nobody speaks."""
        self.now = life.START + self.day * life.DAY + life.BEGIN + turn * life.BETWEEN
        said = life.said(self.day, turn)
        asker = ASKERS[said.who]
        ear = Ear()
        answer = []
        self.model.listens_to(said.who)
        if said.text[0] == "/":
            answer = [line for line in self.parts.commands.run(asker, said.text) if isinstance(line, str)]
        else:
            outcome = await self.app.ask(said.text, ear, asker)
            answer = [outcome.problem] if outcome.problem else []
        self.tell({"turn": turn, "who": said.who, "notices": ear.notices, "answer": answer})
        await self.work(4)

    async def work(self, most):
        """What is done in the background."""
        after = self.parts.agent.after
        for _ in range(most):
            due = [job for job in after.jobs if job.is_due()]
            if not due:
                break
            self.model.listens_to("")
            await due[0].step()
        for _ in range(most):
            busy = self.parts.records.tick() | self.parts.journal.tick() | self.parts.capacity.tick()
            if not busy:
                break
        gc.collect()
        self.highest = max(self.highest, gc.mem_alloc())

    async def night(self):
        """All that is left to do, and the report of the day."""
        self.parts.daily.tidy(True)
        await self.work(200)
        while self.parts.records.tick() | self.parts.journal.tick() | self.parts.capacity.tick():
            pass
        self.parts.records.uses.save()
        parts = self.parts
        self.tell(
            {
                "day": self.day,
                "records": parts.records.count_all(),
                "records_bytes": parts.records.bytes,
                "journal_bytes": parts.journal.bytes,
                "trash_bytes": parts.trash.bytes,
                "notes_bytes": sum(files.size("/flash/memory/" + file) for _, file, _ in parts.daily._day_files()),
                "notes_files": len(parts.daily._day_files()),
                "intents": len(list(parts.intents.of(OWNER))),
            }
        )

    def spent(self):
        """What this start has cost."""
        device, model = self.device, self.model
        self.tell(
            {
                "spent": {
                    "calls": model.calls,
                    "tokens": model.tokens,
                    "changes": device.changes,
                    "erases": device.erases,
                    "programmed": device.programmed_bytes,
                    "read": device.read_bytes,
                    "heap": self.highest,
                }
            }
        )

    def tell(self, what):
        """Print a line for the one who plays."""
        print("> " + json.dumps(what))


async def _main(board, first, last):
    for turn in range(first, last + 1):
        await board.play(turn)
    if last == life.TURNS - 1:
        await board.night()
    board.spent()


def main(path, day, first, last, cut):
    """Play the turns."""
    random.seed(day * 1000 + first)
    asyncio.run(_main(Board(path, day, cut), first, last))


main(sys.argv[1], *[int(word) for word in sys.argv[2:]])
