"""What leaves the store by its age or its size."""

import pytest

from engram import log_line
from engram_host.companion.store import CompanionStore, removal
from engram_host.companion.types import RetentionLimits, SeqRange
from plain_board import PlainBoard

DAY = 86400


def lines_of(store: CompanionStore, board: PlainBoard, epoch: int) -> list[int]:
    return [seq for seq, _ in store.boards.lines(SeqRange(board.name, "journal", epoch, 0, 1000))]


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
    assert store.removal.expire(RetentionLimits(former_days=3), board.now + 2 * DAY + 1) == 5
    assert lines_of(store, board, first) == []
    assert lines_of(store, board, second) == lines_of(store, board, board.logs["journal"].epoch) == [1, 2, 3, 4, 5]


def test_the_oldest_former_copies_go_when_they_are_too_many_bytes(store: CompanionStore):
    board, (first, second, third) = with_former_copies(store, 3)
    each = sum(len(line) for line in board.logs["journal"].lines.values())
    store.removal.expire(RetentionLimits(former_bytes=2 * each + 1), board.now)
    assert [len(lines_of(store, board, epoch)) for epoch in (first, second, third)] == [0, 5, 5]


def test_a_former_copy_that_went_is_an_event_which_names_the_setting(store: CompanionStore):
    board, _ = with_former_copies(store, 1)
    store.removal.expire(RetentionLimits(former_days=1), board.now + 2 * DAY)
    assert "a former copy of the board's journal, 5 lines, is removed (store.former_days)." in [
        text for _, text in store.boards.events(board.name, 5)
    ]


def test_a_board_that_came_back_to_a_former_epoch_keeps_it(store: CompanionStore):
    board, (former,) = with_former_copies(store, 1)
    board.logs["journal"].epoch = former
    board.sync()
    store.removal.expire(RetentionLimits(former_days=1), board.now + DAY + 1)
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
    assert [one.seq for one in store.boards.set_aside_lines(board.name)] == [4, 2]
    assert store.removal.expire(limits, board.now - 1) == 1
    assert [one.seq for one in store.boards.set_aside_lines(board.name)] == [4]


def test_turns_that_left_the_board_go_by_their_age_and_all_others_stay(store: CompanionStore):
    board = PlainBoard(store)
    log = board.logs["journal"]
    log.append(6)
    board.sync()
    log.drop_oldest(3)
    board.now += DAY
    board.sync()
    version = store.boards.device(board.name).version
    assert store.removal.expire(RetentionLimits(turn_days=3), board.now) == 0
    assert store.removal.expire(RetentionLimits(turn_days=3), board.now + 3 * DAY) == 3
    assert lines_of(store, board, log.epoch) == [4, 5, 6]
    changes = store.boards.changes(board.name, version)
    assert [(change.seq, change.line) for change in changes] == [(1, None), (2, None), (3, None)]
    board.sync()


def test_nothing_goes_where_no_limit_is_set(store: CompanionStore):
    board, former = with_former_copies(store, 2)
    board.logs["journal"].drop_oldest(3)
    board.sync()
    store.removal.expire(RetentionLimits(), board.now + 10000 * DAY)
    assert all(lines_of(store, board, epoch) for epoch in former)


def _steps(store: CompanionStore, monkeypatch: pytest.MonkeyPatch, table: str = "lines") -> list[int]:
    """How many rows a table has after each transaction that writes, from now on."""
    counts: list[int] = []
    write = store.database.write

    def counting(work):
        result = write(work)
        counts.append(store.database.read(lambda rows: rows.run(f"SELECT count(*) FROM {table}"))[0][0])
        return result

    monkeypatch.setattr(store.database, "write", counting)
    return counts


class _Ended(Exception):
    pass


@pytest.mark.parametrize("limits", [RetentionLimits(former_days=1), RetentionLimits(former_bytes=4_000)])
def test_an_interrupted_removal_loses_nothing_present_and_goes_on_the_next_time(
    store: CompanionStore, monkeypatch: pytest.MonkeyPatch, limits: RetentionLimits
):
    board, former = _interrupted(store, monkeypatch, limits)
    assert lines_of(store, board, former) == list(range(1, 51))
    assert len(lines_of(store, board, board.logs["journal"].epoch)) == 90
    assert store.removal.expire(limits, board.now + 2 * DAY) == 50
    assert lines_of(store, board, former) == [] and len(lines_of(store, board, board.logs["journal"].epoch)) == 90
    removed = [text for _, text in store.boards.events(board.name) if "is removed (" in text]
    assert len(removed) == 1 and "90 lines" in removed[0]


