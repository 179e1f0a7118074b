"""Made-up senses: a year of readings a minute apart with cycles, weather and noise, and anomalies that are planted in it.

Each kind of sense is a formula and a seed. All are rounded to the decimals that a board would keep. Days begin on a Monday, the
first of January; the weather is an Ornstein-Uhlenbeck process, the noise Gaussian or AR(1).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MINUTES_A_DAY = 1440
START = 1767225600 // 86400 * 86400 + 4 * 86400
"""2026-01-05, a Monday, in Unix seconds."""

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Kind:
    """A kind of sense: its formula, the decimals that are kept, whether it stays equal for hours, its bounds, and whether
    it counts, so that a planted anomaly is more or fewer of what is counted.
    """

    name: str
    make: "Callable[[np.random.Generator, Values], Values]"
    decimals: int
    rests: bool = False
    low: float = -1e9
    high: float = 1e9
    counts: bool = False


@dataclass(frozen=True)
class Anomaly:
    """What was planted: its kind, its size in usual spreads, and its minutes [begin, end).

    A drift grows for five sixths of them.
    """

    kind: str
    size: float
    begin: int
    end: int


def _weather(rng: np.random.Generator, count: int, minutes: float, spread: float) -> Values:
    """A slow random drift whose memory is some minutes and whose standard deviation is `spread`."""
    step = 10
    keep = np.exp(-step / minutes)
    shocks = rng.normal(0, spread * np.sqrt(1 - keep * keep), count // step + 2)
    slow = np.empty(len(shocks))
    value = rng.normal(0, spread)
    for at, shock in enumerate(shocks):
        value = keep * value + shock
        slow[at] = value
    return np.interp(np.arange(count), np.arange(len(slow)) * step, slow)


def _year(minutes: Values, phase_days: float = 0) -> Values:
    """-1 in the middle of January, 1 in the middle of July."""
    return -np.cos(2 * np.pi * (minutes / MINUTES_A_DAY - 15 - phase_days) / 365)


def _day(minutes: Values, peak_hour: float) -> Values:
    return np.cos(2 * np.pi * (minutes / 60 - peak_hour) / 24)


def _at_hours(minutes: Values, first: float, last: float, weekdays: bool) -> NDArray[np.bool_]:
    """Between two hours of the day, on weekdays or on the other days."""
    hour = minutes / 60 % 24
    is_weekday = minutes // MINUTES_A_DAY % 7 < 5
    return (hour >= first) & (hour < last) & (is_weekday if weekdays else ~is_weekday)


def _outdoor(rng: np.random.Generator, minutes: Values) -> Values:
    year, count = _year(minutes), len(minutes)
    daily = (3.5 + 2 * year) * _day(minutes, 15)
    return 10 + 10 * year + daily + _weather(rng, count, 3600, 3) + _weather(rng, count, 30, 0.3)


def _room(rng: np.random.Generator, minutes: Values) -> Values:
    count = len(minutes)
    base = 21 + 1.5 * _year(minutes, 10) + 0.8 * _day(minutes, 17) + _weather(rng, count, 2880, 0.4)
    return base + rng.normal(0, 0.15, count)


def _bedroom(rng: np.random.Generator, minutes: Values) -> Values:
    count = len(minutes)
    airing = _at_hours(minutes, 7, 7.5, True) * rng.uniform(1, 3, count // MINUTES_A_DAY + 1).repeat(1440)[:count]
    base = 19 + 2 * _year(minutes, 10) + 0.7 * _day(minutes, 20) + _weather(rng, count, 1440, 0.5)
    return base - airing + _weather(rng, count, 20, 0.2)


def _humidity(rng: np.random.Generator, minutes: Values) -> Values:
    count = len(minutes)
    base = 48 + 8 * _year(minutes) - 4 * _day(minutes, 15) + _weather(rng, count, 1440, 5) + _weather(rng, count, 40, 1)
    showers = np.zeros(count)
    for day in range(count // MINUTES_A_DAY):
        if rng.random() < 0.8:
            begin = day * MINUTES_A_DAY + int(rng.normal(7.2 * 60, 30))
            length = min(180, count - begin)
            showers[begin : begin + length] += rng.uniform(6, 16) * np.exp(-np.arange(length) / 35)
    return base + showers + rng.normal(0, 0.4, count)


def _pressure(rng: np.random.Generator, minutes: Values) -> Values:
    count = len(minutes)
    return 1013 + _weather(rng, count, 4320, 8) + 0.5 * _day(minutes, 10) + rng.normal(0, 0.1, count)


def _heater(rng: np.random.Generator, minutes: Values) -> Values:
    """Watts of a heater: on and off by a thermostat, more in the cold, by another plan at the week's end."""
    count = len(minutes)
    cold = np.clip(16 - (10 + 10 * _year(minutes) + _weather(rng, count, 3600, 3)), 0, 30) / 30
    plan = np.where(_at_hours(minutes, 6, 9, True) | _at_hours(minutes, 17, 22, True), 1.0, 0.25)
    plan = np.where(_at_hours(minutes, 8, 23, False), 0.9, plan)
    duty = np.clip(cold * plan * 1.6, 0, 1)
    period = 30 + _weather(rng, count, 600, 4)
    phase = np.cumsum(1 / np.clip(period, 15, 60)) % 1
    return np.where(phase < duty, 1200 + rng.normal(0, 8, count), 0.0)


