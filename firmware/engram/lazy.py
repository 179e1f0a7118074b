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

_UNUSED = (0, ())

_in_use = {}
"""For each package in use: how many blocks use it, and the names of its modules that were loaded before them."""


class lazy:
    """The modules of some packages, loaded within a `with` block and unloaded at its end where the heap is small.

    Names are those below engram, such as "transfer", or "device.ntp" for a single module.
    """

    def __init__(self, *packages: str):
        self._packages = packages

    def __enter__(self):
        self.begin()
        return self

    def __exit__(self, kind, error, trace):
        self.end()

    def begin(self) -> None:
        """Begin a block that no `with` statement can stand for."""
        if not is_heap_small():
            return
        new = [package for package in self._packages if not _in_use.get(package, _UNUSED)[0]]
        if new:
            gc.collect()  # so that what is loaded does not lie scattered among what goes
        # All that needs memory comes before the first one counts: what fails here is not in use.
        entries = [(package, [0, tuple(_loaded(package))]) for package in new]
        _in_use.update(entries)
        for package in self._packages:
            _in_use[package][0] += 1

    def end(self) -> None:
        """End it."""
        if not is_heap_small():
            return
        for package in self._packages:
            _in_use[package][0] -= 1
        has_gone = False
        for package in self._packages:
            if package in _in_use and not _in_use[package][0]:
                unload(package, _in_use.pop(package)[1])
                has_gone = True
        if has_gone:
            gc.collect()  # so that what comes next lies where this was, and large pieces stay free


def is_heap_small() -> bool:
    """Whether modules have to make room for others; elsewhere they stay, and are not read from flash again."""
    global _is_small
    if _is_small is None:
        _is_small = 0 <= heap_free() < _SMALL_HEAP - heap_used()
    return _is_small


def make_room() -> None:
    """Collect the garbage of a small heap: before something is loaded that is used where a lot of it has come together."""
    if is_heap_small():
        gc.collect()


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
