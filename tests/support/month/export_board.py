"""Runs on the board: prints what somebody's export and intents hold; for the owner also what is on the board of everybody.

    export_board.py FLASH FORM DAYS WHO

live REF TEXT     a live memory              trash REF TEXT    one that left for lack of room
note FILE TEXT    a line of a day's note     turn SEQ TEXT     what was said, from the journal
oldest SEQ        of the journal
"""

import sys

import flash
import life
from engram.app import App
from engram.clock import Clock
from engram.memory.access import OWNER, Caller

flash.mount(sys.argv[1], life.FLASH_BYTES, "/flash")
clock = Clock(0, lambda: life.moment(int(sys.argv[3]), 0))
app = App("/flash", life.FORMS[sys.argv[2]].settings, clock=clock)
parts = app.board
who = sys.argv[4]
caller = OWNER if who == "owner" else Caller("ann" if who == "group" else who, "chat#all", who == "group", "")
for line in parts.commands.run(caller, "/export"):
    if isinstance(line, str):
        print(line)
for row in parts.timers.owned_by(caller):
    print("intent", row["id"])
if who == "owner":
    for record in parts.records.entries.newest():
        print("live", record["id"], record["content"])
    for record in filter(None, parts.records.left()):
        print("trash", record["id"], record["content"])
    for _, file, _ in parts.note_retention._day_files():
        with open("/flash/memory/" + file) as opened:
            for line in opened:
                print("note", file, line.strip())
    for turn in parts.journal.later(0):
        if turn["role"] == "user":
            print("turn", turn["seq"], turn["text"])
    print("oldest", parts.journal.entries.oldest)
