"""Runs on the board: copies turns one by one, and prints what that erased of the flash in the file that is named."""

import asyncio
import sys

import flash

DEVICE = flash.mount(sys.argv[1], 1 << 21, "/flash")
TURNS = 60


async def main() -> None:
    """Say turns, copy each, and print the erases of both."""
    import support

    support.use_root("/flash")
    from board import Board
    from engram.memory.access import OWNER
    from linked import Linked

    board = Board()
    linked = Linked(board)
    await linked.copy()
    begun = DEVICE.erases
    copied = 0
    for number in range(TURNS):
        board.journal.add(OWNER, "user", "owner", "turn %d about the garden and the boat" % number)
        before = DEVICE.erases
        while await linked.sync._step():
            pass
        copied += DEVICE.erases - before
    linked.check()
    print("written", DEVICE.erases - begun - copied, "copied", copied)


asyncio.run(main())
