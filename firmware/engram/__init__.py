"""Engram: a memory that lasts for agents on microcontrollers."""

import sys

__version__ = "0.1.0"

if sys.implementation.name != "micropython":
    import builtins

    setattr(builtins, "const", lambda value: value)  # a word of MicroPython's compiler, which leaves nothing of it
