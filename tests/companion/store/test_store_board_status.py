"""The latest state of each board, and its days: counts are what came since the status before, whatever restarts."""

from dataclasses import replace

from engram_host.companion.store import CompanionStore
from engram_host.companion.store.boards.status import COUNTS, MOST, STATUS_DAYS_KEPT, BoardDay, BoardStatus
from engram_host.companion.types import RetentionLimits, Sender
from plain_board import PlainBoard

DAY = 86400
NOON = 20_000 * DAY + DAY // 2


class Telling:
    """A board that tells how it is."""

    def __init__(self, store: CompanionStore, name: str = "kitchen"):
        self.store = store
        self.board = PlainBoard(store, name)
        self.board.now = NOON
        self.board.hello()

    def tell(self, status: BoardStatus, now: int = NOON) -> None:
        self.board.n += 1
        sender = Sender(self.board.board, self.board.link, self.board.n)
        self.store.status.put_status(sender, self.board.name, status, now)

    def days(self) -> list[BoardDay]:
        return self.store.status.board_days(self.board.name, 0)


def test_a_day_has_what_came_since_the_status_before(store: CompanionStore):
    board = Telling(store)
    for at, turns in ((NOON, 5), (NOON + 600, 8), (NOON + DAY, 9)):
        board.tell(BoardStatus(run=1, turns=turns), at)
    assert [(day.day, day.turns) for day in board.days()] == [(20_000, 8), (20_001, 1)]


def test_after_a_restart_each_count_begins_again(store: CompanionStore):
    board = Telling(store)
    for run, count in ((1, 5), (2, 7), (2, 9), (3, 1)):
        board.tell(replace(BoardStatus(run=run), **{name: count + 100 * k for k, name in enumerate(COUNTS)}))
    (day,) = board.days()
    assert [getattr(day, name) for name in COUNTS] == [5 + 9 + 1 + 300 * k for k in range(len(COUNTS))]


def test_a_count_that_goes_back_within_a_run_takes_nothing_away(store: CompanionStore):
    board = Telling(store)
    for turns in (5, 2, 4):
        board.tell(BoardStatus(run=1, turns=turns))
    assert board.days()[0].turns == 7


def test_a_day_has_the_last_and_the_most_of_flash_and_records(store: CompanionStore):
    board = Telling(store)
    for flash, records in ((50, 20), (90, 10), (70, 15)):
        board.tell(BoardStatus(run=1, flash=flash, flash_size=100, records_bytes=records))
    (day,) = board.days()
    assert (day.flash, day.flash_most, day.flash_size) == (70, 90, 100)
    assert (day.records_bytes, day.records_most) == (15, 20)


def test_sums_of_a_hostile_board_are_bounded(store: CompanionStore):
    board = Telling(store)
    for run in range(1, 5):
        board.tell(BoardStatus(run=run, tokens=MOST))
    assert board.days()[0].tokens == MOST


def test_days_are_kept_for_a_year_and_some_weeks(store: CompanionStore):
    board = Telling(store)
    for day in (0, 1, STATUS_DAYS_KEPT + 1):
        board.tell(BoardStatus(run=1), NOON + day * DAY)
    store.removal.expire(RetentionLimits(), NOON + (STATUS_DAYS_KEPT + 1) * DAY)
    assert [day.day - 20_000 for day in board.days()] == [1, STATUS_DAYS_KEPT + 1]
