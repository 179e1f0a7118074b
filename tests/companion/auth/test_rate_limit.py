"""The rate limit: a bucket of tokens for each name, on a clock that the test sets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram_host.companion.auth import rate_limit
from engram_host.companion.auth.rate_limit import RateLimiter


class Clock:
    """Stands still until the test moves it."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_burst_passes_at_once_and_the_next_request_waits(clock: Clock):
    limiter = RateLimiter(2, 3, clock)
    assert [limiter.wait_seconds("kitchen") for _ in range(4)] == [0, 0, 0, 0.5]


def test_a_refused_request_uses_no_token(clock: Clock):
    limiter = RateLimiter(2, 1, clock)
    assert [limiter.wait_seconds("kitchen") for _ in range(4)] == [0, 0.5, 0.5, 0.5]
    clock.now += 0.5
    assert limiter.wait_seconds("kitchen") == 0


def test_the_wait_shrinks_while_the_bucket_fills(clock: Clock):
    limiter = RateLimiter(2, 1, clock)
    limiter.wait_seconds("kitchen")
    clock.now += 0.25
    assert limiter.wait_seconds("kitchen") == 0.25


def test_a_bucket_never_holds_more_than_the_burst(clock: Clock):
    limiter = RateLimiter(2, 3, clock)
    limiter.wait_seconds("kitchen")
    clock.now += 3600
    assert [bool(limiter.wait_seconds("kitchen")) for _ in range(4)] == [False, False, False, True]


def test_each_name_has_a_bucket_of_its_own(clock: Clock):
    limiter = RateLimiter(1, 1, clock)
    assert [limiter.wait_seconds(name) for name in ("kitchen", "garden", "kitchen")] == [0, 0, 1]


def test_a_rate_of_0_is_no_limit(clock: Clock):
    limiter = RateLimiter(0, 1, clock)
    assert not any(limiter.wait_seconds("kitchen") for _ in range(100))


def test_the_bucket_used_longest_ago_is_evicted(clock: Clock, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rate_limit, "MOST_NAMES", 2)
    limiter = RateLimiter(1, 1, clock)
    for name in ("kitchen", "garden", "kitchen", "cellar"):  # the garden's bucket has to go
        limiter.wait_seconds(name)
    assert [limiter.wait_seconds(name) for name in ("kitchen", "cellar")] == [1, 1]
    assert limiter.wait_seconds("garden") == 0


@given(
    rate=st.floats(0.1, 100),
    burst=st.integers(1, 50),
    steps=st.lists(st.floats(0, 3), min_size=1, max_size=200),
)
def test_nobody_comes_more_often_than_the_rate_and_the_burst_allow(rate: float, burst: int, steps: list[float]):
    now = 0.0
    rates = RateLimiter(rate, burst, lambda: now)
    taken = 0
    for step in steps:
        now += step
        taken += not rates.wait_seconds("kitchen")
        assert taken <= burst + rate * now + 1e-6


@given(st.floats(0.1, 100), st.integers(1, 20))
def test_who_waits_as_long_as_is_said_gets_a_turn(rate: float, burst: int):
    now = 0.0
    rates = RateLimiter(rate, burst, lambda: now)
    while not (wait := rates.wait_seconds("kitchen")):
        pass
    now += wait + 1e-9
    assert rates.wait_seconds("kitchen") == 0.0 and rates.wait_seconds("garden") == 0.0
