"""`engram board erase`, beside a companion that runs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cli_case import engram, fine
from engram_host.cli.exit_status import FAILED, NOT_FOUND
from file_bytes import bytes_found
from peers import Companion
from sending import Sent

SECRET = "the-gate-opens-with-4711"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Companion]:
    with Companion(tmp_path_factory.mktemp("erase") / "home") as companion:
        yield companion


def with_secret(running: Companion, name: str) -> Sent:
    """A board with a turn and a memory at the companion, and a token."""
    board = Sent(running.posted, name)
    board.say(f"{SECRET} {name}")
    board.keep(f"{SECRET} {name}")
    board.sync()
    fine("device", "add", name, "--home", running.home)
    return board


def in_files(home: Path, text: str) -> bool:
    return bool(bytes_found((path for path in home.iterdir() if path.is_file()), text.encode()))


def test_a_board_is_erased_while_the_companion_runs(running: Companion):
    with_secret(running, "kitchen")
    with_secret(running, "garden")
    assert "kitchen" in fine("search", "gate opens", "--home", running.home).out
    ran = fine("board", "erase", "kitchen", "--yes", "--home", running.home)
    assert ran.out.startswith(
        "kitchen is erased: 2 lines, 0 set-aside lines, 0 vectors, 0 notes, 1 event and a token.\n"
    )
    assert "- backups and exports that were made before, also the daily ones" in ran.out
    assert not in_files(running.home, f"{SECRET} kitchen") and in_files(running.home, f"{SECRET} garden")
    found = fine("search", "gate opens", "--home", running.home).out
    assert "kitchen" not in found and "garden" in found
    assert engram("list", "--device", "kitchen", "--home", running.home).status == NOT_FOUND


def test_a_board_that_was_erased_may_come_again_as_a_new_one(running: Companion):
    with_secret(running, "attic")
    fine("search", "gate", "--home", running.home)
    fine("board", "erase", "attic", "--yes", "--home", running.home)
    again = Sent(running.posted, "attic", epoch=11)
    again.say("the pump is loud")
    again.sync()
    found = fine("search", "gate pump", "--device", "attic", "--home", running.home).out
    assert "pump" in found and SECRET not in found


def test_nothing_is_erased_without_the_option(running: Companion):
    with_secret(running, "cellar")
    ran = engram("board", "erase", "cellar", "--home", running.home)
    assert (ran.status, "2 lines" in ran.err, "repeat with --yes" in ran.err) == (FAILED, True, True)
    assert running.have("cellar", "journal") == 1


def test_a_board_that_is_not_known_is_not_found(running: Companion, tmp_path: Path):
    assert engram("board", "erase", "nobody", "--yes", "--home", running.home).status == NOT_FOUND
    assert engram("board", "erase", "nobody", "--yes", "--home", tmp_path).status == NOT_FOUND
