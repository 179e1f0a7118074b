"""Who may say what to a store, and what becomes of a board that is not the one that was here before."""

import threading
from collections.abc import Callable

import numpy as np
import pytest

from engram import log_line
from engram_host.companion.errors import Refused, Stale
from engram_host.companion.store import CompanionStore
from engram_host.companion.store.boards.replica import SILENCE_SECONDS
from engram_host.companion.store.vectors import Identity, StoredVector
from engram_host.companion.types import LOGS, Hello, LineBatch, LogName, Sender, SeqRange
from one_case import in_one_case
from plain_board import PlainBoard, PlainLog

IDENTITY = Identity("test", 3, 1)
WORKERS = 4


def synced(store: CompanionStore, lines: int = 10, **names: str) -> PlainBoard:
    """A board whose journal of so many lines has been copied."""
    board = PlainBoard(store, **names)
    board.logs["journal"].append(lines)
    board.sync()
    return board


def present(store: CompanionStore, board: PlainBoard) -> dict[int, bytes]:
    """The copy of its journal."""
    changes = store.boards.changes(board.name, 0)
    return {change.seq: change.line for change in changes if change.log == "journal" and change.line is not None}


@in_one_case("board", ["a\0b", "a\nb"])
def test_an_id_with_signs_that_cannot_be_shown_is_refused(store: CompanionStore, board: str):
    with pytest.raises(Refused, match="cannot be shown"):
        PlainBoard(store, board=board).sync()
    assert store.boards.devices() == []


def test_lines_before_a_hello_are_refused(store: CompanionStore):
    board = PlainBoard(store)
    board.link = 1
    board.logs["journal"].append()
    with pytest.raises(Refused, match="say hello first") as refusal:
        board.send("journal", 0, 1)
    assert refusal.value.again == 0


def test_lines_of_a_former_epoch_are_refused(store: CompanionStore):
    board = synced(store)
    board.logs["journal"] = PlainLog()
    board.logs["journal"].append()
    with pytest.raises(Refused, match="say hello first"):
        board.send("journal", 0, 1)


def test_a_second_board_with_the_name_gets_an_error_that_says_what_to_do(store: CompanionStore):
    board = synced(store, board="board-1")
    other = PlainBoard(store, board="board-2")
    both = r'two boards are called "kitchen": board-1, .*, and board-2. .*companion\.device'
    with pytest.raises(Refused, match=both) as refusal:
        other.sync()
    assert 0 < refusal.value.again <= SILENCE_SECONDS
    assert store.boards.device("kitchen").board == "board-1"
    assert str(refusal.value) in store.boards.events(board.name)[0][1]


def test_a_refusal_that_repeats_itself_is_one_event(store: CompanionStore):
    synced(store, board="board-1")
    for _ in range(3):
        with pytest.raises(Refused):
            PlainBoard(store, board="board-2").sync()
    assert len(store.boards.events("kitchen")) == 2


def test_a_second_board_takes_the_name_of_one_that_is_silent(store: CompanionStore):
    synced(store, board="board-1")
    other = PlainBoard(store, board="board-2")
    other.now += SILENCE_SECONDS
    other.sync()
    assert store.boards.device("kitchen").board == "board-2"


def test_a_name_is_not_kept_by_a_moment_that_is_still_to_come(store: CompanionStore):
    board = PlainBoard(store, board="board-1")
    board.now += 1 << 30
    board.sync()
    PlainBoard(store, board="board-2").sync()
    assert store.boards.device("kitchen").board == "board-2"


@pytest.mark.parametrize("log", LOGS)
def test_oldest_lines_that_a_board_has_lost_outlast_a_compaction(store: CompanionStore, log: LogName):
    board = PlainBoard(store)
    board.logs[log].append(10)
    board.sync()
    lost = {seq: line for seq, line in board.logs[log].lines.items() if seq < 5}
    board.logs[log].drop_oldest(4)
    board.sync()
    board.logs[log].compact({7}, set())
    board.sync()
    copied = dict(store.boards.lines(SeqRange(board.name, log, board.logs[log].epoch, 0, 10)))
    aside = {one.seq: one.line for one in store.boards.set_aside_lines(board.name)}
    # A turn leaves for lack of room, a record does not.
    assert (copied if log == "journal" else aside).items() >= lost.items()
    assert 7 not in copied and 7 not in aside
    told = [
        text for _, text in store.boards.events(board.name) if "has lost its records before line 5: 4 lines" in text
    ]
    assert len(told) == (log == "records")


