"""`make backup` and `make restore`, with a stand-in board: what a person has said and what is remembered comes back."""

import asyncio
import io
import json
import random
import tarfile
import zlib
from hashlib import sha256
from pathlib import Path

import pytest

from board_files import files_on, flash_with
from board_stand_in import StandIn, started
from engram.agent.agent import Sink
from engram.app import App
from engram.memory.access import OWNER
from engram_host.boards import backup, file_set, profile
from engram_host.boards.errors import (
    BadRequest,
    BoardError,
    BoardFailed,
    MemoryAtRisk,
    NoBoardAnswer,
    NoPort,
    WrongBoard,
)
from engram_host.boards.file_set import Files
from engram_host.boards.progress import Progress
from engram_host.firmware import FIRMWARE
from extent import with_more
from one_case import in_one_case
from skips import needs_32_bit

BOARD = profile.load_profile("ESP32_GENERIC_SPIRAM")
SIZE = 1 << 20
CUTS = with_more((3, 19), (3, 14, 19, 21, 30))


def code_of(board: str) -> Files:
    return {"boot.py": (FIRMWARE / "boot.py").read_bytes(), "code.json": json.dumps({"board": board}).encode()}


FRESH = file_set.seed_files(BOARD, {}) | code_of(BOARD.name)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """The files of a board that was talked to."""
    home = tmp_path_factory.mktemp("home")
    app = App(str(home), BOARD.settings)
    app.memory.store("my bike is green", tags=["bike"])
    asyncio.run(app.ask("remember that the key hangs behind the door", Sink(), OWNER))
    app.note("tea at four")
    paths = [path for path in home.rglob("*") if path.is_file()]
    return {path.relative_to(home).as_posix(): path.read_bytes() for path in paths}


@pytest.fixture
def saved(tmp_path: Path, memory: Files) -> Path:
    """A backup of that board."""
    with StandIn(flash_with(tmp_path, FRESH | memory | {"secrets.json": b'{"llm": {"key": "k"}}'}, SIZE)) as board:
        backup.backup(board.port, tmp_path / "saved.tar.gz", Progress())
    return tmp_path / "saved.tar.gz"


def lasting(files: Files) -> Files:
    """What is not code and is not made anew by the firmware."""
    return {
        path: content for path, content in files.items() if path not in code_of("") and not backup._REBUILT.search(path)
    }


def run_restore(board: StandIn, path: Path, *, may_erase: bool = False) -> None:
    backup.restore(board.port, path, Progress(), may_erase=may_erase)


def opened_app(files: Files, folder: Path) -> App:
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return App(str(folder), {"log.level": "warning"})


def found(app: App, words: str) -> list[str]:
    return [app.memory.get(hit["id"])["content"] for hit in app.memory.search(words)]


@needs_32_bit
def test_all_that_lasts_is_saved_but_no_secret(saved: Path, memory: Files):
    assert backup.read_backup(saved).files == lasting(FRESH | memory)


@needs_32_bit
def test_a_backup_is_for_its_owner_only(saved: Path):
    assert saved.stat().st_mode & 0o077 == 0


@needs_32_bit
def test_own_code_is_saved_and_restored(tmp_path: Path):
    own = {"own.py": b"def setup(app):\n    pass\n"}
    with StandIn(flash_with(tmp_path, FRESH | own)) as board:
        backup.backup(board.port, tmp_path / "saved.tar.gz", Progress())
    assert backup.read_backup(tmp_path / "saved.tar.gz").files["own.py"] == own["own.py"]
    flash = flash_with(tmp_path, FRESH, SIZE)
    with StandIn(flash) as board:
        run_restore(board, tmp_path / "saved.tar.gz")
    assert files_on(flash)["own.py"] == own["own.py"]


