"""Who may wait: nobody who would come to their turn too late."""

from hypothesis import given
from hypothesis import strategies as st

from engram_host.companion.replication.protocol import FIRST_GUESS, Admission


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
