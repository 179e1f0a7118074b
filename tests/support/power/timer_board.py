"""Runs on the board: two days of timers, told over a strict network that loses and doubles, and a cut.

    timer_board.py FLASH CUT     CUT is the number of a change of the flash at which the power fails, 0 for none

It goes on from where the flash and the world are: the file FLASH.net, which no cut touches, has the time, what the people were
sent, what was confirmed to them, and which tools were called. Prints all that, what stands in the journal, which timers are
left, and how many changes there were until the board was open and in all.
"""

import asyncio
import random
import sys

from cut_board import Echo, mount, tell
from engram.app import App
from engram.clock import Clock
from engram.compat import sleep_ms
from engram.errors import EngramError
from engram.memory.access import Caller
from engram.text.times import Repeat, Span
from engram.timers.timer_store import TimerSpec
from strict_network import Chat, World

SETTINGS = {"extract.on": False, "flush.on": False, "log.level": "error", "journal.bytes": 65536}
START = 1790000000  # 2026-09-21 14:13
STEP = 1200
STEPS = 150
TRIES = 50
FAULTY = 130  # steps in which the network loses
CALLER = Caller("owner", "net 5", False, "")
HOUR = 3600
ADDED = {
    1: TimerSpec("say", "once", Span(3 * HOUR)),
    2: TimerSpec("say", "daily", Repeat(480, 127, 0)),
    3: TimerSpec("say", "often", Repeat(0, 0, 360)),
    4: TimerSpec("ask", "what is on?", Span(5 * HOUR)),
    6: TimerSpec("tool", "lamp {}", Span(7 * HOUR)),
    8: TimerSpec("tool", "pump {}", Span(8 * HOUR)),
    10: TimerSpec("say", "gone", Span(9 * HOUR)),
    30: TimerSpec("ask", "how is it?", Repeat(1200, 127, 0)),
}
"""What is asked for at which step."""
REMOVED = {12: "gone"}


class Model(Echo):
    """Notes what it is asked."""

    def __init__(self, world):
        self._world = world

    def take(self, said):
        self._world.note("asked", said)


class Toolbox:
    """Stands for the toolbox; the pump fails."""

    def __init__(self, world):
        self._world = world

    async def call(self, name, arguments, caller):
        self._world.note("called", name)
        return name != "pump", '"ok"' if name != "pump" else "it is dry."

    def listed(self, caller):
        return ()

    def add(self, tool, is_own=True):
        pass

    def restart(self):
        pass


def change(timers, step, world):
    """What is asked for at a step, unless it was confirmed already."""
    done = [what for (what,) in world.of("confirmed")]
    if step in ADDED and ADDED[step].what not in done:
        try:
            timers.add(CALLER, ADDED[step])
        except EngramError as error:
            # It is there from before the cut: that is said, too.
            if "there already" not in str(error):
                raise
        world.note("confirmed", ADDED[step].what)
    for fields in timers.owned_by(CALLER):
        if REMOVED.get(step) == fields["what"]:
            timers.remove(CALLER, fields["id"])
    if step in REMOVED:
        world.note("removed", REMOVED[step])


async def live(board, world, clock):
    """Let the steps pass."""
    inbox = board.inbox
    inbox.deliveries.add_channel("net", lambda address: (Chat(world, address), "net 5"))
    timers = board.timers
    left = 1
    for step in range(len(world.of("step")), STEPS):
        world.is_faulty = step < FAULTY
        change(timers, step, world)
        left = await inbox.deliveries.redeliver("net")
        for _ in range(TRIES):
            is_done = await timers.run_due()
            if timers.runner._task:
                await timers.runner._task
            if is_done:
                break
            left = await inbox.deliveries.redeliver("net")
        else:
            raise RuntimeError("something due is never told: " + timers.problem)
        for _ in range(20):
            await sleep_ms(0)
        world.note("step", step)
        clock[0] += STEP
    for _ in range(8):
        left = await inbox.deliveries.redeliver("net")
    return timers, left


def main(path, cut):
    """Do what is to be done."""
    random.seed(3)
    device = mount(path, cut)
    world = World(path)
    clock = [START + STEP * len(world.of("step"))]
    app = App("/flash", SETTINGS, clock=Clock(0, lambda: clock[0]), model=Model(world))
    board = app.board
    board.timers.runner.toolbox = Toolbox(world)  # pyright: ignore[reportAttributeAccessIssue]  # it stands in for one
    tell("opened", device.changes)
    timers, left = asyncio.run(live(board, world, clock))
    tell("left", left)
    tell("timers", [(fields["what"], fields["due"]) for fields in timers.owned_by(CALLER)])
    for event in world.events:
        tell(*event)
    for line in board.journal.entries.lines_backwards():
        if "role" in line:
            tell(
                "line",
                {name: line[name] for name in ("seq", "mid", "role", "re", "prev", "to", "text") if name in line},
            )
    tell("ended", clock[0])
    tell("changes", device.changes)


main(sys.argv[1], int(sys.argv[2]))
