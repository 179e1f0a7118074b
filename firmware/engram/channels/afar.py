"""What a command does that asks the companion: it waits in the pauses of a command."""

import asyncio

from engram.compat import const

_LOOK_MS = const(20)


def found(ask, query: str, asker, limit: int):
    """Yield pauses until the companion has answered or its time is over; gives Ask.found's answer."""
    answers = []

    async def wait():
        answers.append(await ask.found(query, asker, limit))

    task = asyncio.create_task(wait())
    try:
        while not task.done():
            yield _LOOK_MS
    finally:
        if not task.done():
            task.cancel()
    return answers[0] if answers else None
