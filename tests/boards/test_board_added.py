"""How to add a board, played as boards/README.md says it, in a copy of the project: its steps are enough."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engram_host.firmware import BOARDS

ROOT = BOARDS.parent
PAGE = (BOARDS / "README.md").read_text(encoding="utf-8")
COPIED = (
    "boards",
    "docs",
    "firmware",
    "host",
    "tests",
    "tools",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "limits.toml",
    "Makefile",
    "README.md",
    "pyproject.toml",
)
NEAREST, NEW = "ESP32_GENERIC_S3_OCT", "ESP32_GENERIC_S3_N8R8"
"""An ESP32-S3 with octal PSRAM, and a made-up one whose flash is half as large."""

ROW = f"| `{NEW}` | ESP32-S3 such as N8R8 | 8 MB and more | octal, 8 MB | `ESP32_GENERIC_S3`, variant SPIRAM_OCT |\n"
SAME_FOR_ALL = (
    "compiles_for_the_chip or sizes or firmware or _port or supported"
    " or chip or holds or overwritten or larger or ctrl_c"
)
NOT_AGAIN = f"{NEW} or not (ESP32_GENERIC or {SAME_FOR_ALL})"
"""Leaves out tests of the other boards, and of what is the same for all of them."""

FROM_ITS_FILES = ("test_board_profiles.py", "test_docs_boards.py")
"""Tests of the page's last step that only read a board's files and the pages; the others make and flash images."""


class Copy:
    """A copy of the project, in which commands are run."""

    def __init__(self, folder: Path):
        self.root = folder
        for name in COPIED:
            path = ROOT / name
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(path, folder / name, ignore=ignored) if path.is_dir() else shutil.copy(path, folder / name)
        (folder / "build").mkdir()
        (folder / "build" / "micropython").symlink_to(ROOT / "build" / "micropython")
        shutil.copytree(ROOT / "build" / "mpy", folder / "build" / "mpy")
        # Files keep their times, so what Python compiled of them is right for the copy: this takes most of a short run.
        self.bytecode = _bytecode_of(folder)
        if _bytecode_of(ROOT).is_dir():
            # Other tests compile meanwhile: into files with a number behind their names, which are renamed when they are whole.
            ignored = shutil.ignore_patterns("build", ".venv", "*.pyc.*")
            shutil.copytree(_bytecode_of(ROOT), self.bytecode, ignore=ignored, copy_function=os.link)

    def python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run Python as `make` does."""
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.root,
            env={**environment, "PYTHONPATH": "host"},
            capture_output=True,
            text=True,
            timeout=300,
        )

    def change(self, name: str, old: str, new: str) -> None:
        """Put a text in the place of another one in a file."""
        path = self.root / name
        text = path.read_text(encoding="utf-8")
        assert old in text, (name, old)
        path.write_text(text.replace(old, new, 1), encoding="utf-8")


def _bytecode_of(folder: Path) -> Path:
    """Where Python keeps what it compiled of the files below a folder (see tests/conftest.py)."""
    return Path(os.environ["PYTHONPYCACHEPREFIX"] + str(folder.resolve()))


@pytest.fixture
def copy(tmp_path: Path) -> Iterator[Copy]:
    made = Copy(tmp_path)
    shutil.copytree(made.root / "boards" / NEAREST, made.root / "boards" / NEW)
    board = made.root / "boards" / NEW / "board.json"
    changed = json.loads(board.read_text(encoding="utf-8"))
    changed["flash_bytes"], changed["filesystem"]["bytes"] = 8 << 20, 6 << 20
    changed["settings"] |= {"records.bytes": 1507328, "records.most": 5000, "journal.bytes": 1245184}
    board.write_text(json.dumps(changed), encoding="utf-8")
    yield made
    shutil.rmtree(made.bytecode, ignore_errors=True)


def pages_tests() -> list[str]:
    """What the page's last step tells to run."""
    found = re.search(r'make test ARGS="([^"]+)"', PAGE.partition("## How to add one")[2])
    assert found
    return found[1].split()


def name_it_in_the_pages(copy: Copy) -> None:
    table = (ROOT / "docs" / "start" / "boards.md").read_text(encoding="utf-8")
    last = re.findall(rf"^\| `{NEAREST}` .*\n", table, re.MULTILINE)[-1]
    copy.change("docs/start/boards.md", last, last + ROW)
    copy.change("boards/README.md", "- `SIM` is", f"- N8R8: `{NEW}`.\n- `SIM` is")


def failed(copy: Copy, files: tuple[str, ...] = ("",)) -> set[str]:
    """The names of the tests that fail of those that the page names, in files whose names end so."""
    tests = [name for name in pages_tests() if name.endswith(files)]
    ended = copy.python("-m", "pytest", "-q", "-rf", "-k", NOT_AGAIN, *tests)
    assert "passed" in ended.stdout, ended.stdout + ended.stderr
    return set(re.findall(r"^FAILED [^:]+::(\w+)", ended.stdout, re.MULTILINE))


@pytest.mark.soak
def test_the_pages_steps_are_enough(copy: Copy):
    name_it_in_the_pages(copy)
    image = copy.python("-m", "engram_host", "board", "image", "--board", NEW, "--out", "fs.bin")
    assert image.returncode == 0 and (copy.root / "fs.bin").stat().st_size == 6 << 20, image.stderr
    assert failed(copy) == set()


def test_a_step_that_was_left_out_is_named_by_a_test(copy: Copy):
    copy.change(f"boards/{NEW}/board.json", "1245184", "2376256")
    assert failed(copy, FROM_ITS_FILES) == {
        "test_full_logs_with_their_indexes_leave_room_for_a_deploy",
        "test_the_table_of_boards_has_a_row_for_each_profile_and_no_other",
        "test_a_row_of_the_table_is_what_the_profile_says",
        "test_the_list_to_choose_from_names_the_board",
    }
