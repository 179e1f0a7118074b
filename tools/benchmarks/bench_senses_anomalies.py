#!/usr/bin/env python3
"""How well what is unusual about senses is found: false anomalies a month, and planted ones found, for each kind of sense.

    bench_senses_anomalies.py [--seeds FIRST COUNT] [--days DAYS] [--sizes 6 ...] [--design finder ...] [--kinds WORD ...]

Plays made-up years, see sense_signals.py: each once without an anomaly and once for each size with ten that are planted, the
size in usual spreads of the sense. A planted one is found if an event begins from its beginning until two hours after its end;
what begins up to half a day after it (four days after a drift) comes of it too, any other event is false. The designs:

    finder  the companion's own code, engram_host/companion/senses/anomalies.py, minute by minute
    board   the firmware's own code, engram/senses/watch.py, hour by hour
    level   the hour's mean against its moving average, in spreads, with one limit for all senses

Prints a table for each design; status 1 if `finder` misses the aims.
"""

import argparse
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parents[2] / name) for name in ("firmware", "host")]

import sense_signals as signals
from engram.senses.watch import HOURS_OFF, HourlyBaseline
from engram_host.companion.senses.anomalies import AnomalyFinder
from engram_host.companion.store.senses.types import Row
from sense_signals import Anomaly

MINUTES_A_MONTH = 43800
FIRST_PLANTED_DAY = 60
PLANTED_A_YEAR = 10
MOST_FALSE = 2.0
LEAST_FOUND = 0.95
AIMED_SIZE = 6.0

Event = tuple[str, int]
"""Its kind, and the minute in which it began."""


def by_finder(readings: "list[int | None]", _limit: float) -> list[Event]:
    """The anomalies of the companion's own code."""
    events: list[Event] = []
    minute = 0
    finder = AnomalyFinder(on_begin=lambda anomaly: events.append((anomaly.kind, minute)))
    first = signals.START // 60
    for minute, value in enumerate(readings):
        if value is not None:
            finder.add(Row(first + minute, 1, value, value, value, value))
        finder.advance(first + minute + 1)
    return events


def _hour_means(readings: "list[int | None]") -> "list[float | None]":
    found: list[float | None] = []
    for at in range(0, len(readings), 60):
        values = [value for value in readings[at : at + 60] if value is not None]
        found.append(sum(values) / len(values) if len(values) > 30 else None)
    return found


def by_board(readings: "list[int | None]", _limit: float) -> list[Event]:
    """The events of the board's own code, as engram/senses/watch.py begins them."""
    baseline, events, off = HourlyBaseline(), [], 0
    for number, mean in enumerate(_hour_means(readings)):
        if mean is None:
            continue
        usual = baseline.usual(number % 24)
        off = off + 1 if usual and not usual[0] <= mean <= usual[1] else 0
        if off == HOURS_OFF:
            events.append(("unusual", number * 60 + 60))
        baseline.learn(number % 24, round(mean))
    return events


def by_level(readings: "list[int | None]", limit: float) -> list[Event]:
    """Two hours in a row beyond a limit in spreads of a moving average over a day."""
    middle = spread = 0.0
    seen = over = 0
    events: list[Event] = []
    for number, mean in enumerate(_hour_means(readings)):
        if mean is None:
            continue
        off = mean - middle
        over = over + 1 if number >= 21 * 24 and abs(off) > limit * max(spread, 0.1) else 0
        if over == 2:
            events.append(("unusual", number * 60 + 60))
        seen += 1
        gain = 1 / min(seen, 24)
        if seen > 7:
            off = max(-3 * spread - 0.1, min(3 * spread + 0.1, off))
        middle += off * gain
        spread += (abs(off) * 1.25 - spread) * gain
    return events


DESIGNS: "dict[str, tuple[Callable[[list[int | None], float], list[Event]], tuple[float, ...]]]" = {
    "finder": (by_finder, (0.0,)),
    "board": (by_board, (0.0,)),
    "level": (by_level, (3.0, 5.0)),
}


def judge(events: list[Event], planted: list[Anomaly]) -> "tuple[list[Event], dict[int, int]]":
    """(the false events, after how many minutes each planted one was found, by its place)."""
    false: list[Event] = []
    found: dict[int, int] = {}
    for kind, at in events:
        is_false = True
        for place, anomaly in enumerate(planted):
            after = 5760 if anomaly.kind == "drift" else 2160 if anomaly.kind == "shift" else 720
            if anomaly.begin <= at <= anomaly.end + after:
                is_false = False
                is_right = anomaly.kind not in ("stuck", "silent") or kind == anomaly.kind
                if is_right and at <= anomaly.end + 120:
                    found.setdefault(place, at - anomaly.begin)
        if is_false:
            false.append((kind, at))
    return false, found


