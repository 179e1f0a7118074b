"""An older database in the place of the one that a board knows, or an older board's backup: what is archived is there still."""

from collections.abc import Callable
from pathlib import Path

import pytest

from archiving_board import RECORDS, ArchivingBoard, archive, board_of_six
from engram import log_line
from engram_host.companion.store import CompanionStore, choose_store
from engram_host.companion.store.recovery import restore_backup, save_backup
from engram_host.companion.types import SeqRange

pytestmark = pytest.mark.parametrize("store_url", ["sqlite"], indirect=True)  # the file is saved and put back

EVERYTHING = range(1, 101)


@pytest.fixture
def board(store: CompanionStore) -> ArchivingBoard:
    return board_of_six(store)


@pytest.fixture
def back(board: ArchivingBoard, store_url: str, tmp_path: Path) -> Callable[[], None]:
    """Saves the database at once; puts it back when it is called."""
    saved = tmp_path / "saved"
    path = Path(store_url.removeprefix("sqlite:///"))
    save_backup(path, saved)

    def restored() -> None:
        board.store.close()
        restore_backup(saved, path)
        board.store = choose_store(store_url)
        board.store.open()

    return restored


def _held(board: ArchivingBoard) -> dict[int, bytes]:
    return dict(board.store.boards.lines(SeqRange(board.name, RECORDS, board.log.epoch, 0, 100), archived=True))


def _compacted(board: ArchivingBoard, *numbers: int) -> None:
    """Some are archived, and have left the flash."""
    archive(board, *numbers)
    board.sync()
    board.compact_records()
    board.sync()


def test_what_the_board_does_not_know_of_was_forgotten(board: ArchivingBoard, back: Callable[[], None]):
    _compacted(board, 2)
    board.forget(5)
    board.compact_records()
    board.sync()
    back()
    board.sync()
    assert board.tell() == 1
    assert 5 not in _held(board)
    board.check()


def test_a_promise_of_the_older_database_takes_nothing_away(board: ArchivingBoard, store_url: str, tmp_path: Path):
    assert board.promise([2]) == 1
    saved = tmp_path / "saved"
    save_backup(Path(store_url.removeprefix("sqlite:///")), saved)
    board.archive(2)
    board.sync()
    board.compact_records()
    board.sync()
    board.store.close()
    restore_backup(saved, Path(store_url.removeprefix("sqlite:///")))
    board.store.open()
    board.sync()
    board.sync()
    assert board.tell() == 1
    board.check()


def test_it_is_as_before_afterwards(board: ArchivingBoard, back: Callable[[], None]):
    _compacted(board, 2, 4)
    back()
    board.sync()
    board.tell()
    assert not board.hello().asks
    _compacted(board, 1)
    board.forget(2)
    board.forget(3)
    board.sync()
    board.compact_records()
    board.sync()
    board.check()
    assert not any(b"tea number 3" in line for line in _held(board).values())


# --- a backup of the board


def _put_on_board(board: ArchivingBoard, lines: dict[int, bytes], following: int) -> None:
    """The board gets its log as it was, in a new epoch."""
    board.log.epoch += 1000
    board.log.lines, board.log.next = dict(lines), following
    board.sync()


@pytest.mark.both_databases
def test_a_board_with_its_backup_has_its_archive_again(board: ArchivingBoard):
    _compacted(board, 2, 4)
    lines, following = dict(board.log.lines), board.log.next
    board.keep()
    board.sync()
    del board.live[following]
    _put_on_board(board, lines, following)
    assert board.hello().archived == 0
    assert board.tell() == 2
    board.check()


def test_what_was_archived_since_the_backup_is_live_again_and_nothing_else(board: ArchivingBoard):
    _compacted(board, 2)
    lines, following = dict(board.log.lines), board.log.next
    _compacted(board, 4)
    del board.archived[4]
    board.live[4] = 4
    _put_on_board(board, lines, following)
    assert board.tell_range(EVERYTHING) == 1
    board.check()


def test_a_board_that_was_reset_gets_nothing_of_the_former_archive(board: ArchivingBoard):
    _compacted(board, 2, 4)
    new = {
        seq: log_line.encode([("seq", seq), ("id", f"m{seq}"), ("content", "new"), ("created", 9)]) for seq in (7, 8)
    }
    _put_on_board(board, new, 9)
    assert board.tell_range(EVERYTHING) == 0
