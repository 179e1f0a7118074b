"""Puts MicroPython and Engram on a board: all that was on it goes, so it looks first whether that is missed."""

from pathlib import Path

from engram_host.boards import chip as chips
from engram_host.boards import file_set, heap, image, micropython_image, partitions, port, profile, settings, user_data
from engram_host.boards.chip import Chip
from engram_host.boards.errors import BadRequest, MemoryAtRisk, WrongBoard, WrongFirmware, kilobytes
from engram_host.boards.micropython_image import MicroPythonImage
from engram_host.boards.profile import BLOCK, Profile, Region
from engram_host.boards.progress import Progress

_MAGIC = b"littlefs"
_ADVICE = "save it with `make backup`, then flash with ERASE_MEMORY=1, then `make restore`."


def make_image(board: str, config: Path | None, out: Path, progress: Progress) -> None:
    """Write the file system of a board, as its official MicroPython expects it, to a file."""
    wanted = profile.load(board)
    given = settings.read_settings(config) if config else {}
    files = file_set.seeds(wanted, given) | file_set.code(wanted)
    data = image.build_littlefs(files, wanted.filesystem.size)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_bytes(data)
    except OSError as error:
        raise BadRequest(f"{out} cannot be written: {error.strerror}.") from None
    used = sum(data[at : at + BLOCK] != b"\xff" * BLOCK for at in range(0, len(data), BLOCK)) * BLOCK
    progress.say(
        f"{out}: {len(files)} files, {kilobytes(used)} of {kilobytes(len(data))} in use; it belongs at offset"
        f" {wanted.filesystem.offset:#x} of a flash of {kilobytes(wanted.flash_bytes)}."
    )


def flash(
    board: str,
    named_port: str,
    path: Path,
    config: Path | None,
    *,
    may_erase: bool,
    baud: int,
    progress: Progress,
) -> None:
    """Write MicroPython from the file `path`, and Engram's file system. MemoryAtRisk if the board holds something."""
    wanted = profile.load(board)
    given = settings.read_settings(config) if config else {}
    files = file_set.seeds(wanted, given)
    micropython = micropython_image.read_image(path, wanted)
    files |= file_set.code(wanted, is_frozen=micropython.has_engram)
    progress.say(f"{path.name}: {micropython.version}, for {wanted.chip}.")
    if not (micropython.has_engram or wanted.psram):
        progress.say(heap.NOTE_WITHOUT_ENGRAM)
    where = port.choose(named_port)
    progress.step(f"Connecting to {where}")
    with chips.connect_chip(where, baud, progress) as chip:
        _check_chip(chip, wanted)
        place = _filesystem(micropython, chip, wanted)
        if not may_erase:
            progress.step("Looking for a memory on the board")
            _check_holdings(chip, place)
        data = image.build_littlefs(files, place.size)
        chip.write([(micropython.offset, micropython.data), (place.offset, data)])
        chip.start()
    progress.say(
        f"{wanted.name} has MicroPython and Engram now. `make wifi` gives it a network, `make monitor` shows it."
    )


def _check_chip(chip: Chip, wanted: Profile) -> None:
    if chip.name != wanted.chip:
        raise WrongBoard(f"the board has an {chip.name}, and {wanted.name} an {wanted.chip}: name another BOARD.")
    if chip.flash_bytes < wanted.flash_bytes:
        size, least = kilobytes(chip.flash_bytes), kilobytes(wanted.flash_bytes)
        raise WrongBoard(
            f"the board has {size} of flash, and {wanted.name} {least}: name another BOARD or make a profile."
        )


def _filesystem(micropython: MicroPythonImage, chip: Chip, wanted: Profile) -> Region:
    """Where this MicroPython will look for its file system on this chip."""
    place = partitions.find_filesystem(micropython.table, chip.flash_bytes)
    if place is None or place.size < wanted.filesystem.size // 2:
        raise WrongFirmware("this MicroPython leaves no room for files on the board's flash: take the official image.")
    return place


def _check_holdings(chip: Chip, planned: Region) -> None:
    """MemoryAtRisk if there is a memory where the board has its files now, or where they will be."""
    table = partitions.parse_partitions(chip.read(partitions.PARTITION_TABLE.offset, partitions.PARTITION_TABLE.size))
    present = partitions.find_filesystem(table, chip.flash_bytes)
    for place in filter(None, {planned, present}):
        holds = _holdings(chip, place)
        if holds:
            raise MemoryAtRisk(holds, _ADVICE)


def _holdings(chip: Chip, place: Region) -> list[str]:
    if all(_MAGIC not in chip.read(place.offset + block * BLOCK, BLOCK) for block in (0, 1)):
        return []
    try:
        files = image.LittlefsReader(lambda offset, length: chip.read(place.offset + offset, length))
        return user_data.find_user_data(files.sizes(), files.content)
    except ValueError:
        return ["a file system that cannot be read"]
