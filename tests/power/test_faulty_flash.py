"""The flash that keeps a trace and fails where it is told to (tests/support/power/board/faulty_flash.py)."""

from pathlib import Path

import pytest

import flashes
from cuts import format_flash
from flashes import BLOCK, Image, read_trace
from playing import Played, look, play

BLOCKS = 4
OPERATIONS = [{"do": "store", "content": "the harbour is closed", "tags": ["travel"]}, {"do": "files"}]


@pytest.fixture
def chip(tmp_path: Path):
    """A small flash, opened here and not on MicroPython."""
    from faulty_flash import FaultyFlash  # type: ignore[import-not-found]

    return FaultyFlash(str(tmp_path / "chip.bin"), BLOCKS * BLOCK, str(tmp_path / "trace"))


def _read(chip, block: int, offset: int, length: int) -> bytes:
    buffer = bytearray(length)
    chip.readblocks(block, buffer, offset)
    return bytes(buffer)


def _synced(chip, tmp_path: Path) -> list[flashes.Change]:
    chip._trace.flush()
    chip._file.flush()
    return read_trace(tmp_path / "trace")


def test_what_is_programmed_is_read(chip):
    chip.writeblocks(2, b"abcd", 64)
    assert _read(chip, 2, 63, 6) == b"\xffabcd\xff"


def test_programming_only_clears_bits(chip):
    chip.writeblocks(0, b"\xf0", 0)
    chip.writeblocks(0, b"\x3c", 0)
    assert _read(chip, 0, 0, 1) == b"\x30"


def test_an_erase_sets_a_whole_block_and_no_other(chip):
    chip.writeblocks(1, b"one", 0)
    chip.writeblocks(2, b"two", 0)
    chip.ioctl(6, 1)
    assert _read(chip, 1, 0, 3) == b"\xff\xff\xff" and _read(chip, 2, 0, 3) == b"two"


def test_reads_programs_and_erases_are_counted_with_their_bytes(chip):
    chip.writeblocks(0, bytes(96), 32)
    chip.ioctl(6, 3)
    _read(chip, 0, 0, 40)
    assert (chip.programs, chip.programmed_bytes, chip.erases) == (1, 96, 1)
    assert (chip.reads, chip.read_bytes, chip.changes) == (1, 40, 2)


def test_the_trace_makes_the_same_flash_on_the_host(chip, tmp_path: Path):
    chip.writeblocks(1, b"\xf0first", 8)
    chip.ioctl(6, 2)
    chip.writeblocks(2, b"second", 0)
    chip.writeblocks(1, b"\x3c", 8)
    image = Image(b"\xff" * BLOCKS * BLOCK)
    for change in _synced(chip, tmp_path):
        image.apply(change)
    assert bytes(image.content) == (tmp_path / "chip.bin").read_bytes()


def test_half_of_a_program_is_its_first_half(chip, tmp_path: Path):
    chip.writeblocks(1, b"12345678", 0)
    half = Image(b"\xff" * BLOCKS * BLOCK).with_half(_synced(chip, tmp_path)[0])
    assert half.content[BLOCK : BLOCK + 6] == b"1234\xff\xff"


def test_half_of_an_erase_leaves_the_second_half_of_the_block(chip, tmp_path: Path):
    chip.ioctl(6, 1)
    half = Image(bytes(BLOCKS * BLOCK)).with_half(_synced(chip, tmp_path)[0])
    assert half.content[BLOCK : 2 * BLOCK] == b"\xff" * 2048 + bytes(2048)


def _play_with(tmp_path: Path, blank: bytes, fault: tuple[str, int]) -> tuple[Played, bytes, list[flashes.Change]]:
    flash = tmp_path / "flash.bin"
    flash.write_bytes(blank)
    played = play([*OPERATIONS, look()], flash=str(flash), trace=str(tmp_path / "trace"), fault=fault)
    return played, flash.read_bytes(), read_trace(tmp_path / "trace")


@pytest.mark.parametrize(("what", "done"), [("before", 299), ("half", 300), ("after", 300)])
def test_a_cut_ends_the_board_and_the_flash_is_as_in_its_trace(tmp_path: Path, blank: bytes, what: str, done: int):
    played, content, changes = _play_with(tmp_path, blank, (what, 300))
    assert played.status and not played.answers and len(changes) == done
    image = Image(blank)
    for change in changes:
        image.apply(change)
    assert bytes(image.content) == content


@pytest.fixture
def used(tmp_path: Path, blank: bytes) -> tuple[bytes, int]:
    """A flash on which a board was started before, so that it starts alike each time; and the changes until it is open."""
    flash = tmp_path / "used.bin"
    flash.write_bytes(blank)
    play([look()], flash=str(flash))
    content = flash.read_bytes()
    return content, _play_with(tmp_path, content, ("", 0))[0].answers[0][1]


@pytest.mark.parametrize("what", ["refused", "raised"])
def test_a_program_that_fails_is_an_input_output_error(tmp_path: Path, used: tuple[bytes, int], what: str):
    content, opened = used
    played, _, _ = _play_with(tmp_path, content, (what, opened + 1))
    assert played.answers[1][0] == "refused" and "error 5" in played.answers[1][4]


def test_a_full_device_is_reported_as_full(tmp_path: Path, used: tuple[bytes, int]):
    content, opened = used
    played, _, _ = _play_with(tmp_path, content, ("full", opened + 1))
    assert played.answers[1][0] == "refused" and played.answers[1][3] == "StoreFull"


def test_a_new_flash_is_blank_but_for_its_file_system(tmp_path: Path):
    content = format_flash(tmp_path / "new.bin", 32 * BLOCK)
    assert len(content) == 32 * BLOCK and content.endswith(b"\xff" * 8 * BLOCK)
