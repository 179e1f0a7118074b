"""Writes MicroPython and Engram's file system to a chip, after a check of the flash's contents.

The file system is a littlefs image of exactly the partition's size, with the geometry that
MicroPython mounts by default. The cache size counts, too: files up to it are stored inline.
"""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from engram_host.boards import file_set, micropython_image, profile
from engram_host.boards import port as ports
from engram_host.boards.errors import (
    BadRequest,
    BoardError,
    MemoryAtRisk,
    NoBoardAnswer,
    WrongBoard,
    WrongFirmware,
    command_name,
    option_name,
)
from engram_host.boards.file_set import Files
from engram_host.boards.micropython_image import MicroPythonImage
from engram_host.boards.profile import BLOCK, BoardProfile, Region
from engram_host.boards.progress import Progress
from engram_host.wording import counted, kilobytes

GEOMETRY: dict[str, Any] = {
    "block_size": BLOCK,
    "read_size": 32,
    "prog_size": 32,
    "cache_size": 128,
    "lookahead_size": 32,
}

DISK_VERSION = 0x00020001
"""On-flash format of littlefs 2.6 and newer; MicroPython 1.26 has 2.11."""


def build_littlefs(files: Files, size: int) -> bytes:
    """Build an image of `size` bytes, reproducibly; raises BadRequest if the files do not fit."""
    import littlefs

    system = littlefs.LittleFS(
        mount=False, block_count=size // BLOCK, block_cycles=100, disk_version=DISK_VERSION, **GEOMETRY
    )
    try:
        system.format()
        system.mount()
        for path in sorted(files):
            folder = path.rpartition("/")[0]
            if folder:
                system.makedirs(folder, exist_ok=True)
            with system.open(path, "wb") as file:
                file.write(files[path])
        system.unmount()
    except littlefs.LittleFSError as error:
        if error.code != littlefs.LittleFSError.Error.LFS_ERR_NOSPC:
            raise
        total = sum(len(content) for content in files.values())
        raise BadRequest(f"{kilobytes(total)} of files do not fit on a file system of {kilobytes(size)}.") from None
    return bytes(system.context.buffer)


class LittlefsReader:
    """Read-only littlefs over `read(offset, length)`; raises ValueError if it is none or damaged."""

    def __init__(self, read: Callable[[int, int], bytes]):
        import littlefs

        class Pieces(littlefs.UserContext):
            """Cache of whole blocks: over a serial line every request is slow."""

            def __init__(self) -> None:
                self.buffer = bytearray()
                self.blocks: dict[int, bytes] = {}

            def read(self, cfg: Any, block: int, off: int, size: int) -> bytearray:
                if block not in self.blocks:
                    self.blocks[block] = read(block * BLOCK, BLOCK)
                return bytearray(self.blocks[block][off : off + size])

        self._failures = littlefs.LittleFSError
        self._system = littlefs.LittleFS(Pieces(), mount=False, block_count=0, **GEOMETRY)
        try:
            self._system.mount()
        except littlefs.LittleFSError as error:
            raise ValueError(str(error)) from None

    def sizes(self) -> dict[str, int]:
        found = {}
        try:
            for folder, _, names in self._system.walk("/"):
                for name in names:
                    path = f"{folder.rstrip('/')}/{name}"
                    found[path.lstrip("/")] = self._system.stat(path).size
        except self._failures as error:
            raise ValueError(str(error)) from None
        return found

    def content(self, path: str) -> bytes:
        try:
            with self._system.open(path, "rb") as file:
                return file.read()
        except self._failures as error:
            raise ValueError(str(error)) from None


BAUD = 460800


class Chip:
    """A chip in its loader; use connect_chip() to get one."""

    def __init__(self, loader: Any, tools: Any, name: str, flash_bytes: int):
        self.name = name
        self.has_psram = any("PSRAM" in feature for feature in loader.get_chip_features())
        self.flash_bytes = flash_bytes
        self._loader = loader
        self._tools = tools

    def read(self, offset: int, length: int) -> bytes:
        return self._loader.read_flash(offset, length)

    def write(self, parts: list[tuple[int, bytes]]) -> None:
        self._tools.write_flash(self._loader, parts, compress=True)

    def start(self) -> None:
        self._tools.reset_chip(self._loader, "hard-reset")


@contextlib.contextmanager
def connect_chip(port: str, baud: int, progress: Progress) -> Iterator[Chip]:
    """Connect to the loader; raises NoPort, PortBusy, NoBoardAnswer or WrongBoard (unknown flash)."""
    ports.open_port(port).close()
    from esptool import cmds
    from esptool.util import FatalError, flash_size_bytes

    _show_progress(progress)
    try:
        with _loader(cmds, port) as detected:
            loader = cmds.run_stub(detected)
            if baud != ports.BAUD:
                loader.change_baud(baud)
            cmds.attach_flash(loader)
            flash_bytes = flash_size_bytes(cmds.detect_flash_size(loader))
            if flash_bytes is None:
                raise WrongBoard("the size of the board's flash is unknown: is its flash chip connected and whole?")
            name = loader.CHIP_NAME.lower().replace("-", "")
            yield Chip(loader, cmds, name, flash_bytes)
    except FatalError as error:
        raise _problem(port, str(error)) from None
    except ports.LOST:
        raise ports.port_gone(port) from None


@contextlib.contextmanager
def _loader(cmds: Any, port: str) -> Iterator[Any]:
    loader = cmds.detect_chip(port)
    try:
        yield loader
    finally:
        loader._port.close()


