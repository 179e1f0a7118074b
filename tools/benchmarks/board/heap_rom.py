"""Runs a module that is on a ROMFS, as a board does that has one in its flash: its bytes are on no heap.

    heap_rom.py IMAGE MODULE [ARGUMENT ...]

Only code that is imported from the ROMFS stays there; the unix port has no flash of its own for it, so that the image is read
into memory that is taken from the C library.
"""

import os
import sys


def _mount(image):
    import ffi
    import uctypes
    import vfs

    size = os.stat(image)[6]
    allocate = ffi.open("libc.so.6").func("p", "malloc", "I")
    memory = uctypes.bytearray_at(allocate(size), size)
    with open(image, "rb") as file:
        file.readinto(memory)
    vfs.mount(vfs.VfsRom(memory), "/rom")
    sys.path.insert(0, "/rom")


_mount(sys.argv.pop(1))
del _mount
__import__(sys.argv.pop(1))
