"""Memory of indexes that are gone, given back to the system."""

import contextlib
import ctypes

_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8

_LARGE_BYTES = 1 << 21
"""More than one column of what a search works out for 200,000 rows."""

_FREE_BYTES = 1 << 24
_HEAPS = 1


def configure_malloc() -> None:
    """Let the C library give back the memory of evicted indexes; does nothing where it is not glibc.

    An index has arrays of some hundred KB to some MB. By default glibc soon takes such arrays from heaps, of which it has
    eight for each core, and returns little: after some hundred searches the process had grown by a third. With these
    settings, arrays of 2 MB and more are mapped one by one and returned as soon as they are freed. Smaller ones, which a
    search takes and frees by the dozen, come from one heap, which keeps 16 MB for the next search: mapping each of them
    made a search on 100,000 turns a fifth slower.
    """
    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL("libc.so.6")
        libc.mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)
        libc.mallopt(_M_TRIM_THRESHOLD, _FREE_BYTES)
        libc.mallopt(_M_ARENA_MAX, _HEAPS)


def trim_malloc() -> None:
    """Return the free memory of glibc's heaps as well: for after an eviction."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)
