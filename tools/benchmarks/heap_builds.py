"""The three ways in which a board has its code, each on the 32-bit unix port, which has the chip's object sizes.

mpy      modules in .mpy files on the file system: all that is loaded of them is on the heap
romfs    the same files on a ROMFS in the flash: bytecode and texts stay there
frozen   modules built into MicroPython: only what they define is on the heap
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from mpremote.romfs import VfsRomWriter

import firmware_build
import frozen_build
import get_micropython

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "heap"


@dataclass(frozen=True)
class Build:
    """MicroPython with the firmware's code in one of the ways. `path` is where it imports from; `start` runs a module."""

    name: str
    program: Path
    path: str
    start: tuple[str, ...] = ()

    def command(self, heap_kilobytes: int, module: str, *arguments: str) -> tuple[str, ...]:
        """The command line that runs a module in a heap of a size."""
        return (str(self.program), "-X", f"heapsize={heap_kilobytes}k", "-m", *self.start, module, *arguments)


def mpy() -> Build:
    """From .mpy files without line numbers, as a board without PSRAM has them."""
    return Build("mpy", get_micropython.HOME / "32", ":".join(str(folder) for folder in [*_folders(), ".frozen"]))


def romfs() -> Build:
    """From a ROMFS with the same files."""
    image = FOLDER / "code.romfs"
    image.parent.mkdir(parents=True, exist_ok=True)
    # In place of another one at once: a board of another process may have that one open.
    draft = image.with_name(f"{image.name}.{os.getpid()}")
    draft.write_bytes(romfs_image(_folders()))
    draft.replace(image)
    starter = firmware_build.SMALL / "tools" / "benchmarks" / "board"
    return Build("romfs", get_micropython.HOME / "32", f"{starter}:.frozen", ("heap_rom", str(image)))


def frozen() -> Build:
    """Frozen; debian.Unavailable where that cannot be built."""
    return Build("frozen", frozen_build.ensure(), ".frozen")


BUILDS: dict[str, Callable[[], Build]] = {"mpy": mpy, "romfs": romfs, "frozen": frozen}


def _folders() -> list[Path]:
    """Folders with compiled modules, that of the unix port's main.py before that of the chip's."""
    firmware_build.compile_small()
    return [firmware_build.SMALL / name for name in ("boards/SIM", "firmware", "tools/benchmarks/board")]


def romfs_image(folders: list[Path]) -> bytes:
    """A ROMFS with all that is in these folders, at its root; of two of a name, the first."""
    writer = VfsRomWriter()
    found: dict[str, Path] = {}
    for folder in reversed(folders):
        found.update({path.name: path for path in folder.iterdir()})
    _add(writer, found.values())
    return bytes(writer.finalise())


def _add(writer: VfsRomWriter, paths: Iterable[Path]) -> None:
    for path in sorted(paths):
        if path.is_dir():
            writer.opendir(path.name)
            _add(writer, path.iterdir())
            writer.closedir()
        else:
            writer.mkfile(path.name, path.read_bytes())
