"""Runs on the board: prints how many bytes the stand-ins take that are on no chip, and how many all of the firmware's modules
take that the month has loaded.

weigh_board.py FLASH
"""

import gc
import sys


def _used():
    gc.collect()
    return gc.mem_alloc()  # pyright: ignore[reportAttributeAccessIssue]  # no module of the firmware is loaded yet


_BEGINNING = _used()
import asyncio  # noqa: E402, F401
import json  # noqa: E402, F401
import random  # noqa: E402, F401

import engram.agent.answer  # noqa: E402
import engram.app  # noqa: E402
import engram.build  # noqa: E402
import engram.build_turn  # noqa: E402
import engram.learning.distill_batch  # noqa: E402
import engram.llm.types  # noqa: E402, F401

_firmware = _used()

import life  # noqa: E402
import month_board  # noqa: E402

_device = month_board.Device(sys.argv[1], life.FLASH_BYTES, "", ("half", 0))
_model = month_board.Model()
print("modules", _firmware - _BEGINNING)
print("stand-ins", _used() - _firmware)
