"""`make flash`: esptool itself, against a stand-in for the chip's loader on a pty."""

import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from board_images import TABLE, VFS, micropython, table
from board_loader import READ_FLASH, Loader
from engram_host.boards import file_set, flash, micropython_image, profile
from engram_host.boards.errors import BoardError, MemoryAtRisk, NoBoardAnswer, WrongBoard, WrongFirmware
from engram_host.boards.profile import CHIPS, BoardProfile, Region
from engram_host.boards.progress import Progress


@pytest.fixture(params=profile.profile_names())
def board(request: pytest.FixtureRequest) -> BoardProfile:
    return profile.load_profile(request.param)


@pytest.fixture
def plain() -> BoardProfile:
    return profile.load_profile("ESP32_GENERIC_SPIRAM")


@pytest.fixture
def official(plain: BoardProfile, tmp_path: Path) -> Path:
    return saved(tmp_path, micropython(plain))


def saved(folder: Path, data: bytes) -> Path:
    path = folder / "micropython.bin"
    path.write_bytes(data)
    return path


def run(board: BoardProfile, port: str, path: Path, *, may_erase: bool = False) -> None:
    flash.flash(board.name, port, path, None, may_erase=may_erase, baud=460800, progress=Progress())


def holding(board: BoardProfile, files: file_set.Files, place: Region | None = None) -> bytes:
    """A flash with MicroPython's partition table and a file system with these files."""
    place = place or board.filesystem
    entries = TABLE if place == board.filesystem else [*TABLE, ("vfs", 1, 0x81, place.offset, place.size)]
    content = bytearray(b"\xff" * board.flash_bytes)
    content[
        micropython_image.PARTITION_TABLE.offset : micropython_image.PARTITION_TABLE.offset + len(table(entries))
    ] = table(entries)
    content[place.offset : place.end] = flash.build_littlefs(files, place.size)
    return bytes(content)


def started(board: BoardProfile) -> file_set.Files:
    """The files of a board that was started, but never talked to."""
    header = b'{"format":2,"log":"journal","epoch":1,"crc":"00000000"}\n'
    logs = {"memory/memory_records.jsonl": header, "journal/journal.jsonl": header, "memory/reserve.bin": bytes(999)}
    return file_set.seed_files(board, {}) | {"code.json": b"{}", **logs}


# --- what is written


