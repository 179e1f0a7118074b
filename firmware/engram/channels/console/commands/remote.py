"""Waits of commands for the companion, in pauses for other tasks."""

from engram.compat import const
from engram.interrupt import start_task

_LOOK_MS = const(20)


def waited(ask):
    """Yield pauses until the coroutine function `ask` ends; return its result, None if broken off."""
    answers = []

    async def wait():
        answers.append(await ask())

    task = start_task(wait)
    try:
        while not task.done():
            yield _LOOK_MS
    finally:
        if not task.done():
            task.cancel()
    return answers[0] if answers else None
