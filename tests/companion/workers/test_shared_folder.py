"""The folder that the workers of one command share: it goes with the command, or with the next one if that was killed."""

import os
import shutil
import socket
import tempfile
from pathlib import Path

import pytest

from engram_host.companion.workers.shared_folder import PREFIX, shared_folder


@pytest.fixture(autouse=True)
def temporary(monkeypatch: pytest.MonkeyPatch):
    """The system's folder for temporary files; a short one, since the path of a socket may not be longer."""
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield Path(folder)


def left_behind(temporary: Path) -> Path:
    """What a command that was killed has left."""
    folder = temporary / f"{PREFIX}left"
    folder.mkdir()
    (folder / "messages.buckets").touch()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder / "0.sock"))
    return folder


def test_the_folder_is_there_for_its_user_only_and_goes_at_the_end(temporary: Path):
    with shared_folder() as folder:
        assert os.stat(folder).st_mode & 0o777 == 0o700 and Path(folder).parent == temporary
        (Path(folder) / "0.sock").touch()
    assert not list(temporary.iterdir())


def test_the_folder_of_a_killed_command_is_removed(temporary: Path):
    left = left_behind(temporary)
    with shared_folder():
        assert not left.exists()


def test_the_folder_of_a_command_that_runs_stays(temporary: Path):
    with shared_folder() as first, shared_folder() as second:
        assert {path.name for path in temporary.iterdir()} == {Path(first).name, Path(second).name}


def test_a_folder_stays_while_a_worker_of_a_killed_command_serves(temporary: Path):
    left = left_behind(temporary)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(left / "1.sock"))
        server.listen()
        with shared_folder():
            assert left.exists()
    with shared_folder():
        assert not left.exists()


def test_nothing_else_of_the_temporary_files_is_touched(temporary: Path):
    target = temporary / "of-somebody"
    target.mkdir()
    (target / "file").touch()
    (temporary / f"{PREFIX}link").symlink_to(target)
    (temporary / f"{PREFIX}file").touch()
    before = set(temporary.rglob("*"))
    with shared_folder():
        pass
    assert set(temporary.rglob("*")) == before


def test_a_folder_that_another_command_removes_before_it_is_locked_is_replaced(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
):
    make, made = tempfile.mkdtemp, []

    def make_and_lose(**words: str) -> str:
        made.append(make(**words))
        if len(made) == 1:
            shutil.rmtree(made[0])
        return made[-1]

    monkeypatch.setattr(tempfile, "mkdtemp", make_and_lose)
    with shared_folder() as folder:
        assert folder == made[1] and Path(folder).is_dir()