@needs_32_bit
def test_a_restored_board_remembers(saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    flash = flash_with(tmp_path, FRESH, SIZE)
    with StandIn(flash) as board:
        run_restore(board, saved)
    app = opened_app(files_on(flash), tmp_path / "restored")
    assert found(app, "bike") == ["my bike is green"]
    assert found(app, "key door") == ["the key hangs behind the door"]
    assert app.board.records.entries.damaged == app.board.journal.entries.damaged == 0
    assert "Restored" in capsys.readouterr().err


@needs_32_bit
def test_a_board_with_a_memory_keeps_it(saved: Path, tmp_path: Path):
    before = FRESH | {"memory/MEMORY.md": b"tea"}
    flash = flash_with(tmp_path, before, SIZE)
    with StandIn(flash) as board, pytest.raises(MemoryAtRisk, match="holds notes: save it with `engram board backup`"):
        run_restore(board, saved)
    assert files_on(flash) == before


@needs_32_bit
def test_networks_and_keys_stay_on_the_board(saved: Path, tmp_path: Path):
    secrets = {"secrets.json": b'{"llm": {"key": "mine"}}'}
    flash = flash_with(tmp_path, FRESH | secrets, SIZE)
    with StandIn(flash) as board:
        run_restore(board, saved)
    assert files_on(flash)["secrets.json"] == secrets["secrets.json"]


@needs_32_bit
def test_asked_to_erase_it_leaves_nothing_of_the_old_memory(saved: Path, tmp_path: Path, memory: Files):
    old = {"memory/2020-01-01.md": b"old", "journal/journal.0007.jsonl": b"old\n", "memory/memory_records.x3": b"old"}
    flash = flash_with(tmp_path, FRESH | memory | old, SIZE)
    with StandIn(flash) as board:
        run_restore(board, saved, may_erase=True)
    assert set(files_on(flash)) == set(FRESH | lasting(memory))


@needs_32_bit
@pytest.mark.parametrize("pieces", CUTS)
def test_cut_in_the_middle_the_board_has_the_old_memory_or_the_new_one(
    saved: Path, tmp_path: Path, memory: Files, pieces: int
):
    before = FRESH | {"memory/2020-01-01.md": b"old"}
    flash = flash_with(tmp_path, before, SIZE)
    with StandIn(flash, cut_after=pieces) as board, pytest.raises((NoPort, NoBoardAnswer)):
        run_restore(board, saved, may_erase=True)
    started(flash)
    found = {path for path in files_on(flash) if not path.startswith("next/")}
    assert found in (set(before), set(FRESH | lasting(memory)))
    with StandIn(flash) as board:
        run_restore(board, saved, may_erase=True)
    assert set(files_on(flash)) == set(FRESH | lasting(memory))


@needs_32_bit
def test_on_another_kind_of_board_its_own_limits_hold(saved: Path, tmp_path: Path):
    s3 = profile.load_profile("ESP32_GENERIC_S3")
    flash = flash_with(tmp_path, file_set.seed_files(s3, {}) | code_of(s3.name), SIZE)
    with StandIn(flash) as board:
        run_restore(board, saved)
    config = json.loads(files_on(flash)["config.json"])
    assert config["records"]["bytes"] == s3.settings["records.bytes"]


@needs_32_bit
def test_a_board_without_engram_is_reported(saved: Path, tmp_path: Path):
    with StandIn(flash_with(tmp_path, {"boot.py": b""})) as board:
        with pytest.raises(WrongBoard, match="no Engram"):
            run_restore(board, saved)
        with pytest.raises(BoardFailed, match="nothing of Engram's"):
            backup.backup(board.port, tmp_path / "none.tar.gz", Progress())


@needs_32_bit
def test_a_backup_that_is_cut_leaves_the_last_one(saved: Path, tmp_path: Path, memory: Files):
    before = saved.read_bytes()
    with StandIn(flash_with(tmp_path, FRESH | memory), cut_after=8) as board, pytest.raises((NoPort, NoBoardAnswer)):
        backup.backup(board.port, saved, Progress())
    assert saved.read_bytes() == before and not list(tmp_path.glob("*.part"))


# --- the file


def packed(folder: Path, files: Files) -> Path:
    path = folder / "backup.tar.gz"
    described = {
        "format": 1,
        "board": "",
        "files": {name: sha256(content).hexdigest() for name, content in files.items()},
    }
    with tarfile.open(path, "w:gz") as tar:
        for name, content in {"backup.json": json.dumps(described).encode(), **files}.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return path


GOOD: Files = {"memory/MEMORY.md": b"tea\n" * 300, "config.json": b"{}"}


@in_one_case("name", ["../boot.py", "memory/../boot.py", "/boot.py", "boot.py", "engram/app.mpy", "memory", ""])
def test_a_file_that_no_backup_has_is_refused(name: str, tmp_path: Path):
    with pytest.raises(BadRequest):
        backup.read_backup(packed(tmp_path, {name: b"x"}))


@in_one_case("seed", range(40))
def test_a_damaged_file_is_refused_or_was_not_hurt(seed: int, tmp_path: Path):
    numbers = random.Random(seed)
    path = packed(tmp_path, GOOD)
    data = bytearray(path.read_bytes())
    if seed % 2:
        del data[numbers.randrange(len(data)) :]
    else:
        data[numbers.randrange(len(data))] ^= 1 << numbers.randrange(8)
    path.write_bytes(data)
    try:
        assert backup.read_backup(path).files == GOOD
    except BoardError as problem:
        assert isinstance(problem, BadRequest)


def test_a_backup_into_no_folder_is_reported_before_the_board_is_stopped(tmp_path: Path):
    with pytest.raises(BadRequest, match="there is no folder"):
        backup.backup("/dev/ttyNONE", tmp_path / "no" / "b.tar.gz", Progress())


# --- epochs


def test_restored_logs_have_another_epoch_and_good_checksums(memory: Files):
    renewed = backup.with_new_epoch(memory)
    logs = [path for path in memory if path.endswith(".jsonl")]
    assert len(logs) == 2
    for path in logs:
        assert len(renewed[path]) == len(memory[path])
        old, new = (json.loads(files[path].split(b"\n")[0]) for files in (memory, renewed))
        assert old["epoch"] != new["epoch"] and 0 < new["epoch"] < 1 << 30 and new["epoch"] % 2
        for line in renewed[path].splitlines():
            body, _, crc = line.rpartition(b',"crc":"')
            assert f'{zlib.crc32(body):08x}"}}'.encode() == crc
    assert {path: renewed[path] for path in memory if path not in logs} == {
        path: memory[path] for path in memory if path not in logs
    }


def test_the_segments_of_a_log_have_one_epoch():
    head = b'{"format":2,"log":"journal","epoch":%d,"segment":1,"crc":"00000000"}\n'
    files = {"journal/journal.0001.jsonl": head % 77, "journal/journal.jsonl": head % 77}
    renewed = backup.with_new_epoch(files)
    assert len({json.loads(content)["epoch"] for content in renewed.values()}) == 1
