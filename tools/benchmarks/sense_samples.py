"""Readings of 16 senses of a made-up house: a year's and a day's cycle, weather, people and noise, the same each time."""

from collections.abc import Callable

import numpy

Values = numpy.ndarray
DAY = 1440
"""Minutes."""


def readings(days: int, step: int = 1, seed: int = 25) -> dict[str, Values]:
    """Scaled integers of one decimal, one every `step` minutes, by the name of the sense."""
    count = days * DAY // step
    rng = numpy.random.default_rng(seed)
    day = numpy.arange(count) * step / DAY
    hour_of_day = day % 1
    year, sun = numpy.sin(2 * numpy.pi * (day - 110) / 365.25), numpy.sin(2 * numpy.pi * (day - 0.375))

    def wander(deviation: float, minutes: float) -> Values:
        """Noise that keeps its direction for some minutes."""
        points = rng.normal(0, deviation, int(count * step / minutes) + 3)
        return numpy.interp(numpy.arange(count) * step / minutes, numpy.arange(len(points)), points)

    def noise(deviation: float) -> Values:
        return rng.normal(0, deviation, count)

    outdoor = 10 + 9 * year + wander(3.5, 2160) + (3 + 2 * numpy.clip(year, 0, 1)) * sun + wander(0.15, 20)
    is_heated = (hour_of_day > 0.27) & (hour_of_day < 0.93)
    room = 20 + is_heated + 0.08 * (outdoor - 10) + wander(0.35, 240) + noise(0.05)
    is_home = (hour_of_day < 0.3) | (hour_of_day > 0.75)
    found = {
        "outdoor temperature": outdoor,
        "bedroom temperature": room,
        "living room temperature": room + 1 + wander(0.3, 120),
        "fridge temperature": 5 + 1.2 * numpy.sin(2 * numpy.pi * day * DAY / 37) + wander(0.15, 30),
        "bedroom humidity": numpy.clip(50 - 1.2 * (room - 20) + 8 * year + wander(3, 400) + noise(0.2), 5, 99),
        "outdoor humidity": numpy.clip(75 - 2.2 * (outdoor - 10) + wander(5, 400), 8, 100),
        "air pressure": 1013 + wander(9, 4320) + noise(0.06),
        "carbon dioxide": numpy.clip(430 + 400 * is_home + wander(60, 90) + noise(4), 400, 5000),
        "light": numpy.clip(sun + 0.25 * year, 0, None) * 400 * numpy.clip(1 + wander(0.3, 60), 0.1, 1.5),
        "soil moisture": 60 - (day % 5) * 6 + noise(0.3),
        "wifi signal": numpy.round(-62 + wander(2, 60) + noise(1.2)),
        "free heap": numpy.round(3600 + noise(60)),
        "door": (rng.random(count) < 0.0025 * (1 + sun)).astype(float),
        "motion": rng.poisson(0.25 * numpy.clip(1 + 2 * sun, 0, None)).astype(float),
        "chip temperature": 42 + 0.9 * (room - 20) + wander(0.6, 60) + noise(0.1),
        "power": numpy.where(rng.random(count) < 0.02, 1800.0, 0) + 120 + 60 * sun + wander(30, 60),
    }
    return {name: numpy.round(values * 10).astype(numpy.int64) for name, values in found.items()}


def rows(values: Values, each: int, first: int, counted: int = 0) -> list[tuple[int, ...]]:
    """(slot, count, min, max, mean, last) of so many readings each; `counted` stands for their number, if it is given."""
    parts = values[: len(values) // each * each].reshape(-1, each)
    sums = parts.sum(axis=1)
    columns = [parts.min(axis=1), parts.max(axis=1), (2 * sums + each) // (2 * each), parts[:, -1]]
    return [(first + at, counted or each, *map(int, row)) for at, row in enumerate(numpy.stack(columns, axis=1))]


def in_blocks(series: dict[str, list[tuple[int, ...]]], size: int, use: Callable[[int, int, list], None]) -> None:
    """Call `use(first slot, last slot, [(number, rows)])` for each block of so many slots."""
    length = len(next(iter(series.values())))
    for at in range(0, length, size):
        block = [(number, whole[at : at + size]) for number, whole in enumerate(series.values())]
        use(block[0][1][0][0], block[0][1][-1][0], block)
