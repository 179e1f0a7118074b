"""The rate limit: a bucket of tokens for each name, on a clock that the test sets."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram_host.companion.auth import access
from engram_host.companion.auth.access import FailedLogins, RateLimiter
from one_case import in_one_case


class Clock:
    """Stands still until the test moves it."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_rate_of_0_is_no_limit(clock: Clock):
    limiter = RateLimiter(0, 1, clock)
    assert not any(limiter.wait_seconds("kitchen") for _ in range(100))


def test_the_bucket_used_longest_ago_is_evicted(clock: Clock, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(access, "MOST_NAMES", 2)
    limiter = RateLimiter(1, 1, clock)
    for name in ("kitchen", "garden", "kitchen", "cellar"):  # the garden's bucket has to go
        limiter.wait_seconds(name)
    assert [limiter.wait_seconds(name) for name in ("kitchen", "cellar")] == [1, 1]
    assert limiter.wait_seconds("garden") == 0


@given(rate=st.floats(0.1, 100), burst=st.integers(1, 50), steps=st.lists(st.floats(0, 3), min_size=1, max_size=200))
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


# --- failed logins


@in_one_case(
    "one, other, are_one",
    [
        ("2001:db8::1", "2001:db8::ffff:2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:10.0.0.1", "10.0.0.1", True),
        ("fe80::1%eth0", "fe80::2%eth0", True),
        ("10.0.0.1", "10.0.0.1", True),
        ("10.0.0.1", "10.0.0.2", False),
    ],
)
def test_failed_logins_of_one_network_are_slowed_down_together(
    one: str, other: str, are_one: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(access.asyncio, "sleep", sleep)
    failed = FailedLogins(limiter=RateLimiter(0.001, 1, Clock()))
    for address in (one, other):
        asyncio.run(failed.note(address, "kitchen"))
    assert waits == [access.SLOW_SECONDS] * are_one
    assert one in caplog.text and other in caplog.text  # a person sees the whole address
