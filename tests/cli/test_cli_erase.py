"""`engram board erase`, beside a companion that runs."""

from pathlib import Path

from cli_case import engram, fine
from engram_host.cli.exit_status import FAILED, NOT_FOUND
from file_bytes import bytes_found
from peers import Companion
from sending import Sent

SECRET = "the-gate-opens-with-4711"


def with_secret(companion: Companion, name: str) -> Sent:
    """A board with a turn and a memory at the companion, and a token."""
    board = Sent(companion.posted, name)
    board.say(f"{SECRET} {name}")
    board.keep(f"{SECRET} {name}")
    board.sync()
    fine("device", "add", name, "--home", companion.home)
    return board


def in_files(home: Path, text: str) -> bool:
    return bool(bytes_found((path for path in home.iterdir() if path.is_file()), text.encode()))


def test_a_board_is_erased_while_the_companion_runs(companion: Companion):
    with_secret(companion, "kitchen")
    with_secret(companion, "garden")
    assert "kitchen" in fine("search", "gate opens", "--home", companion.home).out
    ran = fine("board", "erase", "kitchen", "--yes", "--home", companion.home)
    assert ran.out.startswith(
        "kitchen is erased: 2 lines, 0 set-aside lines, 0 vectors, 0 notes, 1 event and a token.\n"
    )
    assert "- backups and exports that were made before, also the daily ones" in ran.out
    assert not in_files(companion.home, f"{SECRET} kitchen") and in_files(companion.home, f"{SECRET} garden")
    found = fine("search", "gate opens", "--home", companion.home).out
    assert "kitchen" not in found and "garden" in found
    assert engram("list", "--device", "kitchen", "--home", companion.home).status == NOT_FOUND


def test_a_board_that_was_erased_may_come_again_as_a_new_one(companion: Companion):
    with_secret(companion, "attic")
    fine("search", "gate", "--home", companion.home)
    fine("board", "erase", "attic", "--yes", "--home", companion.home)
    again = Sent(companion.posted, "attic", epoch=11)
    again.say("the pump is loud")
    again.sync()
    found = fine("search", "gate pump", "--device", "attic", "--home", companion.home).out
    assert "pump" in found and SECRET not in found


def test_nothing_is_erased_without_the_option(companion: Companion):
    with_secret(companion, "cellar")
    ran = engram("board", "erase", "cellar", "--home", companion.home)
    assert (ran.status, "2 lines" in ran.err, "repeat with --yes" in ran.err) == (FAILED, True, True)
    assert companion.have("cellar", "journal") == 1


def test_a_board_that_is_not_known_is_not_found(companion: Companion, tmp_path: Path):
    assert engram("board", "erase", "nobody", "--yes", "--home", companion.home).status == NOT_FOUND
    assert engram("board", "erase", "nobody", "--yes", "--home", tmp_path).status == NOT_FOUND
