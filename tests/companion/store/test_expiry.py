"""What leaves the store by its age or its size."""

import pytest

from engram import log_line
from engram_host.companion.store import CompanionStore
from engram_host.companion.types import RetentionLimits, SeqRange
from plain_board import PlainBoard

DAY = 86400


def lines_of(store: CompanionStore, board: PlainBoard, epoch: int) -> list[int]:
    return [seq for seq, _ in store.lines(SeqRange(board.name, "journal", epoch, 0, 1000))]


def with_former_copies(store: CompanionStore, count: int) -> tuple[PlainBoard, list[int]]:
    """A board whose journal was reset `count` times, a day apart; the former epochs, oldest first."""
    board = PlainBoard(store)
    former: list[int] = []
    board.logs["journal"].append(5)
    board.sync()
    for _ in range(count):
        former.append(board.logs["journal"].epoch)
        board.logs["journal"].epoch += 1_000_000
        board.now += DAY
        board.sync()
    return board, former


def test_a_former_copy_goes_when_it_was_replaced_too_long_ago(store: CompanionStore):
    board, (first, second) = with_former_copies(store, 2)
    assert store.expire(RetentionLimits(former_days=3), board.now + 2 * DAY + 1) == 5
    assert lines_of(store, board, first) == []
    assert lines_of(store, board, second) == lines_of(store, board, board.logs["journal"].epoch) == [1, 2, 3, 4, 5]


def test_the_oldest_former_copies_go_when_they_are_too_many_bytes(store: CompanionStore):
    board, (first, second, third) = with_former_copies(store, 3)
    each = sum(len(line) for line in board.logs["journal"].lines.values())
    store.expire(RetentionLimits(former_bytes=2 * each + 1), board.now)
    assert [len(lines_of(store, board, epoch)) for epoch in (first, second, third)] == [0, 5, 5]


def test_a_former_copy_that_went_is_an_event_which_names_the_setting(store: CompanionStore):
    board, _ = with_former_copies(store, 1)
    store.expire(RetentionLimits(former_days=1), board.now + 2 * DAY)
    assert "a former copy of the board's journal, 5 lines, was removed (store.former_days)." in [
        text for _, text in store.events(board.name, 5)
    ]


def test_a_copy_that_an_earlier_version_replaced_is_kept_as_long_from_now_on(store: CompanionStore):
    board, (former,) = with_former_copies(store, 1)
    store.database.write(lambda rows: rows.run("UPDATE logs SET replaced = 0"))
    store.expire(RetentionLimits(former_days=1), board.now + 100 * DAY)
    assert lines_of(store, board, former)
    store.expire(RetentionLimits(former_days=1), board.now + 102 * DAY)
    assert not lines_of(store, board, former)


def test_a_board_that_came_back_to_a_former_epoch_keeps_it(store: CompanionStore):
    board, (former,) = with_former_copies(store, 1)
    board.logs["journal"].epoch = former
    board.sync()
    store.expire(RetentionLimits(former_days=1), board.now + DAY + 1)
    assert lines_of(store, board, former) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("limits", [RetentionLimits(former_days=2), RetentionLimits(former_bytes=70)])
def test_lines_that_were_set_aside_go_the_oldest_first(store: CompanionStore, limits: RetentionLimits):
    board = PlainBoard(store)
    board.logs["journal"].append(4)
    board.sync()
    for seq in (2, 4):
        board.logs["journal"].lines[seq] = log_line.encode([("seq", seq), ("text", f"another {seq}")])
        board.send("journal", 0, 4)
        board.now += 2 * DAY
    assert [one.seq for one in store.set_aside_lines(board.name)] == [4, 2]
    assert store.expire(limits, board.now - 1) == 1
    assert [one.seq for one in store.set_aside_lines(board.name)] == [4]


def test_turns_that_left_the_board_go_by_their_age_and_all_others_stay(store: CompanionStore):
    board = PlainBoard(store)
    log = board.logs["journal"]
    log.append(6)
    board.sync()
    log.drop_oldest(3)
    board.now += DAY
    board.sync()
    version = store.device(board.name).version
    assert store.expire(RetentionLimits(turn_days=3), board.now) == 0
    assert store.expire(RetentionLimits(turn_days=3), board.now + 3 * DAY) == 3
    assert lines_of(store, board, log.epoch) == [4, 5, 6]
    assert [(change.seq, change.line) for change in store.changes(board.name, version)] == [
        (1, None),
        (2, None),
        (3, None),
    ]
    board.sync()


def test_nothing_goes_where_no_limit_is_set(store: CompanionStore):
    board, former = with_former_copies(store, 2)
    board.logs["journal"].drop_oldest(3)
    board.sync()
    assert store.expire(RetentionLimits(), board.now + 10000 * DAY) == 0
    assert all(lines_of(store, board, epoch) for epoch in former)
