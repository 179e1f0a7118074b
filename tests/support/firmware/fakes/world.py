"""The time that passes for the stand-ins: only when it is told to, and with it what is to happen at a moment."""

import asyncio

now = 0
"""Milliseconds since the world began."""

_waiting = []
"""(moment, order, what happens) of all that is to come."""
_count = 0


def after(milliseconds: int, happens) -> None:
    """Let something happen later."""
    global _count
    _count += 1
    _waiting.append((now + milliseconds, _count, happens))


def forget_all() -> None:
    """Nothing is to come any more."""
    _waiting.clear()


def advance(milliseconds: int) -> None:
    """Let time pass, and happen what is due in it, in order."""
    global now
    end = now + milliseconds
    while True:
        due = [each[:2] for each in _waiting if each[0] <= end]
        if not due:
            break
        moment, order = min(due)
        happens = next(each[2] for each in _waiting if each[1] == order)
        _waiting[:] = [each for each in _waiting if each[1] != order]
        now = moment
        happens()
    now = end


async def sleep_ms(milliseconds: int) -> None:
    """As compat.sleep_ms, in this time."""
    advance(milliseconds)
    await asyncio.sleep(0)


def ticks_ms() -> int:
    """As compat.ticks_ms, in this time."""
    return now