@dataclass
class Result:
    """What one sense in one made-up year gave."""

    kind: str
    false: "list[Event]"
    planted: "dict[float, list[tuple[str, int]]]"
    """By size, of each planted anomaly its kind, and after how many minutes it was found, -1 if not."""
    false_beside: int


def play(job: "tuple[str, float, int, int, int, list[float]]") -> Result:
    """Play a year of one sense."""
    design, limit, at, seed, days, sizes = job
    kind = signals.KINDS[at]
    detect = DESIGNS[design][0]
    values = signals.clean(kind, seed, days)
    spread = signals.usual_spread(values)
    result = Result(kind.name, detect(signals.scaled(kind, values), limit), {}, 0)
    for size in sizes:
        planted = signals.plan(kind, seed, days, FIRST_PLANTED_DAY, PLANTED_A_YEAR, size)
        events = detect(signals.scaled(kind, signals.plant(kind, values, planted, spread)), limit)
        false, found = judge(events, planted)
        result.false_beside += len(false)
        result.planted[size] = [(anomaly.kind, found.get(place, -1)) for place, anomaly in enumerate(planted)]
    return result


def _share(outcomes: "list[tuple[str, int]]", what: str) -> str:
    of_kind = [after for kind, after in outcomes if kind == what]
    return f"{sum(after >= 0 for after in of_kind)}/{len(of_kind)}" if of_kind else "-"


def show(results: list[Result], days: int, sizes: list[float]) -> bool:
    """Print the table of one design; whether the aims are reached."""
    months = days * signals.MINUTES_A_DAY / MINUTES_A_MONTH
    size = AIMED_SIZE if AIMED_SIZE in sizes else sizes[-1]
    print(f"| sense | false a month | of these | {' | '.join(signals.PLANTED)} |")
    print("|---" * (3 + len(signals.PLANTED)) + "|")
    is_reached = True
    for name in dict.fromkeys(result.kind for result in results):
        those = [result for result in results if result.kind == name]
        false = [kind for result in those for kind, _ in result.false]
        rate = len(false) / len(those) / months
        is_reached = is_reached and rate <= MOST_FALSE
        kinds = ", ".join(f"{false.count(kind)} {kind}" for kind in sorted(set(false))) or "-"
        outcomes = [outcome for result in those for outcome in result.planted[size]]
        shares = " | ".join(_share(outcomes, what) for what in signals.PLANTED)
        print(f"| {name} | {rate:.2f} | {kinds} | {shares} |")
    print(f"\n| size in spreads | {' | '.join(signals.PLANTED)} | all |")
    print("|---" * (2 + len(signals.PLANTED)) + "|")
    for each in sizes:
        outcomes = [outcome for result in results for outcome in result.planted[each]]
        shares = " | ".join(_share(outcomes, what) for what in signals.PLANTED)
        share = sum(after >= 0 for _, after in outcomes) / len(outcomes)
        print(f"| {each:g} | {shares} | {share:.1%} |")
        if each == size:
            is_reached = is_reached and share >= LEAST_FOUND
    outcomes = [outcome for result in results for outcome in result.planted[size]]
    medians = []
    for what in signals.PLANTED:
        after = sorted(minutes for kind, minutes in outcomes if kind == what and minutes >= 0)
        medians.append(f"{what} {after[len(after) // 2]}" if after else f"{what} -")
    print(f"\nfound after, in minutes, at size {size:g}, median: {', '.join(medians)}")
    beside = sum(result.false_beside for result in results) / len(results) / len(sizes) / months
    print(f"false a month and sense beside planted ones: {beside:.2f}\n")
    return is_reached


def main() -> int:
    """Play, and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", nargs=2, type=int, default=(11, 2), metavar=("FIRST", "COUNT"))
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--sizes", nargs="+", type=float, default=[3.0, 4.0, 6.0, 8.0])
    parser.add_argument("--design", nargs="+", choices=list(DESIGNS), default=list(DESIGNS))
    parser.add_argument("--kinds", nargs="+", default=[], help="words that the names of senses begin with")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    kinds = [
        at for at, kind in enumerate(signals.KINDS) if not options.kinds or kind.name.startswith(tuple(options.kinds))
    ]
    seeds = range(options.seeds[0], options.seeds[0] + options.seeds[1])
    status = 0
    with ProcessPoolExecutor(options.jobs) as pool:
        for design in options.design:
            for limit in DESIGNS[design][1]:
                jobs = [(design, limit, at, seed, options.days, options.sizes) for at in kinds for seed in seeds]
                results = list(pool.map(play, jobs))
                print(f"## {design}" + (f", limit {limit:g} spreads" if limit else ""), end="\n\n")
                is_reached = show(results, options.days, options.sizes)
                if design == "finder" and not is_reached:
                    status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
