"""Maps a file into memory without keeping a descriptor of it.

mmap.mmap duplicates the descriptor of its file for as long as the map is there (only from Python 3.13 on can that be switched
off), and so does numpy.memmap. With a thousand indexes that were as many descriptors, which connections need.
"""

import ctypes
import mmap
import os
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_FAILED = ctypes.c_void_p(-1).value


class _Map:
    """Memory of a map, which ends once no array is left that has a part of it."""

    def __init__(self, address: int, size: int):
        self._address = address
        self._size = size
        # Never at the end of the process: a thread that still searches would read what is no longer mapped.
        weakref.finalize(self, _libc.munmap, address, size).atexit = False

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return {"version": 3, "shape": (self._size,), "typestr": "|u1", "data": (self._address, False)}


def map_file(descriptor: int, size: int) -> NDArray[np.uint8]:
    """The first `size` bytes of a file; what is changed in them is changed in memory only. OSError."""
    access = mmap.PROT_READ | mmap.PROT_WRITE
    address = _libc.mmap(None, size, access, mmap.MAP_PRIVATE, descriptor, 0)
    if address == _FAILED:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return np.asarray(_Map(address, size))
