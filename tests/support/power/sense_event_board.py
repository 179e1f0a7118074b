"""Runs on the board: hours of a sense with a limit, told over a strict network that loses and doubles, and a cut.

    sense_event_board.py FLASH CUT     CUT is the number of a change of the flash at which the power fails, 0 for none

It goes on from where the flash and the world are: the file FLASH.net, which no cut touches, has the time and what the owner was
sent. Prints all that, the events that last, what stands in the journal and in the memory, and how many changes there were until
the board was open and in all.
"""

import asyncio
import random
import sys

import vfs  # type: ignore

import faulty_flash
import flash
from engram.app import App
from engram.clock import Clock
from engram.compat import sleep_ms
from engram.memory.access import OWNER, Caller
from strict_network import Chat, World, tell

SETTINGS = {"log.level": "error", "journal.bytes": 65536, "senses.cooldown_minutes": 5, "senses.write_minutes": 30}
START = 1790030040
STEPS = 140
FAULTY = 120  # steps in which the network loses
EVERY = 20
CALLER = Caller("owner", "net 5", False, "")


async def live(app, world, clock):
    """Let the minutes pass: in each part of EVERY, three of them are below the limit."""
    board = app.board
    board.inbox.add_channel("net", lambda address: (Chat(world), "net 5"))
    left = 1
    for step in range(len(world.of("step")), STEPS):
        world.is_faulty = step < FAULTY
        app.observe("cellar", 4 if 5 <= step % EVERY < 8 else 20, "°C")
        board.sense_view.set_limit(CALLER, "cellar", low=5)
        clock[0] += 60
        board.senses.tick()
        board.sense_watch.tick()
        for _ in range(20):
            await sleep_ms(0)
        left = await board.inbox.redeliver("net")
        world.note("step", step)
    for _ in range(8):
        left = await board.inbox.redeliver("net")
    return left


def main(path, cut):
    """Do what is to be done."""
    random.seed(3)
    flash.mount(path, 1 << 20, "/made")
    vfs.umount("/made")
    device = faulty_flash.FaultyFlash(path, 0, "", ("half", cut))
    vfs.mount(vfs.VfsLfs2(device, **flash.OPTIONS), "/flash")
    world = World(path)
    clock = [START + 60 * len(world.of("step"))]
    app = App("/flash", SETTINGS, clock=Clock(0, lambda: clock[0]))
    board = app.board
    tell("opened", device.changes)
    tell("left", asyncio.run(live(app, world, clock)))
    for event in world.events:
        tell(*event)
    assert board.sense_view
    for _, event in board.sense_view.lasting_events(OWNER):
        tell("event", event)
    for turn in board.journal.later(0):
        tell("line", turn["text"])
    for record in board.records.newest(OWNER, ("sense",)):
        tell("memory", record["content"])
    tell("changes", device.changes)


main(sys.argv[1], int(sys.argv[2]))
