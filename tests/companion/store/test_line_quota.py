"""What a board may add to its copy on a day."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from engram_host.companion.errors import Refused
from engram_host.companion.store import CompanionStore
from engram_host.companion.store.boards.line_quota import AGAIN_SECONDS, DAY_SECONDS, RESET_LINES
from engram_host.companion.types import LineBatch, LineQuota
from plain_board import PlainBoard

MIDNIGHT = 20 * DAY_SECONDS


def board_with(store: CompanionStore, lines: int, quota: LineQuota, name: str = "kitchen") -> PlainBoard:
    """A board that begins ten hours before midnight, with lines that the companion does not have yet."""
    board = PlainBoard(store, name)
    board.now, board.quota = MIDNIGHT - 36000, quota
    board.logs["journal"].append(lines)
    return board


def have(store: CompanionStore) -> int:
    return store.boards.device("kitchen").have["journal"]


def test_lines_beyond_the_quota_wait_for_the_next_day(store: CompanionStore):
    board = board_with(store, 20, LineQuota(lines=8))
    with pytest.raises(Refused, match=r"sent 8 new lines today, and its quota is 8 lines a day \(store.device_lines\)"):
        board.sync()
    assert have(store) == 8
    board.now = MIDNIGHT
    with pytest.raises(Refused, match="The board keeps its lines"):
        board.sync()
    assert have(store) == 16
    board.now += DAY_SECONDS
    board.sync()
    assert have(store) == 20


def test_bytes_beyond_the_quota_are_refused(store: CompanionStore):
    board = board_with(store, 20, LineQuota(bytes=1))
    with pytest.raises(Refused, match=r"its quota is 0 MB a day \(store.device_megabytes\)"):
        board.sync()
    assert have(store) == 4  # the message that reaches the quota is taken


def test_a_compaction_forgets_lines_beyond_the_quota(store: CompanionStore):
    board = board_with(store, 8, LineQuota(lines=8))
    board.sync()
    gone = board.logs["journal"].compact({3}, set())
    board.sync()
    assert gone and store.boards.lines_at("kitchen", "journal", board.logs["journal"].epoch, [3]) == {}


def test_a_refusal_is_an_event_of_the_board_and_says_when_to_try_again(store: CompanionStore):
    board = board_with(store, 20, LineQuota(lines=8))
    for now, again in ((MIDNIGHT - 36000, AGAIN_SECONDS), (MIDNIGHT - 7, 7)):
        board.now = now
        with pytest.raises(Refused) as refused:
            board.sync()
        assert refused.value.again == again
    events = [text for _, text in store.boards.events("kitchen", 10) if "quota" in text]
    assert events == [str(refused.value)]


def test_logs_that_are_reset_again_and_again_are_refused_for_the_day(store: CompanionStore):
    board = board_with(store, 1, LineQuota(lines=3 * RESET_LINES))
    board.sync()
    first = board.logs["journal"].epoch
    for epoch in (first + 1, first, first + 1):  # a return to a known epoch counts as well
        board.logs["journal"].epoch = epoch
        board.hello()
    board.hello()  # the epoch of the copy in use is no reset
    board.logs["journal"].epoch = first
    with pytest.raises(Refused, match="a reset of a log counts as 2,000"):
        board.hello()
    board.now = MIDNIGHT
    board.hello()


# --- several processes


def test_messages_that_reach_two_workers_at_once_are_counted_once_and_never_beyond_the_quota(
    open_store: Callable[[], CompanionStore],
):
    quota = LineQuota(lines=16)
    stores = [open_store(), open_store()]
    board = board_with(stores[0], 40, quota)
    board.hello()
    counts: list[int] = []

    def outcome(store: CompanionStore, batch: LineBatch, meeting: threading.Barrier) -> int | str:
        meeting.wait(20)
        (found,) = store.replication.store_batches([batch], board.now, quota)
        return found if isinstance(found, int) else type(found).__name__

    with ThreadPoolExecutor(2) as pool:
        for number in range(8):
            board.n += 1
            after = min(4 * number, 16)
            batch = board.batch("journal", after, after + 4)
            meeting = threading.Barrier(2)
            found = list(pool.map(lambda store, b=batch, m=meeting: outcome(store, b, m), stores))
            assert found == ([after + 4] * 2 if after < 16 else ["Refused"] * 2)
            counts.append(use_today(stores[0]))
    assert counts == [4, 8, 12, 16, 16, 16, 16, 16] and have(stores[1]) == 16


def use_today(store: CompanionStore) -> int:
    """What was counted of the board, which sends on one day only."""
    sql = "SELECT lines FROM device_use WHERE device = 'kitchen'"
    ((count,),) = store.database.read(lambda rows: rows.run(sql))
    return count
