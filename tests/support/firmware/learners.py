"""Boards that learn from what people say: a turn is said, then the background works until it has nothing more to do."""

import json

from board import Board, Script
from engram.memory.access import OWNER
from turns import Ear


def learner(*steps, **settings):
    """A board whose model plays these steps, those for facts among them."""
    return Board().learn(Script(*steps), **settings)


def facts(*operations):
    """A model's answer: operations as a JSON list."""
    return json.dumps(operations)


def add(turn, content, tags=("note",), **more):
    """An operation that adds a fact."""
    more.update({"op": "add", "from": turn, "content": content, "tags": list(tags)})
    return more


async def tell(board, content, caller=OWNER):
    """(outcome, ear) of a turn, without what follows in the background."""
    ear = Ear()
    return await board.agent.turn(caller, content, ear), ear


async def read(board, steps=20):
    """Let the jobs do what is due, at most so many steps."""
    after = board.jobs
    for _ in range(steps):
        due = [job for job in after.jobs if job.is_due()]
        if not due:
            return
        await due[0].step()


async def learn(board, content, caller=OWNER):
    """A turn, and what follows it."""
    outcome, ear = await tell(board, content, caller)
    await read(board)
    return outcome, ear


def contents(board, caller=OWNER):
    """The contents of the live records, oldest first."""
    return [record["content"] for record in board.records.newest(caller)][::-1]


def told(board):
    """What /stats says of the jobs."""
    return "\n".join("%s %s" % pair for pair in board.jobs.status_lines())
