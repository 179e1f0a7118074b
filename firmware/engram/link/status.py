"""Tells the companion how the board is."""

import random

from engram import diag
from engram.compat import ticks_add, ticks_diff, ticks_ms
from engram.errors import Refused


async def tell(sync, find_status, run: list) -> None:
    """Send what find_status() gives. NetError, but for a refusal: what was refused is told the next time.

    `run` has the seconds since the start, when they were counted in ticks, and a number that no other start has, 0 until it is
    told for the first time.
    """
    if not run[2]:
        run[2] = 1 + random.getrandbits(29)
    _count_seconds(run)
    items = [["run", run[2]], ["seconds", run[0]]]
    items.extend([name, value] for name, value in find_status().items())
    try:
        await sync.ask("status", items=items)
    except Refused as refusal:
        diag.info("companion", "it does not take how the board is: %s" % refusal)


def _count_seconds(run: list) -> None:
    # The counter of ticks wraps after 12 days: after six days without a companion some are missing.
    passed = max(0, ticks_diff(ticks_ms(), run[1])) // 1000
    run[0] += passed
    run[1] = ticks_add(run[1], passed * 1000)
