"""Runs on the board: prints what somebody's export holds; for the owner also the trash, and what was said, from the journal.

export_board.py FLASH WHO
"""

import sys

import flash
import life
from engram.app import App
from engram.clock import Clock
from engram.memory.scope import OWNER, Asker

flash.mount(sys.argv[1], life.FLASH_BYTES, "/flash")
app = App("/flash", life.SETTINGS, clock=Clock(0, lambda: life.START + life.DAYS * life.DAY))
who = sys.argv[2]
asker = OWNER if who == "owner" else Asker("ann" if who == "group" else who, "x", who == "group", "")
for line in app._parts.commands.run(asker, "/export"):
    if isinstance(line, str):
        print(line)
if who == "owner":
    for record in app._parts.trash.records():
        print("trash", record["id"], record["content"])
    for turn in app._parts.journal.later(0):
        if turn["role"] == "user":
            print("turn", turn["text"])
