"""The boards' profiles: they fit the flash and the firmware."""

import json
from pathlib import Path

import pytest

from board_images import TABLE, table
from engram.config import SETTINGS
from engram_host.boards import file_set, flash, micropython_image, profile
from engram_host.boards.errors import BadRequest
from engram_host.boards.profile import BLOCK, BoardProfile
from engram_host.firmware import BOARDS
from one_case import in_one_case

BOARD_NAMES = profile.profile_names()
INDEX_TO_LOG = 0.25
"""What `make bench-store` gives for 2,000 turns; records need less."""

LARGEST_SEGMENT = 1 << 20


@pytest.fixture(params=BOARD_NAMES)
def board(request: pytest.FixtureRequest) -> BoardProfile:
    return profile.load_profile(request.param)


def partitions() -> list[micropython_image.Partition]:
    return micropython_image.parse_partitions(table(TABLE))


def test_the_file_system_is_where_the_official_image_has_it(board: BoardProfile):
    assert micropython_image.find_filesystem(partitions(), board.flash_bytes) == board.filesystem


def test_the_firmware_takes_the_settings(board: BoardProfile):
    assert profile.parse_settings(profile.config_json(board.settings).decode(), "") == board.settings


def test_full_logs_with_their_indexes_leave_room_for_a_deploy(board: BoardProfile):
    rows = (line.split(" ", 1) for line in SETTINGS.strip().splitlines())
    limits = {name: json.loads(row)[0] for name, row in rows} | board.settings
    records, journal = limits["records.bytes"], limits["journal.bytes"]
    code = used(flash.build_littlefs(file_set.code_files(board), board.filesystem.size))
    indexes = INDEX_TO_LOG * (records + journal) + INDEX_TO_LOG * max(records, journal)  # one is merged into a new one
    reserves = sum(min(log // 8, LARGEST_SEGMENT) + 3 * BLOCK for log in (records, journal))
    others = limits["notes.bytes"] + limits["senses.bytes"]
    too_much = 2 * code + records + journal + indexes + reserves + others - board.filesystem.size
    assert too_much < 0, f"lower records.bytes or journal.bytes: together they are {too_much / 1.75:.0f} bytes too much"


def used(data: bytes) -> int:
    return sum(data[at : at + BLOCK] != b"\xff" * BLOCK for at in range(0, len(data), BLOCK)) * BLOCK


@in_one_case("name", ["", "NO_SUCH", "../SIM", "SIM"])
def test_another_name_is_refused_with_those_that_there_are(name: str):
    with pytest.raises(BadRequest, match="BOARD takes " + ", ".join(BOARD_NAMES)):
        profile.load_profile(name)


@in_one_case(
    "change",
    [
        ('"chip": "esp32"', '"chip": "esp8266"'),
        ('"settings": {', '"setting": {'),
        ('"bytes": 2097152', '"bytes": 2097153'),
        ('"bytes": 2097152', '"bytes": 4194304'),
    ],
)
def test_a_profile_that_cannot_be_is_refused(change: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    text = (BOARDS / "ESP32_GENERIC_SPIRAM" / "board.json").read_text(encoding="utf-8")
    assert change[0] in text
    (tmp_path / "ODD").mkdir()
    (tmp_path / "ODD" / "board.json").write_text(text.replace(*change), encoding="utf-8")
    monkeypatch.setattr(profile, "BOARDS", tmp_path)
    with pytest.raises(BadRequest, match=r"boards/ODD/board.json"):
        profile.load_profile("ODD")


# --- pins


@in_one_case("name", BOARD_NAMES)
def test_the_pins_that_are_never_allowed_go_to_the_board_with_its_code(name: str):
    board = profile.load_profile(name)
    code = json.loads(file_set.code_files(board)["code.json"])
    assert code["forbidden_pins"] == list(board.forbidden_pins) and 0 in board.forbidden_pins


@in_one_case("name", BOARD_NAMES)
def test_settings_with_a_pin_that_is_never_allowed_are_refused_before_anything_is_written(name: str):
    board = profile.load_profile(name)
    for number in board.forbidden_pins:
        with pytest.raises(BadRequest, match=rf"config: pins\.lamp: pin: {number} is never allowed"):
            file_set.seed_files(board, {"pins.lamp": {"pin": number, "mode": "out"}})
    seeds = file_set.seed_files(board, {"pins.lamp": {"pin": 14, "mode": "out"}})
    assert json.loads(seeds["config.json"])["pins"] == {"lamp": {"pin": 14, "mode": "out"}}
