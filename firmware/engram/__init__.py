"""Engram: a memory that lasts for agents on microcontrollers."""

import sys

__version__ = "0.1.0"

if sys.implementation.name != "micropython":
    import builtins

    # MicroPython's compiler takes const() by its name: an import of it would cost each module 25 bytes and a global.
    builtins.const = lambda value: value  # pyright: ignore