def _fridge(rng: np.random.Generator, minutes: Values) -> Values:
    count = len(minutes)
    phase = np.cumsum(1 / (45 + _weather(rng, count, 300, 5))) % 1
    opened = np.zeros(count)
    for begin in np.flatnonzero(rng.random(count) < np.where(minutes / 60 % 24 > 7, 12 / 1020, 0.3 / 420)):
        length = min(60, count - int(begin))
        opened[begin : begin + length] += rng.exponential(0.5) * np.exp(-np.arange(length) / 12)
    return 5 + 1.2 * np.abs(2 * phase - 1) + np.minimum(opened, 5) + 0.5 * _year(minutes) + rng.normal(0, 0.08, count)


def _door(rng: np.random.Generator, minutes: Values) -> Values:
    """How often a door opened in the minute."""
    hour = minutes / 60 % 24
    rate = np.where((hour > 7) & (hour < 22.5), 0.04, 0.002)
    rate = rate + 0.15 * (_at_hours(minutes, 7.3, 8.2, True) | _at_hours(minutes, 16.5, 18, True))
    rate = rate * rng.gamma(8, 1 / 8, len(minutes) // MINUTES_A_DAY + 1).repeat(MINUTES_A_DAY)[: len(minutes)]
    return rng.poisson(rate).astype(float)


def _wifi(rng: np.random.Generator, minutes: Values) -> Values:
    """dBm, with somebody in the way for a while now and then: heavy tails on one side."""
    count = len(minutes)
    level = -58 - 2 * _at_hours(minutes, 8, 18, True) + _weather(rng, count, 4320, 1.5) + _weather(rng, count, 5, 1.5)
    for begin in np.flatnonzero(rng.random(count) < 3 / MINUTES_A_DAY):
        level[begin : begin + int(rng.exponential(25))] -= rng.exponential(5)
    return level + rng.normal(0, 1, count)


def _soil(rng: np.random.Generator, minutes: Values) -> Values:
    """Percent of moisture in a pot: dries faster in the summer, and is watered every few days."""
    count = len(minutes)
    drying = (5 + 3 * _year(minutes)) / MINUTES_A_DAY * (1 + 0.5 * _day(minutes, 14))
    value, found, until = 60.0, np.empty(count), 38.0
    for at in range(0, count, 10):
        value -= drying[at] * 10
        if value < until and 480 < at % MINUTES_A_DAY < 1200:
            value, until = rng.normal(62, 2), rng.normal(38, 3)
        found[at : at + 10] = value
    return found + rng.normal(0, 0.4, count)


def _cellar(rng: np.random.Generator, minutes: Values) -> Values:
    """Whole degrees of what hardly changes: the same for days, and now and then one more or less."""
    count = len(minutes)
    return (
        12
        + 2 * _year(minutes, 30)
        + 0.2 * _day(minutes, 16)
        + _weather(rng, count, 14400, 0.5)
        + rng.normal(0, 0.05, count)
    )


KINDS = (
    Kind("room °C", _room, 1),
    Kind("bedroom °C", _bedroom, 1),
    Kind("outdoor °C", _outdoor, 1),
    Kind("humidity %", _humidity, 0, low=0, high=100),
    Kind("pressure hPa", _pressure, 1),
    Kind("heater W", _heater, 0, rests=True, low=0),
    Kind("fridge °C", _fridge, 1),
    Kind("door openings", _door, 0, rests=True, low=0, counts=True),
    Kind("Wi-Fi dBm", _wifi, 0),
    Kind("soil %", _soil, 1, low=0, high=100),
    Kind("cellar °C", _cellar, 0, rests=True),
)


def clean(kind: Kind, seed: int, days: int) -> Values:
    """The readings of a sense without an anomaly, not rounded."""
    rng = np.random.default_rng((seed, KINDS.index(kind)))
    minutes = np.arange(days * MINUTES_A_DAY, dtype=np.float64)
    return np.clip(kind.make(rng, minutes), kind.low, kind.high)


def usual_spread(values: Values) -> float:
    """The standard deviation of the hours' means around what is usual at the hour in four weeks."""
    hours = values[: len(values) // MINUTES_A_DAY * MINUTES_A_DAY].reshape(-1, 24, 60).mean(axis=2)
    parts = [hours[at : at + 28] for at in range(0, len(hours) - 27, 28)] or [hours]
    return float(np.sqrt(np.mean([np.mean((part - np.median(part, axis=0)) ** 2) for part in parts])))


PLANTED = ("spike", "shift", "drift", "stuck", "silent")


def plan(kind: Kind, seed: int, days: int, first_day: int, count: int, size: float) -> list[Anomaly]:
    """Where a number of anomalies are, each in a part of the year of its own and at a random time of it."""
    rng = np.random.default_rng((seed, KINDS.index(kind), 7))
    room = (days - first_day) // count * MINUTES_A_DAY
    found = []
    for number in range(count):
        what = PLANTED[number % (4 if kind.rests else 5)]
        if kind.rests and what == "stuck":
            what = "silent"
        lengths = {"spike": (180, 720), "shift": (8640, 12960), "drift": (10080, 12960), "stuck": (480, 1440)}
        low, high = lengths.get(what, (120, 1440))
        length = int(rng.integers(low, high))
        begin = first_day * MINUTES_A_DAY + number * room + int(rng.integers(0, max(1, room - length - 4320)))
        sign = 1 if kind.low == 0 and kind.rests else rng.choice((-1, 1))
        found.append(
            Anomaly(what, float(sign * size) if what in ("spike", "shift", "drift") else 0.0, begin, begin + length)
        )
    return found


def plant(kind: Kind, values: Values, anomalies: "list[Anomaly]", spread: float) -> Values:
    """The readings with the anomalies: a minute without a reading is NaN."""
    found = values.copy()
    for anomaly in anomalies:
        part = slice(anomaly.begin, anomaly.end)
        length = anomaly.end - anomaly.begin
        if anomaly.kind == "stuck":
            found[part] = found[anomaly.begin]
        elif anomaly.kind == "silent":
            found[part] = np.nan
        elif anomaly.kind == "drift":
            found[part] += anomaly.size * spread * np.minimum(np.arange(length) / length * 6 / 5, 1)
        else:
            found[part] += anomaly.size * spread
    found = np.clip(found, kind.low, kind.high)
    if kind.counts:
        found = np.floor(found + np.random.default_rng(len(values)).random(len(values)))
    return found


def scaled(kind: Kind, values: Values) -> "list[int | None]":
    """The readings as a board keeps them: whole numbers of the sense's decimals."""
    return [None if value != value else round(value) for value in (values * 10**kind.decimals).tolist()]
