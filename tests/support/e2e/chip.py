"""A board on the chip's sizes: the 32-bit build, the firmware as .mpy files, and a littlefs."""

from pathlib import Path

import firmware_build
import get_micropython
from driving import Home

MICROPYTHON = get_micropython.HOME / "32"
FLASH_BYTES = 1 << 20
PATH = f"{firmware_build.SIM}:{firmware_build.FIRMWARE}:.frozen"


def board(folder: Path) -> Home:
    """A board in a folder, all in a littlefs."""
    folder.mkdir(exist_ok=True)
    return Home(folder).knowing(
        MICROPYPATH=PATH, ENGRAM_FLASH=str(folder / "flash.bin"), ENGRAM_FLASH_SIZE=str(FLASH_BYTES)
    )