def test_a_blank_board_gets_micropython_and_the_image(
    board: BoardProfile, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = saved(tmp_path, micropython(board))
    with Loader(board.chip, board.flash_bytes) as chip:
        run(board, chip.port, path)
        files = file_set.seed_files(board, {}) | file_set.code_files(board)
        assert chip.flash[CHIPS[board.chip] :][: path.stat().st_size] == path.read_bytes()
        assert chip.flash[board.filesystem.offset :] == flash.build_littlefs(files, board.filesystem.size)
    assert flash.WITHOUT_PSRAM not in capsys.readouterr().err


def test_the_file_system_is_where_the_firmwares_own_table_has_it(plain: BoardProfile, tmp_path: Path):
    path = saved(tmp_path, micropython(plain, entries=[*TABLE[:2], ("factory", 0, 0, 0x10000, 0x230000), VFS]))
    with Loader("esp32", 4 << 20) as chip:
        run(plain, chip.port, path)
        assert chip.writes[-1] == VFS[3:]


def test_a_chip_that_reports_no_psram_is_told_before_it_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    octal = profile.load_profile("ESP32_GENERIC_S3_OCT")
    with Loader(octal.chip, octal.flash_bytes, psram=False) as chip:
        run(octal, chip.port, saved(tmp_path, micropython(octal)))
    assert flash.WITHOUT_PSRAM in capsys.readouterr().err


# --- a memory is not lost


@pytest.mark.parametrize(
    ("files", "what"),
    [
        ({"memory/memory_records.jsonl": b'{"format":2}\n{"seq":1}\n'}, "memories"),
        ({"memory/memory_records.jsonl": b"{" * 5000}, "memories"),
        ({"memory/memory_records.0001.jsonl": b""}, "memories"),
        ({"journal/journal.jsonl": b'{"format":2}\n{"seq":1}\n'}, "a journal"),
        ({"memory/2026-01-31.md": b"- tea\n"}, "notes"),
        ({"profile/user.md": b"# User\nAnn\n"}, "a profile that was written to"),
        ({"secrets.json": b"{}"}, "networks or keys"),
        ({"own.py": b"def setup(app): pass\n"}, "code of your own"),
    ],
)
def test_what_the_board_holds_is_not_overwritten(plain: BoardProfile, official: Path, files: file_set.Files, what: str):
    before = holding(plain, started(plain) | files)
    with Loader("esp32", plain.flash_bytes, before) as chip:
        with pytest.raises(MemoryAtRisk, match=f"holds {what}: save it with `engram board backup`"):
            run(plain, chip.port, official)
        assert bytes(chip.flash) == before and not chip.writes


def test_a_board_that_was_only_started_is_overwritten(plain: BoardProfile, official: Path):
    with Loader("esp32", plain.flash_bytes, holding(plain, started(plain))) as chip:
        run(plain, chip.port, official)
        assert len(chip.writes) == 2


def test_a_memory_is_found_where_the_boards_own_table_has_it(plain: BoardProfile, official: Path):
    place = Region(0x300000, 0x100000)
    with Loader("esp32", plain.flash_bytes, holding(plain, {"memory/MEMORY.md": b"tea"}, place)) as chip:
        with pytest.raises(MemoryAtRisk, match="notes"):
            run(plain, chip.port, official)
        assert not chip.writes


def test_a_file_system_that_cannot_be_read_is_not_overwritten(plain: BoardProfile, official: Path):
    before = bytearray(holding(plain, {f"memory/{number}": bytes(9000) for number in range(40)}))
    for at in (0x200000, 0x201000):
        before[at + 40 : at + 400] = bytes(360)
    with Loader("esp32", plain.flash_bytes, bytes(before)) as chip:
        with pytest.raises(MemoryAtRisk, match="a file system that cannot be read"):
            run(plain, chip.port, official)
        assert not chip.writes


# --- what does not fit


@pytest.mark.parametrize(
    ("chip", "size", "problem"), [("esp32s3", 8 << 20, "has an esp32s3"), ("esp32", 2 << 20, "2,048 KB")]
)
def test_another_chip_or_a_smaller_flash_is_refused(
    plain: BoardProfile, official: Path, chip: str, size: int, problem: str
):
    with Loader(chip, size) as there:
        with pytest.raises(WrongBoard, match=problem):
            run(plain, there.port, official)
        assert not there.writes


def firmware_cases() -> Iterator[tuple[str, bytes, str]]:
    plain = profile.load_profile("ESP32_GENERIC_SPIRAM")
    good = micropython(plain)
    yield plain.name, micropython(plain, chip="esp32s3"), "is for esp32s3, and ESP32_GENERIC_SPIRAM has an esp32"
    yield plain.name, good[0xF000:], "no partition table"
    yield plain.name, good[:0xF000], "cut short"
    yield plain.name, good + bytes(0x1F0000), "cut short or damaged"
    yield plain.name, micropython(plain, banner=b"CircuitPython 9"), "no MicroPython"
    yield plain.name, micropython(plain, banner=b"MicroPython v1.25.0 on 2025-04-15"), "Engram needs 1.26 or newer"
    yield plain.name, b"<html>" + good, "no image for a chip"
    full = [*TABLE[:2], ("factory", 0, 0, 0x10000, 0x3F0000)]
    yield plain.name, micropython(plain, entries=full), "no room for files"
    for one, other in itertools.permutations(map(profile.load_profile, profile.profile_names()), 2):
        if one.chip == other.chip and one.micropython_variant != other.micropython_variant:
            yield one.name, micropython(other), "another variant"


@pytest.mark.parametrize(("name", "data", "problem"), list(firmware_cases()))
def test_a_wrong_firmware_is_refused(name: str, data: bytes, problem: str, tmp_path: Path):
    board = profile.load_profile(name)
    with Loader(board.chip, board.flash_bytes) as chip:
        with pytest.raises(WrongFirmware, match=problem):
            run(board, chip.port, saved(tmp_path, data))
        assert not chip.writes


# --- the port


def test_a_chip_that_stops_answering_is_reported(plain: BoardProfile, official: Path):
    with Loader("esp32", plain.flash_bytes, fails_at=READ_FLASH) as chip:
        with pytest.raises(NoBoardAnswer, match="stopped answering"):
            run(plain, chip.port, official)
        assert not chip.writes


def test_wrong_settings_are_reported_before_the_board_is_touched(plain: BoardProfile, official: Path, tmp_path: Path):
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"records": {"most": 1}}), encoding="utf-8")
    with pytest.raises(BoardError, match=r"records\.most"):
        flash.flash(plain.name, "/dev/ttyNONE", official, config, may_erase=False, baud=115200, progress=Progress())