def _problem(port: str, message: str) -> BoardError:
    first = message.strip().splitlines()[0].rstrip(".")
    if "Failed to connect" in message:
        return NoBoardAnswer(
            f"no chip answers on {port}: hold BOOT, press RESET, let BOOT go and try again; it may also be another port."
        )
    return NoBoardAnswer(
        f"the chip on {port} stopped answering as it should ({first}): try again, or slower (BAUD=115200)."
    )


def _show_progress(progress: Progress) -> None:
    from esp_pylib.logger import EspLog, EspLogBase

    class Quiet(EspLogBase):
        def print(self, *args: Any, **kwargs: Any) -> None:
            """Ignore: errors are raised, too."""

        note = hint = debug = warn = warning = err = error = set_verbosity = print

        def progress_bar(self, cur_iter: int, total_iters: int, *rest: Any, **more: Any) -> None:
            progress.step("Writing to the flash", cur_iter, total_iters)

    EspLog.set_logger(Quiet())


# --- flash


_MAGIC = b"littlefs"
REPORT_PSRAM = ("esp32s3",)
"""Chips that report PSRAM; the one beside an ESP32 is a separate chip."""

WITHOUT_PSRAM = (
    "Note: the chip reports no PSRAM, which Engram needs: take a board with PSRAM (see docs/start/boards.md)."
)
_ADVICE = (
    f"save it with {command_name('backup')}, flash with {option_name('ERASE_MEMORY')},"
    f" then restore it with {command_name('restore')}."
)


def make_image(board: str, config: Path | None, out: Path, progress: Progress) -> None:
    wanted = profile.load_profile(board)
    given = profile.read_settings(config) if config else {}
    files = file_set.seed_files(wanted, given) | file_set.code_files(wanted)
    data = build_littlefs(files, wanted.filesystem.size)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_bytes(data)
    except OSError as error:
        raise BadRequest(f"{out} cannot be written: {error.strerror}.") from None
    used = sum(data[at : at + BLOCK] != b"\xff" * BLOCK for at in range(0, len(data), BLOCK)) * BLOCK
    written = counted(len(files), "file", "files")
    progress.say(
        f"{out}: {written}, {kilobytes(used)} of {kilobytes(len(data))} in use; it belongs at offset"
        f" {wanted.filesystem.offset:#x} of a flash of {kilobytes(wanted.flash_bytes)}."
    )


def flash(
    board: str, named_port: str, path: Path, config: Path | None, *, may_erase: bool, baud: int, progress: Progress
) -> None:
    """Write MicroPython and Engram's file system; raises MemoryAtRisk if the board holds user
    data."""
    wanted = profile.load_profile(board)
    given = profile.read_settings(config) if config else {}
    micropython = micropython_image.read_image(path, wanted)
    files = file_set.seed_files(wanted, given) | file_set.code_files(wanted)
    progress.say(f"{path.name}: {micropython.version}, for {wanted.chip}.")
    where = ports.choose_port(named_port)
    progress.step(f"Connecting to {where}")
    with connect_chip(where, baud, progress) as chip:
        _check_chip(chip, wanted)
        if chip.name in REPORT_PSRAM and not chip.has_psram:
            progress.say(WITHOUT_PSRAM)
        place = _filesystem(micropython, chip, wanted)
        if not may_erase:
            progress.step("Looking for a memory on the board")
            _check_holdings(chip, place)
        data = build_littlefs(files, place.size)
        chip.write([(micropython.offset, micropython.data), (place.offset, data)])
        chip.start()
    progress.say(
        f"{wanted.name} has MicroPython and Engram now. {command_name('setup')} sets its network and model,"
        f" {command_name('monitor')} shows what it prints."
    )


def _check_chip(chip: Chip, wanted: BoardProfile) -> None:
    if chip.name != wanted.chip:
        raise WrongBoard(
            f"the board has an {chip.name}, and {wanted.name} has an {wanted.chip}: give another {option_name('BOARD')}."
        )
    if chip.flash_bytes < wanted.flash_bytes:
        size, least = kilobytes(chip.flash_bytes), kilobytes(wanted.flash_bytes)
        raise WrongBoard(
            f"the board has {size} of flash, and {wanted.name} has {least}: give another"
            f" {option_name('BOARD')}, or write a profile."
        )


def _filesystem(micropython: MicroPythonImage, chip: Chip, wanted: BoardProfile) -> Region:
    place = micropython_image.find_filesystem(micropython.table, chip.flash_bytes)
    if place is None or place.size < wanted.filesystem.size // 2:
        raise WrongFirmware("this MicroPython leaves no room for files on the board's flash: take the official image.")
    return place


def _check_holdings(chip: Chip, planned: Region) -> None:
    table = micropython_image.parse_partitions(
        chip.read(micropython_image.PARTITION_TABLE.offset, micropython_image.PARTITION_TABLE.size)
    )
    present = micropython_image.find_filesystem(table, chip.flash_bytes)
    for place in filter(None, {planned, present}):
        holds = _holdings(chip, place)
        if holds:
            raise MemoryAtRisk(holds, _ADVICE)


def _holdings(chip: Chip, place: Region) -> list[str]:
    if all(_MAGIC not in chip.read(place.offset + block * BLOCK, BLOCK) for block in (0, 1)):
        return []
    try:
        files = LittlefsReader(lambda offset, length: chip.read(place.offset + offset, length))
        return file_set.find_user_data(files.sizes(), files.content)
    except ValueError:
        return ["a file system that cannot be read"]
