"""What a board may add to its copy on a day."""

import pytest

from engram_host.companion.errors import Refused
from engram_host.companion.store import CompanionStore
from engram_host.companion.store.line_quota import AGAIN_SECONDS, DAY_SECONDS, MOST_EPOCHS
from engram_host.companion.types import LineQuota
from plain_board import PlainBoard

MIDNIGHT = 20 * DAY_SECONDS


def board_with(store: CompanionStore, lines: int, quota: LineQuota, name: str = "kitchen") -> PlainBoard:
    """A board that begins ten hours before midnight, with lines that the companion does not have yet."""
    board = PlainBoard(store, name)
    board.now, board.quota = MIDNIGHT - 36000, quota
    board.logs["journal"].append(lines)
    return board


def have(store: CompanionStore) -> int:
    return store.device("kitchen").have["journal"]


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


def test_another_boards_quota_is_its_own(store: CompanionStore):
    with pytest.raises(Refused):
        board_with(store, 20, LineQuota(lines=8)).sync()
    board_with(store, 8, LineQuota(lines=8), "garden").sync()
    assert store.device("garden").have["journal"] == 8


def test_lines_that_are_here_already_are_taken_beyond_the_quota(store: CompanionStore):
    board = board_with(store, 8, LineQuota(lines=8))
    board.sync()
    assert board.send("journal", 0, 8) == 8


def test_a_compaction_forgets_lines_beyond_the_quota(store: CompanionStore):
    board = board_with(store, 8, LineQuota(lines=8))
    board.sync()
    gone = board.logs["journal"].compact({3}, set())
    board.sync()
    assert gone and store.lines_at("kitchen", "journal", board.logs["journal"].epoch, [3]) == {}


def test_a_refusal_is_an_event_of_the_board_and_says_when_to_try_again(store: CompanionStore):
    board = board_with(store, 20, LineQuota(lines=8))
    for now, again in ((MIDNIGHT - 36000, AGAIN_SECONDS), (MIDNIGHT - 7, 7)):
        board.now = now
        with pytest.raises(Refused) as refused:
            board.sync()
        assert refused.value.again == again
    events = [text for _, text in store.events("kitchen", 10) if "quota" in text]
    assert events == [str(refused.value)]


def test_logs_that_are_reset_again_and_again_are_refused_for_the_day(store: CompanionStore):
    board = board_with(store, 1, LineQuota())
    board.sync()
    for _ in range(MOST_EPOCHS):
        board.logs["journal"].epoch += 1_000_000
        board.hello()
    board.logs["journal"].epoch += 1_000_000
    with pytest.raises(Refused, match=f"were reset {MOST_EPOCHS} times today"):
        board.hello()
    board.now = MIDNIGHT
    board.hello()


def test_logs_that_switch_between_known_epochs_are_refused_for_the_day(store: CompanionStore):
    board = board_with(store, 1, LineQuota())
    board.sync()
    first = board.logs["journal"].epoch
    for number in range(MOST_EPOCHS):
        board.logs["journal"].epoch = first + 1_000_000 * (number % 2 == 0)
        board.hello()
    board.logs["journal"].epoch = first + 1_000_000
    with pytest.raises(Refused, match=f"were reset {MOST_EPOCHS} times today"):
        board.hello()
    board.logs["journal"].epoch = first  # the epoch of the copy in use is no switch
    board.hello()
    board.now = MIDNIGHT
    board.logs["journal"].epoch = first + 1_000_000
    board.hello()
