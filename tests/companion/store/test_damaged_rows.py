"""Lines that a database gives back damaged: passed over, counted, and asked for again from their board."""

import os
import time
from pathlib import Path

import pytest

from archiving_board import RECORDS, ArchivingBoard, archive, board_of_six
from damaging import harm_line
from engram import log_line
from engram_host.companion.store import CompanionStore
from engram_host.companion.types import LogName, SeqRange
from markdown_folders import place_of, read_into, write
from plain_board import PlainBoard

JOURNAL: LogName = "journal"


@pytest.fixture
def board(store: CompanionStore) -> PlainBoard:
    """A board of whose ten turns the sixth is damaged in the database."""
    board = PlainBoard(store)
    board.logs[JOURNAL].append(10)
    board.sync()
    harm_line(store, board.name, JOURNAL, 6)
    return board


def lines(board: PlainBoard, log: LogName = JOURNAL) -> dict[int, bytes]:
    return dict(board.store.boards.lines(SeqRange(board.name, log, board.logs[log].epoch, 0, log_line.MAX_SEQ)))


def others(board: PlainBoard, *damaged: int) -> dict[int, bytes]:
    return {seq: line for seq, line in board.logs[JOURNAL].lines.items() if seq not in damaged}


def test_pages_go_on_behind_damaged_lines(store: CompanionStore, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("engram_host.companion.store.boards.table.AT_ONCE", 3)
    board = PlainBoard(store)
    board.logs[JOURNAL].append(10)
    board.sync()
    for seq in (4, 5, 6, 9):
        harm_line(store, board.name, JOURNAL, seq)
    assert lines(board) == others(board, 4, 5, 6, 9)


def test_damaged_lines_are_counted_once_they_were_read(board: PlainBoard):
    lines(board)
    lines(board)
    (found,) = board.store.boards.damaged()
    assert (found.device, found.log, found.count, found.lost) == (board.name, JOURNAL, 1, 0)
    assert found.sentence == (
        f"{board.name}: 1 line of its journal found damaged in the database; the board sends again what it still has."
    )


def test_an_event_tells_of_the_damage_once(board: PlainBoard):
    lines(board)
    lines(board)
    told = [text for _, text in board.store.boards.events(board.name) if "damaged" in text]
    assert told == ["1 line of the journal was found damaged in the database, the first is line 6."]


def test_the_board_is_asked_for_a_damaged_line_and_sends_it_again(board: PlainBoard):
    lines(board)
    board.sync()
    assert lines(board) == others(board)
    assert board.store.boards.damaged() == []
    assert board.store.boards.set_aside_lines(board.name) == []


def test_a_line_in_the_row_of_another_one_is_damaged(board: PlainBoard):
    other = board.logs[JOURNAL].lines[2]

    def move(rows) -> None:
        rows.run("UPDATE lines SET line = ?, crc = ? WHERE seq = 9", (other, other[-11:-3].decode()))

    board.store.database.write(move)
    assert lines(board) == others(board, 6, 9)
    board.sync()
    assert lines(board) == others(board)


def test_a_damaged_line_that_the_board_has_taken_out_leaves_the_copy(board: PlainBoard):
    lines(board)
    board.logs[JOURNAL].compact({6}, set())
    board.sync()
    assert lines(board) == others(board) and board.store.boards.damaged() == []


def test_a_damaged_line_that_the_flash_has_lost_leaves_the_copy_and_an_event_says_so(board: PlainBoard):
    lines(board)
    del board.logs[JOURNAL].lines[6]
    board.sync()
    assert board.store.boards.damaged() == []
    assert any("has no more what 1 damaged line" in text for _, text in board.store.boards.events(board.name))


def test_a_damaged_turn_that_has_left_the_board_is_counted_as_lost(board: PlainBoard):
    board.logs[JOURNAL].drop_oldest(8)
    board.sync()
    lines(board)
    board.sync()
    (found,) = board.store.boards.damaged()
    assert (found.count, found.lost) == (1, 1)
    assert "It has 1 of these no more" in found.sentence


def test_damaged_lines_that_the_board_rolled_back_leave_no_trace(board: PlainBoard):
    lines(board)
    flash = board.flash()[0][JOURNAL]
    flash.lines = {seq: line for seq, line in flash.lines.items() if seq < 5}
    flash.next = 5
    board.put_flash(({**board.logs, JOURNAL: flash}, board.link))
    board.sync()
    board.logs[JOURNAL].append(6)
    board.sync()
    assert lines(board) == others(board) and board.store.boards.damaged() == []


def test_an_archived_memory_that_was_damaged_is_archived_still_when_it_comes_again(store: CompanionStore):
    board: ArchivingBoard = board_of_six(store)
    archive(board, 2)
    board.sync()
    harm_line(store, board.name, RECORDS, 2)
    assert store.boards.archived(board.name) == []
    board.sync()
    board.compact_records()
    board.sync()
    board.check()
    assert [seq for seq, _ in store.boards.archived(board.name)] == [2]


def test_a_damaged_memory_that_only_the_archive_has_is_lost_and_said_so(store: CompanionStore):
    board: ArchivingBoard = board_of_six(store)
    archive(board, 2)
    board.sync()
    board.compact_records()
    board.sync()
    harm_line(store, board.name, RECORDS, 2)
    assert store.boards.archived(board.name) == []
    board.sync()
    assert [(found.count, found.lost) for found in store.boards.damaged()] == [(1, 1)]


def test_a_damaged_passage_is_read_again_from_its_file(store: CompanionStore, tmp_path: Path):
    (tmp_path / "notes").mkdir()
    place = place_of(tmp_path / "notes")
    write(place.root, {"a.md": "one thing", "b.md": "another thing"})
    for path in place.root.glob("*.md"):
        os.utime(path, (time.time() - 100, time.time() - 100))
    read_into(store, place)
    harm_line(store, place.device, "records", 1)
    epoch = store.boards.device(place.device).logs["records"].epoch
    span = SeqRange(place.device, "records", epoch, 0, log_line.MAX_SEQ)
    assert len(list(store.boards.lines(span))) == 1
    read_into(store, place)
    said = {log_line.decode(line)["content"] for _, line in store.boards.lines(span)}
    assert said == {"one thing", "another thing"} and store.boards.damaged() == []


# --- what the companion looks at by itself


def test_a_check_finds_damaged_lines_of_former_epochs_and_counts_them_apart(board: PlainBoard):
    board.logs[JOURNAL].epoch += 1_000_000
    board.sync()
    assert board.store.boards.damaged() == []
    board.store.health.check()
    (found,) = board.store.boards.damaged()
    assert (found.count, found.lost, found.former) == (1, 1, 1)
    assert "(1 in copies of former epochs) found damaged" in found.sentence
