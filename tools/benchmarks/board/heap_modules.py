"""What each module takes of the heap when it is imported: heap_modules.py MODULE ...

Prints the module's name and bytes, in the order given, in which each comes after those that it imports; before each and at
the end what MicroPython tells of its table of names. That doubles when it is full: whichever module needs the next name would
pay for all that follow.
"""

import gc
import sys

import micropython

# MicroPython's own, which are frozen on a chip, too; what they take is nobody's of ours.
for name in ("array", "asyncio", "json", "random", "select", "socket", "struct"):
    __import__(name)
for name in ("StreamReader", "Lock", "Event", "wait_for_ms"):
    getattr(sys.modules["asyncio"], name)  # loaded when it is asked for
sys.modules["network"] = __import__("machine")  # the unix port has none, and an import calls nothing of it


def main(*names):
    """Import one after the other."""
    before = after = 0
    for name in names:
        micropython.qstr_info()
        before = _used()
        __import__(name)
        after = _used()
        print(name, after - before)
    micropython.qstr_info()


def _used():
    gc.collect()
    return gc.mem_alloc()


main(*sys.argv[1:])
