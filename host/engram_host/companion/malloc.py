"""Lets the C library give memory back that was freed.

An index that leaves frees arrays of some hundred KB to some MB. By default glibc soon takes such arrays from heaps, of which
it has eight for each core and returns little: after some hundred searches the process had a third more than with these two
settings, by which arrays of 256 KB and more are mapped one by one and are gone when they are freed.
"""

import contextlib
import ctypes

_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8

_LARGE_BYTES = 1 << 18
_HEAPS = 1


def configure_malloc() -> None:
    """Set glibc so; elsewhere nothing happens."""
    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL("libc.so.6")
        libc.mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)
        libc.mallopt(_M_ARENA_MAX, _HEAPS)


def trim_malloc() -> None:
    """Give back what is free in the heaps, too: after much was let go."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)
