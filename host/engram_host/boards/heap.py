"""Whether a board's heap holds modules that come from files; where it does not, there are two ways out."""

TWO_WAYS = "freeze Engram into MicroPython, or take a board with PSRAM (see docs/start/boards.md)"
"""The board itself says the same when it has no memory for Engram: see firmware/main.py."""

HEAP_FOR_FILES = 400 << 10
"""Bytes of heap in which modules from files run (figures: docs/design/heap.md). A chip without PSRAM has less than half."""

NOTE_WITHOUT_ENGRAM = (
    f"Note: this MicroPython has no Engram in it, and from files Engram needs more heap than a chip without PSRAM has:"
    f" {TWO_WAYS}."
)
"""Is told before a MicroPython without frozen modules goes to a board that may have no PSRAM."""


def heap_note(free_heap: int) -> str:
    """What to tell of a board with so much free heap, "" if modules from files run there."""
    if free_heap >= HEAP_FOR_FILES:
        return ""
    return f"Note: the board has no PSRAM, and Engram does not start there from files: {TWO_WAYS}."
