"""The boards' profiles, and the builds with frozen modules: both fit the flash, and each other."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from engram.config import SETTINGS
from engram_host.boards import file_set, flash, micropython_image, profile
from engram_host.boards.errors import BadRequest
from engram_host.boards.profile import BLOCK, BoardProfile, Region
from engram_host.firmware import BOARDS, FIRMWARE
from one_case import in_one_case

BOARD_NAMES = profile.profile_names()
FROZEN_NAMES = [name for name in BOARD_NAMES if (BOARDS / name / "mpconfigboard.cmake").exists()]
OFFICIAL = "nvs,data,nvs,0x9000,0x6000\nphy_init,data,phy,0xf000,0x1000\nfactory,app,factory,0x10000,0x1F0000\n"
"""The partition table of the official images for all boards, from MicroPython 1.26 to 1.29."""

APP_ALIGNMENT = 0x10000
INDEX_TO_LOG = 0.25
"""What `make bench-store` gives for 2,000 turns; records need less."""

LARGEST_SEGMENT = 1 << 20


@pytest.fixture(params=BOARD_NAMES)
def board(request: pytest.FixtureRequest) -> BoardProfile:
    return profile.load_profile(request.param)


@pytest.fixture(params=FROZEN_NAMES)
def frozen(request: pytest.FixtureRequest) -> BoardProfile:
    """A board that has a frozen build."""
    return profile.load_profile(request.param)


def frozen_table(board: BoardProfile) -> list[micropython_image.Partition]:
    return micropython_image.parse_partition_csv((BOARDS / board.name / "partitions.csv").read_text(encoding="utf-8"))


def test_the_file_system_is_where_the_official_image_has_it(board: BoardProfile):
    assert (
        micropython_image.find_filesystem(micropython_image.parse_partition_csv(OFFICIAL), board.flash_bytes)
        == board.filesystem
    )


def test_the_firmware_takes_the_settings(board: BoardProfile):
    assert profile.parse_settings(profile.config_json(board.settings).decode(), "") == board.settings


def test_full_logs_with_their_indexes_leave_room_for_a_deploy(board: BoardProfile):
    rows = (line.split(" ", 1) for line in SETTINGS.strip().splitlines())
    limits = {name: json.loads(row)[0] for name, row in rows} | board.settings
    records, journal = limits["records.bytes"], limits["journal.bytes"]
    code = used(flash.build_littlefs(file_set.code_files(board), board.filesystem.size))
    indexes = INDEX_TO_LOG * (records + journal) + INDEX_TO_LOG * max(records, journal)  # one is merged into a new one
    reserves = sum(min(log // 8, LARGEST_SEGMENT) + 3 * BLOCK for log in (records, journal))
    others = limits["records.trash_bytes"] + limits["notes.bytes"] + limits["senses.bytes"]
    too_much = code + code // 2 + records + journal + indexes + reserves + others - board.filesystem.size
    assert too_much < 0, f"lower records.bytes or journal.bytes: together they are {too_much / 1.75:.0f} bytes too much"


def used(data: bytes) -> int:
    return sum(data[at : at + BLOCK] != b"\xff" * BLOCK for at in range(0, len(data), BLOCK)) * BLOCK


@pytest.mark.parametrize("name", ["", "NO_SUCH", "../SIM", "SIM"])
def test_another_name_is_refused_with_those_that_there_are(name: str):
    with pytest.raises(BadRequest, match="BOARD takes " + ", ".join(BOARD_NAMES)):
        profile.load_profile(name)


@pytest.mark.parametrize(
    "change",
    [
        ('"chip": "esp32"', '"chip": "esp8266"'),
        ('"psram": false,', ""),
        ('"bytes": 2097152', '"bytes": 2097153'),
        ('"bytes": 2097152', '"bytes": 4194304'),
        ('"flash_bytes": 4194304', '"flash_bytes": "much"'),
    ],
)
def test_a_profile_that_cannot_be_is_refused(change: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    text = (BOARDS / "ESP32_GENERIC" / "board.json").read_text(encoding="utf-8")
    assert change[0] in text
    (tmp_path / "ODD").mkdir()
    (tmp_path / "ODD" / "board.json").write_text(text.replace(*change), encoding="utf-8")
    monkeypatch.setattr(profile, "BOARDS", tmp_path)
    with pytest.raises(BadRequest, match=r"boards/ODD/board.json"):
        profile.load_profile("ODD")


# --- pins


@pytest.mark.parametrize("name", BOARD_NAMES)
def test_the_pins_that_are_never_allowed_go_to_the_board_with_its_code(name: str):
    board = profile.load_profile(name)
    code = json.loads(file_set.code_files(board, is_frozen=True)["code.json"])
    assert code["forbidden_pins"] == list(board.forbidden_pins) and 0 in board.forbidden_pins


@pytest.mark.parametrize("name", BOARD_NAMES)
def test_settings_with_a_pin_that_is_never_allowed_are_refused_before_anything_is_written(name: str):
    board = profile.load_profile(name)
    for number in board.forbidden_pins:
        with pytest.raises(BadRequest, match=rf"config: pins\.lamp: pin {number} is never allowed"):
            file_set.seed_files(board, {"pins.lamp": {"pin": number, "mode": "out"}})
    seeds = file_set.seed_files(board, {"pins.lamp": {"pin": 14, "mode": "out"}})
    assert json.loads(seeds["config.json"])["pins"] == {"lamp": {"pin": 14, "mode": "out"}}


# --- frozen builds


def test_a_board_without_psram_has_a_frozen_build(board: BoardProfile):
    assert board.psram or board.name in FROZEN_NAMES


def test_no_partitions_of_a_frozen_build_overlap(frozen: BoardProfile):
    places = sorted((part.place for part in frozen_table(frozen)), key=lambda place: place.offset)
    assert micropython_image.PARTITION_TABLE.end <= places[0].offset
    assert all(one.end <= following.offset for one, following in pairwise(places))


def test_a_frozen_build_ends_with_the_flash(frozen: BoardProfile):
    assert max(part.place.end for part in frozen_table(frozen)) == frozen.flash_bytes


def test_a_frozen_build_has_its_file_system_in_a_partition_of_its_own(frozen: BoardProfile):
    place = micropython_image.find_filesystem(frozen_table(frozen), frozen.flash_bytes)
    assert "vfs" in {part.label for part in frozen_table(frozen)}
    assert place and place.offset % BLOCK == place.size % BLOCK == 0


def test_a_frozen_application_has_more_room_than_the_official_one(frozen: BoardProfile):
    (app,) = [part.place for part in frozen_table(frozen) if part.kind == micropython_image.APP]
    assert app.offset == APP_ALIGNMENT and app.size % APP_ALIGNMENT == 0 and app.size > 0x1F0000


def test_what_is_before_the_application_is_where_the_official_image_has_it(frozen: BoardProfile):
    def before_app(table: list[micropython_image.Partition]) -> list[tuple[str, Region]]:
        return [
            (part.label, part.place) for part in table if part.kind != micropython_image.APP and part.label != "vfs"
        ]

    assert before_app(frozen_table(frozen)) == before_app(micropython_image.parse_partition_csv(OFFICIAL))


def test_a_frozen_build_says_the_flashs_size(frozen: BoardProfile):
    lines = (BOARDS / frozen.name / "sdkconfig.board").read_text(encoding="utf-8").split()
    assert f"CONFIG_ESPTOOLPY_FLASHSIZE_{frozen.flash_bytes >> 20}MB=y" in lines
    assert sum(line.endswith("=y") for line in lines) == 1


def test_a_frozen_build_stands_on_its_official_board(frozen: BoardProfile):
    text = (BOARDS / frozen.name / "mpconfigboard.cmake").read_text(encoding="utf-8")
    assert f"/boards/{frozen.micropython_board}/mpconfigboard.cmake" in text
    assert (f"mpconfigvariant_{frozen.micropython_variant}.cmake" in text) == bool(frozen.micropython_variant)


class Manifest:
    """Runs a manifest as a MicroPython build does, and notes what it asks for."""

    def __init__(self, path: Path):
        self.official: list[str] = []
        self.modules: list[Path] = []
        self._run(path)

    def _run(self, path: Path) -> None:
        def include(name: str) -> None:
            if name.startswith("$(PORT_DIR)/"):
                self.official.append(name)
            else:
                self._run(path.parent / name)

        def package(name: str, base_path: str = "") -> None:
            self.modules += sorted((path.parent / base_path / name).rglob("*.py"))

        exec(path.read_text(encoding="utf-8"), {"include": include, "package": package})


def test_a_manifest_freezes_all_modules_beside_the_official_ones(frozen: BoardProfile):
    manifest = Manifest(BOARDS / frozen.name / "manifest.py")
    assert manifest.official == ["$(PORT_DIR)/boards/manifest.py"]
    assert {path.resolve() for path in manifest.modules} == set((FIRMWARE / "engram").rglob("*.py"))


@in_one_case("module", sorted((FIRMWARE / "engram").rglob("*.py")))
def test_a_module_of_the_manifest_compiles_for_the_chip(module: Path):
    compiled = file_set.compile_module(module, "-march=xtensawin", *file_set.WITHOUT_LINES)
    assert compiled[:1] == b"M" and compiled[1] == file_set.MPY_VERSION[0]


# --- partition tables


def test_a_table_with_a_file_system_says_where_it_is():
    table = micropython_image.parse_partition_csv(OFFICIAL + "vfs,data,fat,0x300000,0x100000\n")
    assert micropython_image.find_filesystem(table, 8 << 20) == Region(0x300000, 0x100000)


def test_a_table_that_fills_the_flash_leaves_no_file_system():
    assert micropython_image.find_filesystem(micropython_image.parse_partition_csv(OFFICIAL), 2 << 20) is None


def test_a_flash_without_a_table_has_no_file_system():
    assert micropython_image.find_filesystem(micropython_image.parse_partitions(b"\xff" * 0xC00), 4 << 20) is None
