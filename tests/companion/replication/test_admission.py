"""Who may wait: nobody who would come to their turn too late."""

import heapq
import random
from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from engram_host.companion.replication.admission import FIRST_GUESS, Admission
from engram_host.companion.replication.protocol import BUSY_SECONDS, GREETED_SECONDS
from one_case import in_one_case


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def admitted(admission: Admission, most: int = 100_000) -> int:
    """How many more may wait now."""
    return next(number for number in range(most) if not admission.enter())


def test_no_more_wait_than_the_bound_says():
    assert admitted(Admission(1e9, 7)) == 7


def test_before_anything_was_measured_a_guess_decides():
    assert admitted(Admission(2.0, 10_000)) == round(2.0 / FIRST_GUESS) + 1


def test_time_without_anybody_who_waits_counts_for_nothing():
    clock = Clock()
    admission = Admission(2.0, 10_000, clock)
    for _ in range(1000):
        assert admission.enter()
        clock.now += FIRST_GUESS
        admission.leave()
        clock.now += 60
    assert abs(admitted(admission) - 2.0 / FIRST_GUESS) <= 1


@given(st.floats(0.0005, 0.2))
def test_who_is_admitted_waits_about_as_long_as_it_may(each: float):
    clock = Clock()
    admission = Admission(2.0, 100_000, clock)
    for _ in range(200):  # turns that are measured
        assert admission.enter()
        clock.now += each
        admission.leave()
    waiting = admitted(admission)
    assert 1.9 < waiting * each < 2.0 + 2 * each + 0.1


def test_while_nobody_comes_to_a_turn_few_are_admitted_and_afterwards_all_are_again():
    clock = Clock()
    admission = Admission(2.0, 10_000, clock)
    assert all(admission.enter() for _ in range(10))
    clock.now += 10
    assert not admission.enter()
    for _ in range(10):
        admission.leave()
    for _ in range(100):
        assert admission.enter()
        clock.now += FIRST_GUESS
        admission.leave()
    assert admitted(admission) > 0.9 * 2.0 / FIRST_GUESS


WAITS = (4.0, 8.0, 16.0)
"""How long a board waits for the answer to its greeting before it greets again."""


def seconds_until_all_are_welcome(boards: int, each: float, seconds: float, most_seconds: float) -> float:
    """How long boards that come back together take, if a greeting takes so long and nobody waits more than about `seconds`."""
    chance = random.Random(7)
    clock = Clock()
    begin = clock.now
    admission = Admission(seconds, 1 << 30, clock)
    greetings: list[tuple[float, int, int]] = [(begin, board, 0) for board in range(boards)]
    said = [0] * boards
    welcome: set[int] = set()
    waiting: deque[tuple[int, int]] = deque()
    free_at = begin
    while len(welcome) < boards and clock.now < begin + most_seconds:
        if waiting and (not greetings or free_at <= greetings[0][0]):
            clock.now = max(clock.now, free_at)
            admission.leave()
            board, number = waiting.popleft()
            if number == said[board]:
                welcome.add(board)
            free_at = clock.now + each
            continue
        clock.now, board, number = heapq.heappop(greetings)
        if board in welcome or number != said[board]:
            continue
        said[board] += 1
        if admission.enter():
            if not waiting:
                free_at = clock.now + each
            waiting.append((board, said[board]))
            heapq.heappush(greetings, (clock.now + WAITS[min(number, 2)], board, said[board]))
        else:
            heapq.heappush(greetings, (clock.now + chance.uniform(*BUSY_SECONDS), board, said[board]))
    return clock.now - begin


@in_one_case("each", [0.002, 0.005, 0.02])
def test_a_fleet_that_comes_back_at_once_is_welcome_in_about_the_time_that_its_greetings_take(each: float):
    took = seconds_until_all_are_welcome(2000, each, GREETED_SECONDS, 1000)
    assert took < 2 * 2000 * each + 20


def test_without_a_bound_a_fleet_that_comes_back_at_once_takes_many_times_as_long():
    assert seconds_until_all_are_welcome(2000, 0.02, 1e9, 1000) > 5 * 2000 * 0.02


def test_one_is_admitted_however_slow_the_turns_are():
    clock = Clock()
    admission = Admission(2.0, 10, clock)
    for _ in range(50):
        assert admission.enter()
        clock.now += 30
        admission.leave()
    assert admitted(admission) == 1