def test_a_board_that_comes_back_to_a_copy_half_removed_sends_the_rest_again(
    store: CompanionStore, monkeypatch: pytest.MonkeyPatch
):
    board, former = _interrupted(store, monkeypatch, RetentionLimits(former_days=1))
    board.logs["journal"].epoch = former
    board.sync()
    store.removal.expire(RetentionLimits(former_days=10), board.now + DAY)
    assert lines_of(store, board, former) == list(range(1, 91))
    span = SeqRange(board.name, "journal", former, 0, 1000)
    assert dict(store.boards.lines(span)) == board.logs["journal"].lines


def _interrupted(
    store: CompanionStore, monkeypatch: pytest.MonkeyPatch, limits: RetentionLimits
) -> tuple[PlainBoard, int]:
    """A board with 90 lines in a new epoch, and a former copy of which two pieces were removed; the former epoch."""
    board = PlainBoard(store)
    board.logs["journal"].append(90)
    board.sync()
    former = board.logs["journal"].epoch
    board.logs["journal"].epoch += 1_000_000
    board.sync()
    monkeypatch.setattr(removal, "_AT_ONCE", 20)
    drop = store.removal._drop_former
    done: list[int] = []

    def ending(*values) -> int:
        if len(done) == 2:
            raise _Ended
        done.append(drop(*values))
        return done[-1]

    with monkeypatch.context() as interrupting:
        interrupting.setattr(store.removal, "_drop_former", ending)
        with pytest.raises(_Ended):
            store.removal.expire(limits, board.now + 2 * DAY)
    return board, former


OLD_ROWS = {
    "aside": ("device, log, epoch, seq, at, why, line", "'board', 'journal', 1, {number}, {at}, 'why', 'x'"),
    "device_use": ("day, device, lines, bytes", "{number}, 'board', 1, 1"),
    "gateway_use": ("day, device, calls, tokens", "{number}, 'board', 1, 1"),
    "board_days": (
        "device, day, flash, flash_most, flash_size, records_bytes, records_most, memories, kept_turns, turns, failed, calls, "
        "tokens, searches, searches_empty, errors",
        "'board', {number}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0",
    ),
    "note_files": (
        "device, epoch, file, crc, is_left, replaced, content",
        "'board', 1, 'note {number}', 0, (1 = 0), {at}, 'x'",
    ),
    "sense_parts": ("device, sense, level, part, size, content", "'board', 1, 0, {number}, 1, 'x'"),
}
"""Tables with rows that go by their age: columns, and values of a row with a number, or a day, and a time."""


def test_a_transaction_of_expiry_removes_few_rows(store: CompanionStore, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(removal, "_AT_ONCE", 7)
    for table, (columns, values) in OLD_ROWS.items():
        for number in range(1, 51):
            sql = f"INSERT INTO {table} ({columns}) VALUES ({values.format(number=number, at=1)})"
            store.database.write(lambda rows, sql=sql: rows.run(sql))
        with monkeypatch.context() as patch:
            counts = _steps(store, patch, table)
            store.removal.expire(RetentionLimits(former_days=1, reading_days=1), 1000 * DAY)
        parts = [before - after for before, after in zip([50, *counts], counts, strict=False)]
        assert max(parts) == 7 and counts[-1] == 0, table


def test_what_is_not_old_stays_beside_what_is(store: CompanionStore):
    for table, (columns, values) in OLD_ROWS.items():
        for day in (1, 2000):
            sql = f"INSERT INTO {table} ({columns}) VALUES ({values.format(number=day, at=day * DAY)})"
            store.database.write(lambda rows, sql=sql: rows.run(sql))
    store.removal.expire(RetentionLimits(former_days=1, reading_days=1), 2000 * DAY)
    left = {
        table: store.database.read(lambda rows, table=table: rows.run(f"SELECT count(*) FROM {table}"))[0][0]
        for table in OLD_ROWS
    }
    assert left == dict.fromkeys(OLD_ROWS, 1)
