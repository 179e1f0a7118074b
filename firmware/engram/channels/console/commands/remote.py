"""Commands that ask the companion wait for it in pauses, in which others run."""

from engram.compat import const
from engram.interrupt import start_task

_LOOK_MS = const(20)


def found(ask, ranked, limit: int):
    """Yield pauses until the companion has answered or its time is over; gives what RemoteSearch.found() gives."""
    return (yield from _waited(lambda: ask.found(ranked, limit)))


def fetched(archive, ref: str, caller):
    """Yield pauses likewise; gives what ArchiveTransfer.fetched() gives."""
    return (yield from _waited(lambda: archive.fetched(ref, caller)))


def _waited(ask):
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
