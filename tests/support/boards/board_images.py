"""What tests of boards make: a file with MicroPython, and looks at a littlefs with the 32-bit MicroPython."""

import json
import os
import struct
import subprocess
from hashlib import md5
from pathlib import Path

import firmware_build
import get_micropython
from engram_host.boards import micropython_image
from engram_host.boards.profile import CHIPS, BoardProfile

CHIP_IDS = {"esp32": 0, "esp32c3": 5, "esp32s3": 9}
VARIANTS = {"": b"", "SPIRAM": b" with SPIRAM", "SPIRAM_OCT": b" with Octal-SPIRAM"}
"""How the names of boards end in official images."""

TABLE = [("nvs", 1, 2, 0x9000, 0x6000), ("phy_init", 1, 1, 0xF000, 0x1000), ("factory", 0, 0, 0x10000, 0x1F0000)]
VFS = ("vfs", 1, 0x81, 0x240000, 0x1C0000)
BANNER = b"MicroPython v1.26.1 on 2025-09-11"
HEAP = "2m"


def table(entries: list[tuple[str, int, int, int, int]]) -> bytes:
    """A partition table as it is in the flash."""
    data = b"".join(
        struct.pack("<HBBII16sI", 0x50AA, kind, subtype, offset, size, label.encode(), 0)
        for label, kind, subtype, offset, size in entries
    )
    return data + b"\xeb\xeb" + b"\xff" * 14 + md5(data).digest()


def official_name(board: BoardProfile) -> bytes:
    """What the official image for a board calls it."""
    return b"Generic " + board.chip.upper().encode() + b" module" + VARIANTS[board.micropython_variant]


def micropython(
    board: BoardProfile,
    *,
    entries: list[tuple[str, int, int, int, int]] | None = None,
    chip: str = "",
    banner: bytes = BANNER,
    more: bytes = b"",
) -> bytes:
    """A file that looks like MicroPython for a board: bootloader, partition table and application, but no program."""
    offset = CHIPS[board.chip]
    header = bytes([0xE9, 1, 2, 0x2F]) + bytes(8) + struct.pack("<H", CHIP_IDS[chip or board.chip]) + bytes(10)
    name = official_name(board) + b" with " + board.chip.upper().encode()
    app = bytes([0xE9]) + bytes(2000) + banner + b"; " + name + b"\0" + more
    start = header.ljust(micropython_image.PARTITION_TABLE.offset - offset, b"\xff")
    data = (start + table(TABLE if entries is None else entries)).ljust(0x10000 - offset, b"\xff")
    return data + app.ljust(0x20000, b"\x5a")


_MOUNT = """
import os, sys, vfs
import flash
class flashbdev:
    bdev = flash.Flash(sys.argv[1], 0)
sys.modules["flashbdev"] = flashbdev
vfs.umount("/")
vfs.mount(vfs.VfsLfs2(flashbdev.bdev, readsize=32, progsize=32), "/")
sys.path[:] = ["", ".frozen", "/lib"]
"""


_LOOK = """
import hashlib, json
def look(folder):
    for entry in os.ilistdir(folder or "/"):
        path = folder + "/" + entry[0]
        if entry[1] & 0x4000:
            look(path)
        else:
            with open(path, "rb") as file:
                found[path[1:]] = hashlib.sha256(file.read()).digest().hex()
found = {}
look("")
print(json.dumps(found))
"""


STORE_IN_APP = """
import module_packs
module_packs.mount()
from engram.app import App
app = App()
app.memory.store("the cellar's key hangs behind the door", tags=["home"])
print(len(app.memory.search("key")))
"""
"""Starts the app from the flash, stores a memory and prints how many are found."""


def run_on(flash: Path, code: str) -> str:
    """Return the output of a program under the 32-bit MicroPython, on a board with this flash."""
    done = subprocess.run(
        [get_micropython.HOME / "32", "-X", f"heapsize={HEAP}", "-c", _MOUNT + code, flash],
        env={**os.environ, "MICROPYPATH": f"{firmware_build.SIM}:.frozen"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0 and not done.stderr, done.stdout + done.stderr
    return done.stdout


def hashes_on(flash: Path) -> dict[str, str]:
    """The SHA-256 of all files in a littlefs by path, as MicroPython reads them."""
    return json.loads(run_on(flash, _LOOK))
