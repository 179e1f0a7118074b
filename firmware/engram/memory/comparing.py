"""Loads the comparison of facts for the moment in which it is needed.

Leaves first: an import within an import within an import would take more of the stack than a chip has. Where the heap is
small its code goes again, 6 KB if it is frozen.
"""

from engram.compat import unload_modules

_MODULES = (
    "engram.memory.fact_words",
    "engram.memory.fact_cut",
    "engram.memory.fact_numbers",
    "engram.memory.fact_order",
    "engram.memory.fact_tokens",
    "engram.memory.fact",
    "engram.memory.fact_change",
    "engram.memory.compare",
)


def load():
    """The module compare; to be let go with done()."""
    for name in _MODULES:
        __import__(name)
    from engram.memory import compare

    return compare


def done() -> None:
    """It is not needed for now."""
    unload_modules(_MODULES)
