"""A year of 8 senses, one reading a minute, with 60 power cuts, wrong clocks and gaps: what is kept is what a plain model has.

The figures of the run are in build/bench/sense_year.json.
"""

import json
from pathlib import Path

import pytest

import sense_year
from extent import extent
from sense_year import START, Life, Model

FIGURES = Path(__file__).resolve().parents[2] / "build" / "bench" / "sense_year.json"
DAY = 1440
MOST_ERASES = 0.02
"""For each reading: with one sense; eight need an eighth."""


def _year(place: Path, minutes: int, cuts: int, seed: int) -> None:
    life = sense_year.live(place, sense_year.plans(seed, minutes, cuts))
    found, sizes = sense_year.look(place)
    figures = {"readings": life.read, "cuts": life.cuts, "erases": life.erases, "bytes": sizes}
    FIGURES.parent.mkdir(parents=True, exist_ok=True)
    FIGURES.write_text(json.dumps(figures) + "\n")
    assert life.cuts >= cuts * 2 // 3
    assert len(life.kept) * sense_year.SENSES >= life.read * 0.8
    sense_year.check(Model(life), found)
    assert life.erases / life.read <= MOST_ERASES / 6
    assert sum(sizes) <= 512 << 10


@pytest.mark.shortened
def test_what_is_kept_of_a_year_with_power_cuts_is_what_a_plain_model_has(place: Path):
    _year(place, extent(365, 4) * DAY, extent(60, 4), seed=25)


@pytest.mark.parametrize("wrong", [5, 150, 598])
def test_a_minute_that_is_wrong_is_found_though_others_were_met_twice(wrong: int):
    met = [(minute, START + minute) for minute in range(600)] + [(600 + at, START + 100 + at) for at in range(30)]
    model = Model(Life(kept=met, blocks=[0] * 600 + [1] * 30))
    rows = model.rows(0, 0)[0][3:].tolist()  # the first ones have left their ring
    sense_year.check(model, {(0, 0): rows})
    rows[wrong - 3][5] += 1
    with pytest.raises(AssertionError):
        sense_year.check(model, {(0, 0): rows})
