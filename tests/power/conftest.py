"""What the proofs about power share: a script that was played once on a traced flash."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path += [str(ROOT / "tests" / "support" / "power" / "board"), str(ROOT / "boards" / "SIM")]

import get_micropython  # noqa: E402
from cuts import Story, format_flash, shared_story  # noqa: E402
from extent import extent  # noqa: E402
from scripts import Writer  # noqa: E402

SEED = 1
OPERATIONS = extent(400, 250)


@pytest.fixture(autouse=True, scope="session")
def micropython() -> None:
    """There is no board without it."""
    if not get_micropython.usable(get_micropython.HOME / "32", 32):
        pytest.skip("there is no 32-bit MicroPython for this machine")


@pytest.fixture(scope="session")
def blank(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A flash with an empty file system."""
    return format_flash(tmp_path_factory.mktemp("blank") / "flash.bin")


@pytest.fixture(scope="session")
def story(tmp_path_factory: pytest.TempPathFactory, blank: bytes) -> Story:
    """The script of operations of all kinds, played and traced once for all workers."""
    return shared_story(tmp_path_factory, "power-story", Writer(SEED).write(OPERATIONS), blank)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: images of a flash are written thousands of times."""
    shared = Path("/dev/shm")
    if not os.access(shared, os.W_OK):
        yield tmp_path
        return
    folder = shared / f"engram-power-{os.getpid()}"
    folder.mkdir(exist_ok=True)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
