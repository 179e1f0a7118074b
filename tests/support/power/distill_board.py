"""Runs on the board: notes, their distillation in two batches, memories that leave for lack of room, and a power cut.

    distill_board.py FLASH CUT     CUT is the number of the change of the flash at which the power fails, 0 for none

It goes on from where the flash is: what was done before is not done again. Prints what is acknowledged, what there is at
the end, and last the number of changes.
"""

import asyncio
import json
import random
import sys

from cut_board import mount, tell
from engram.app import App
from engram.clock import Clock
from engram.learning import distill
from engram.llm.types import Reply
from engram.memory.access import OWNER

SETTINGS = {"records.most": 12, "extract.pause_seconds": 0, "log.level": "error"}
NOTES = 4
distill.CHARS = 1000
STORED = 16
WORDS = ("anchor", "bridge", "candle", "dragon", "engine", "forest", "garden", "hammer", "island", "jacket", "kettle")


class Model:
    """Makes a memory of each note."""

    name = "scripted"
    rounds = 10
    no_tools = ""
    work = "thinking"
    on_retry = None

    async def stream(self, request, on_text, on_retry=None):
        message = list(request.messages())[-1].text
        operations = []
        for line in message[message.find("<notes>") : message.find("</notes>")].split("\n")[1:]:
            head, _, note = line[1:].partition("] ")
            if note:
                content = note[6:].split(" and ")[0]
                operations.append(
                    {"op": "add", "from": [head.split(" ")[0]], "content": content, "tags": ["day"], "importance": 1}
                )
        answer = json.dumps(operations)
        await on_text(answer)
        return Reply(answer, (), "end", (-1, -1, -1))


def note(at):
    """A note, long enough for two of them to fill a batch."""
    return "%s number %d stands in the hall and %s" % (WORDS[at], at, "so on " * 60)


def said(at):
    """Contents of which none is near another."""
    return " ".join([WORDS[at % 11] + str(at), WORDS[at * 5 % 11] + str(at * 3), WORDS[at * 7 % 11] + str(at * 7)])


async def distil(parts):
    """Distil all notes."""
    job = parts.distillation
    report = job.ask("owner", True)
    while job.is_due() and not report.is_over:
        await job.step()


def contents(parts):
    """What is live, and what is in the trash."""
    live = [record["content"] for record in parts.records.newest()]
    return sorted(live), sorted({record["content"] for record in parts.records.left() if record})


def main(path, cut):
    """Do what is to be done."""
    random.seed(7)
    device = mount(path, cut)
    parts = App("/flash", SETTINGS, clock=Clock(0, lambda: 1790000000), model=Model()).board
    there = parts.notes.for_caller(OWNER).text(parts.notes.for_caller(OWNER).today())
    for at in range(NOTES):
        if note(at).strip() not in there:
            parts.notes.for_caller(OWNER).note(note(at))
        tell("noted", at)
    asyncio.run(distil(parts))
    tell("distilled")
    known = contents(parts)
    for at in range(STORED):
        if said(at) not in known[0] and said(at) not in known[1]:
            parts.records.store(said(at), ["t"], importance=at / 100)
        tell("stored", at)
    live, trash = contents(parts)
    tell("there", live, trash, parts.note_retention.waiting())
    tell("changes", device.changes)


main(sys.argv[1], int(sys.argv[2]))
