"""What is unusual about senses is found, and little else: some senses for half a year; in `make soak` all, for a year."""

from collections import Counter

import pytest

import bench_senses_anomalies as bench
import sense_signals as signals

DAYS = 200
SEED = 41
SENSES = ("bedroom °C", "humidity %", "fridge °C")
YEAR = 365


@pytest.mark.parametrize("name", SENSES)
def test_planted_anomalies_are_found_and_few_others(name: str):
    place = [kind.name for kind in signals.KINDS].index(name)
    result = bench.play(("finder", 0.0, place, SEED, DAYS, [bench.AIMED_SIZE]))
    months = DAYS * signals.MINUTES_A_DAY / bench.MINUTES_A_MONTH
    assert len(result.false) <= bench.MOST_FALSE * months
    assert result.false_beside <= bench.MOST_FALSE * months
    outcomes = result.planted[bench.AIMED_SIZE]
    missed = Counter(kind for kind, after in outcomes if after < 0)
    assert len(outcomes) == bench.PLANTED_A_YEAR
    assert missed.total() <= 1, missed


@pytest.mark.soak
@pytest.mark.parametrize("first_seed", [11, 21])
def test_in_two_years_of_all_kinds_of_senses_95_of_100_planted_anomalies_are_found_and_few_others(first_seed: int):
    outcomes: list[tuple[str, int]] = []
    false_a_month: dict[str, float] = {}
    months = 2 * YEAR * signals.MINUTES_A_DAY / bench.MINUTES_A_MONTH
    for place, kind in enumerate(signals.KINDS):
        jobs = [("finder", 0.0, place, seed, YEAR, [bench.AIMED_SIZE]) for seed in (first_seed, first_seed + 1)]
        results = [bench.play(job) for job in jobs]
        false_a_month[kind.name] = sum(len(result.false) for result in results) / months
        outcomes += [outcome for result in results for outcome in result.planted[bench.AIMED_SIZE]]
    missed = Counter(kind for kind, after in outcomes if after < 0)
    assert len(outcomes) == 2 * bench.PLANTED_A_YEAR * len(signals.KINDS)
    assert missed.total() <= (1 - bench.LEAST_FOUND) * len(outcomes), missed
    assert max(false_a_month.values()) <= bench.MOST_FALSE, false_a_month


def test_the_board_finds_spikes_and_no_drift():
    place = [kind.name for kind in signals.KINDS].index("humidity %")
    result = bench.play(("board", 0.0, place, SEED, DAYS, [bench.AIMED_SIZE]))
    found = [kind for kind, after in result.planted[bench.AIMED_SIZE] if after >= 0]
    assert "spike" in found and "drift" not in found
