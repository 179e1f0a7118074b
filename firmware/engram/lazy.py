"""Loads a package while it is used: where the heap is small, its modules are unloaded after that.

    with lazy("transfer"):
        from engram.transfer import importer
        ...

Blocks may overlap, also those of several tasks: a package stays until the last of them ends. Modules that were loaded
before the first block began stay loaded.
"""

import gc
import sys

from engram.compat import const, heap_free, heap_used

_SMALL_HEAP = const(262144)  # bytes: less than a chip with PSRAM has

_is_small = None
"""Whether the heap is small: its size does not change."""

_in_use = {}
"""For each package in use: how many blocks use it, and the names of its modules that were loaded before them."""


class lazy:
    """The modules of some packages, loaded within a `with` block and unloaded at its end where the heap is small.

    Names are those below engram, such as "transfer", or "device.ntp" for a single module.
    """

    def __init__(self, *packages: str):
        self._packages = packages

    def __enter__(self):
        if not is_heap_small():
            return self
        gc.collect()  # so that what is loaded does not lie scattered among what goes
        for package in self._packages:
            entry = _in_use.setdefault(package, [0, ()])
            if not entry[0]:
                entry[1] = tuple(_loaded(package))
            entry[0] += 1
        return self

    def __exit__(self, kind, error, trace):
        if not is_heap_small():
            return
        for package in self._packages:
            entry = _in_use[package]
            entry[0] -= 1
            if not entry[0]:
                del _in_use[package]
                unload(package, entry[1])
        gc.collect()  # so that what comes next lies where this was, and large pieces stay free


def is_heap_small() -> bool:
    """Whether modules have to make room for others; elsewhere they stay, and are not read from flash again."""
    global _is_small
    if _is_small is None:
        _is_small = 0 <= heap_free() < _SMALL_HEAP - heap_used()
    return _is_small


def release(*packages: str) -> None:
    """Unload packages, or single modules, where the heap is small."""
    if is_heap_small():
        for package in packages:
            unload(package)
        gc.collect()


def unload(package: str, keep=()) -> None:
    """Remove the modules of a package, or a single module, from the heap; not those named in `keep`."""
    for name in _loaded(package):
        if name not in keep:
            del sys.modules[name]
            parent, _, last = name.rpartition(".")
            if parent in sys.modules and hasattr(sys.modules[parent], last):
                delattr(sys.modules[parent], last)


def _loaded(package: str) -> list:
    whole = "engram." + package
    inside = whole + "."
    return [name for name in sys.modules if name == whole or name.startswith(inside)]
