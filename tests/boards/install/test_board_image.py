"""The image of a board's file system: MicroPython mounts it, and all is in it."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from board_images import STORE_IN_APP, hashes_on, run_on
from engram_host.boards import file_set, flash, profile
from engram_host.boards.errors import BadRequest
from engram_host.boards.profile import BoardProfile
from engram_host.boards.progress import Progress
from skips import needs_32_bit


@pytest.fixture(params=profile.profile_names())
def board(request: pytest.FixtureRequest) -> BoardProfile:
    return profile.load_profile(request.param)


def make(tmp_path: Path, board: BoardProfile, config: dict | None = None) -> Path:
    given = None
    if config is not None:
        given = tmp_path / "given.json"
        given.write_text(json.dumps(config), encoding="utf-8")
    out = tmp_path / "fs.bin"
    flash.make_image(board.name, given, out, Progress())
    return out


@needs_32_bit
def test_micropython_finds_all_files_as_they_are(board: BoardProfile, tmp_path: Path):
    files = file_set.code_files(board) | file_set.seed_files(board, {})
    assert hashes_on(make(tmp_path, board)) == {path: sha256(content).hexdigest() for path, content in files.items()}


@needs_32_bit
def test_the_app_runs_from_it_and_stores(board: BoardProfile, tmp_path: Path):
    assert run_on(make(tmp_path, board), STORE_IN_APP).split() == ["1"]


@needs_32_bit
def test_each_module_of_the_firmware_is_imported_from_the_pack(board: BoardProfile, tmp_path: Path):
    sources = (file_set.FIRMWARE / "engram").rglob("*.py")
    names = sorted(".".join(path.relative_to(file_set.FIRMWARE).with_suffix("").parts) for path in sources)
    names = [name.removesuffix(".__init__") for name in names]
    found = run_on(make(tmp_path, board), FIND_MODULES.format(names=names)).split()
    assert found == ["True", str(len(names))]


FIND_MODULES = """
import module_packs
module_packs.mount()
found = 0
for name in {names}:
    path = "/packs/" + name.replace(".", "/")
    try:
        file = open(path + ".mpy", "rb")
    except OSError:
        file = open(path + "/__init__.mpy", "rb")
    module = file.read()
    found += len(module) > 3 and module[:1] == b"M"
import engram.store.store
print(engram.store.store.__file__.startswith("/packs/"), found)
"""


INTERRUPTED = """
import module_packs
module_packs.mount()
module_packs.mount()
find = module_packs._Packs._find
def strike(self, path):
    global left
    left -= 1
    if not left:
        module_packs._Packs._find = find
    raise {error}
for _ in range(2):
    left = {strikes}
    module_packs._Packs._find = strike
    try:
        import engram.store.index.codec
    except {error}:
        print("struck")
    import engram.store.{module}
print(sys.path.count("/packs"))
"""


@needs_32_bit
@pytest.mark.parametrize(("error", "strikes"), [("KeyboardInterrupt", 1), ("MemoryError", 1), ("MemoryError", 2)])
def test_ctrl_c_and_a_lack_of_memory_while_a_module_is_looked_for_are_not_lost(
    error: str, strikes: int, tmp_path: Path
):
    program = INTERRUPTED.replace("{error}", error).replace("{module}", "log.reserve")
    program = program.replace("{strikes}", str(strikes))
    found = run_on(make(tmp_path, profile.load_profile("ESP32_GENERIC_SPIRAM")), program).split()
    assert found == ["struck", "struck", "1"]


def test_code_json_shows_the_hash_of_every_other_file(board: BoardProfile):
    code = file_set.code_files(board)
    told = json.loads(code.pop("code.json"))
    assert told["files"] == {path: sha256(content).hexdigest()[:16] for path, content in code.items()}
    assert told["micropython"] == "6.3" and told["board"] == board.name


def test_settings_go_before_the_profiles(tmp_path: Path):
    board = profile.load_profile("ESP32_GENERIC_SPIRAM")
    given = {"llm": {"url": "http://10.0.0.2:8000/v1", "model": "m"}, "records": {"most": 100}, "timezone": "+01:00"}
    data = make(tmp_path, board, given).read_bytes()
    config = json.loads(
        flash.LittlefsReader(lambda offset, length: data[offset : offset + length]).content("config.json")
    )
    expected = board.settings | {"records.most": 100, "llm.url": given["llm"]["url"], "llm.model": "m"}
    assert config.pop("timezone") == "+01:00"
    assert {f"{group}.{key}": value for group, inner in config.items() for key, value in inner.items()} == expected


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"records": {"most": 3}}, "records.most: must be a whole number from 10 to 60000"),
        ({"llm.uri": "x"}, "llm.uri: there is no such setting"),
        ({"llm": {"key": "k"}}, "llm.key: is a secret"),
        ({"llm": {"url": "x" * 9000}}, "config.json is longer than 8192 bytes"),
        (["mode"], "must be a JSON object"),
    ],
)
def test_a_wrong_setting_is_reported_and_nothing_is_written(config: object, sentence: str, tmp_path: Path):
    with pytest.raises(BadRequest, match=sentence):
        make(tmp_path, profile.load_profile("ESP32_GENERIC_SPIRAM"), config)  # type: ignore[arg-type]
    assert not (tmp_path / "fs.bin").exists()


def test_too_much_for_the_file_system_is_reported():
    with pytest.raises(BadRequest, match="do not fit"):
        flash.build_littlefs({"large": bytes(600 << 10)}, 512 << 10)
