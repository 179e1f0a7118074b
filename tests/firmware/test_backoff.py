"""Pauses between tries: they double up to a bound, and differ by chance."""

from engram.clock import Backoff


def _within(pauses, longest):
    return all(most // 2 <= pause <= most for pause, most in zip(pauses, longest))


def test_pauses_double_up_to_the_longest():
    backoff = Backoff(1000, 6000)
    assert _within([backoff.next_ms() for _ in range(5)], [1000, 2000, 4000, 6000, 6000])


def test_pauses_differ_from_board_to_board():
    assert len({Backoff(8000, 8000).next_ms() for _ in range(64)}) > 8