def test_a_bad_batch_does_not_spoil_the_others(store: CompanionStore):
    boards = [synced(store, 3, name=f"board-{number}") for number in range(3)]
    for board in boards:
        board.logs["journal"].append(2)
        board.hello()
    batches = [board.batch("journal", 3, 5) for board in boards]
    batches[1].lines.reverse()
    first, second, third = store.replication.store_batches(batches, 1)
    assert (first, third) == (5, 5)
    assert isinstance(second, Refused)
    assert store.boards.device("board-1").have["journal"] == 3


def test_vectors_of_an_epoch_that_is_back_come_again(store: CompanionStore):
    board = synced(store)
    former = board.logs["journal"]
    store.vectors.put_vectors(board.name, IDENTITY, [vector(3)])
    version = store.boards.device(board.name).version
    board.logs["journal"] = PlainLog()
    board.sync()
    assert store.vectors.vectors(board.name, IDENTITY, 0) == []
    board.logs["journal"] = former
    board.sync()
    assert [one.seq for _, one in store.vectors.vectors(board.name, IDENTITY, version)] == [3]


def vector(seq: int) -> StoredVector:
    return StoredVector("journal", seq, seq.to_bytes(16), np.array([seq, 0.5, -1], np.float32))


def test_events_of_a_device_are_bounded(store: CompanionStore, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("engram_host.companion.store.rows.EVENTS_KEPT", 3)
    board = PlainBoard(store)
    for lines in range(6):
        board.logs["journal"] = PlainLog()
        board.logs["journal"].append(lines)
        board.sync()
    assert ["line 4" in text for _, text in store.boards.events(board.name)] == [True, False, False]


def test_many_workers_take_lines_of_the_same_boards_at_once(open_store: Callable[[], CompanionStore]):
    stores = [open_store() for _ in range(WORKERS)]
    boards = [PlainBoard(stores[0], f"board-{number}") for number in range(6)]
    for board in boards:
        board.logs["journal"].append(200)
        board.hello()
    problems: list[BaseException] = []

    def work(store: CompanionStore, turn: int):
        try:
            for after in range(0, 200, 10):
                # Each in another order: who did not lock in one order would wait for ever.
                order = boards[turn:] + boards[:turn]
                store.replication.store_batches([board.batch("journal", after, after + 10) for board in order], 1)
        except BaseException as error:  # noqa: BLE001 - shown by the test
            problems.append(error)

    threads = [threading.Thread(target=work, args=(store, turn)) for turn, store in enumerate(stores)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert problems == []
    for board in boards:
        assert present(stores[0], board) == board.logs["journal"].lines
        versions = [change.version for change in stores[0].boards.changes(board.name, 0)]
        assert len(versions) == len(set(versions)) == 200


def test_a_line_of_the_largest_size_is_kept_as_it_is(store: CompanionStore):
    board = PlainBoard(store)
    board.hello()
    line = log_line.encode([("seq", 1), ("text", "x" * (log_line.MAX_LINE - 100))])
    span = SeqRange(board.name, "journal", board.logs["journal"].epoch, 0, 1)
    assert store.replication.store_batches([LineBatch(Sender(board.board, board.link, 1), span, [(1, line)])], 1) == [1]
    assert dict(store.boards.lines(span)) == {1: line}


def test_a_flash_that_counts_connections_again_is_believed_after_a_silence(store: CompanionStore):
    flash = PlainBoard(store).flash()
    board = synced(store)
    board.put_flash((board.logs, flash[1]))
    with pytest.raises(Stale):
        store.replication.greet(Hello(board.name, Sender(board.board, 0, 1), 60, {}), board.now)
    told = store.replication.greet(
        Hello(board.name, Sender(board.board, 0, 1), 60, {}), board.now + SILENCE_SECONDS
    ).events
    assert any("older or an empty one" in sentence for sentence in told)
