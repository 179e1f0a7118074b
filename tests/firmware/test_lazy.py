"""Packages that are loaded while they are used: where the heap is small nothing of them stays."""

import gc
import sys

import engram
from engram import lazy
from engram.compat import heap_used
from support import raises

PACKAGES = {
    "transfer": ("export", "importer", "jsonl"),
    "reminders": ("reminder_file", "form", "tool"),
    "learning": ("distill_batch", "extract_batch", "operations"),
    "channels.console.commands": ("care", "sessions", "stats", "transfer"),
}


class Heap:
    """Makes the heap small, or large, for a test."""

    def __init__(self, is_small):
        self._is_small = is_small

    def __enter__(self):
        self._real = lazy.is_heap_small
        lazy.is_heap_small = lambda: self._is_small

    def __exit__(self, kind, error, trace):
        lazy.is_heap_small = self._real


def _loaded():
    return sorted(name for name in sys.modules if name.split(".")[0] == "engram")


def _import(package, name):
    __import__("engram.%s.%s" % (package, name))


def test_nothing_of_a_package_stays_where_the_heap_is_small():
    with Heap(True):
        for package, names in PACKAGES.items():
            lazy.unload(package)
            before = _loaded()
            with lazy.lazy(package):
                for name in names:
                    _import(package, name)
                assert "engram.%s.%s" % (package, names[0]) in sys.modules
            left = [name for name in _loaded() if name not in before]
            assert not [name for name in left if name.startswith("engram." + package)], left


def test_the_heap_is_as_before_where_the_heap_is_small():
    if not hasattr(gc, "mem_alloc"):
        return
    with Heap(True):
        used = []
        for _ in range(4):  # the first ones load what such a package shares with others, and names
            with lazy.lazy("reminders"):
                _import("reminders", "reminder_file")
            gc.collect()
            used.append(heap_used())
        assert used[3] <= used[2], used


def test_a_package_stays_where_the_heap_is_large():
    with Heap(False):
        lazy.unload("reminders")
        with lazy.lazy("reminders"):
            _import("reminders", "tool")
        assert "engram.reminders.tool" in sys.modules and hasattr(engram, "reminders")


def test_modules_that_were_loaded_before_stay():
    with Heap(True):
        lazy.unload("reminders")
        _import("reminders", "form")
        with lazy.lazy("reminders"):
            _import("reminders", "tool")
        assert "engram.reminders.form" in sys.modules and "engram.reminders.tool" not in sys.modules


def test_overlapping_blocks_keep_a_package_until_the_last_one_ends():
    with Heap(True):
        lazy.unload("reminders")
        first, second = lazy.lazy("reminders"), lazy.lazy("reminders")
        first.__enter__()
        _import("reminders", "tool")
        second.__enter__()
        first.__exit__(None, None, None)
        assert "engram.reminders.tool" in sys.modules
        second.__exit__(None, None, None)
        assert "engram.reminders.tool" not in sys.modules


def test_a_package_is_unloaded_after_an_error_too():
    with Heap(True):
        lazy.unload("reminders")
        with raises(ValueError), lazy.lazy("reminders"):
            _import("reminders", "tool")
            raise ValueError
        assert "engram.reminders.tool" not in sys.modules


def test_a_single_module_is_unloaded_and_loaded_again():
    import engram.wifi_config

    first = engram.wifi_config
    lazy.unload("wifi_config")
    lazy.unload("wifi_config")
    assert "engram.wifi_config" not in sys.modules and not hasattr(engram, "wifi_config")
    import engram.wifi_config

    assert engram.wifi_config is not first


def test_a_block_that_could_not_begin_keeps_nothing_in_use():
    real, left = lazy._loaded, [1]

    def fail(package):
        left[0] -= 1
        if left[0] < 0:
            raise MemoryError
        return real(package)

    with Heap(True):
        lazy.unload("reminders")
        lazy._loaded = fail
        try:
            with raises(MemoryError):
                lazy.lazy("reminders", "transfer").begin()
        finally:
            lazy._loaded = real
        with lazy.lazy("reminders"):
            _import("reminders", "tool")
        assert "engram.reminders.tool" not in sys.modules
