"""Geometry of SVG plots, bars by days and lines of readings; the templates draw them beside a table of the figures."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from engram_host.companion.senses.service import Point
from engram_host.companion.store.senses.types import StoredEvent
from engram_host.time_zones import day_date

WIDTH, HEIGHT = 640, 164
_LEFT, _TOP, _BOTTOM = 4, 30, 30


@dataclass(frozen=True)
class Bar:
    x: float
    y: float
    width: float
    height: float
    label: str
    value: int


@dataclass(frozen=True)
class BarPlot:
    """Bars in a picture of WIDTH by HEIGHT; `base` is their lower edge."""

    bars: tuple[Bar, ...]
    most: int
    total: int
    base: int = HEIGHT - _BOTTOM
    width: int = WIDTH
    height: int = HEIGHT


def split_days(days: int, last: int) -> list[range]:
    """Split days since 1970 up to `last` into a bounded number of bars: days, weeks, or spans of four weeks."""
    step = next((step for step, most in ((1, 31), (7, 92)) if days <= most), 28)
    first = last - days + 1
    return [range(max(first, end - step + 1), end + 1) for end in range(last, first - 1, -step)][::-1]


def plot_days(
    spans: Sequence[range], values: Mapping[int, int], combine: Callable[[Iterable[int]], int] = sum
) -> BarPlot:
    found = [combine([values[day] for day in span if day in values] or [0]) for span in spans]
    most = max(found, default=0)
    step = (WIDTH - 2 * _LEFT) / max(1, len(found))
    room = HEIGHT - _TOP - _BOTTOM
    bars: list[Bar] = []
    for at, (span, value) in enumerate(zip(spans, found, strict=True)):
        height = round(room * value / most, 1) if most else 0.0
        x, y = round(_LEFT + at * step, 1), HEIGHT - _BOTTOM - height
        bars.append(Bar(x, y, round(step * 0.8, 1), height, _label(span), value))
    return BarPlot(tuple(bars), most, sum(found))


def _label(span: range) -> str:
    first, last = day_date(span[0]), day_date(span[-1])
    return f"{first}" if first == last else f"{first} – {last}"


# --- readings: mean line, band from lowest to highest, and marks of events

_READ_TOP, _READ_BOTTOM = 28, 22
_GAP_STEPS = 2.5

_LEAST_WIDTH = 2.0


@dataclass(frozen=True)
class EventMark:
    x: float
    width: float
    event: StoredEvent


@dataclass(frozen=True)
class ReadingPlot:
    lines: tuple[str, ...]
    bands: tuple[str, ...]
    dots: tuple[tuple[float, float], ...]
    marks: tuple[EventMark, ...]
    low: float
    high: float
    mean: float
    base: int = HEIGHT - _READ_BOTTOM
    top: int = _READ_TOP
    width: int = WIDTH
    height: int = HEIGHT


def plot_readings(points: Sequence[Point], events: Sequence[StoredEvent], since: int, until: int) -> ReadingPlot | None:
    """Plot a period; None if it has no readings."""
    if not points:
        return None
    low, high = min(point.min for point in points), max(point.max for point in points)
    begin, end = min(since, points[0].at), max(until, points[-1].at + 1)
    room = HEIGHT - _READ_TOP - _READ_BOTTOM

    def x(at: int) -> float:
        return round(WIDTH * (min(max(at, begin), end) - begin) / (end - begin), 1)

    def y(value: float) -> float:
        part = (value - low) / (high - low) if high > low else 0.5
        return round(_READ_TOP + room * (1 - part), 1)

    runs = _runs(points)
    lines = tuple(_path([(x(point.at), y(point.mean)) for point in run]) for run in runs if len(run) > 1)
    bands = tuple(
        _path([(x(point.at), y(point.max)) for point in run] + [(x(point.at), y(point.min)) for point in reversed(run)])
        for run in runs
        if len(run) > 1 and any(point.max > point.min for point in run)
    )
    dots = tuple((x(run[0].at), y(run[0].mean)) for run in runs if len(run) == 1)
    marks = tuple(
        EventMark(x(event.started), max(_LEAST_WIDTH, round(x(event.ended or until) - x(event.started), 1)), event)
        for event in events
    )
    count = sum(point.count for point in points)
    mean = sum(point.mean * point.count for point in points) / count
    return ReadingPlot(lines, bands, dots, marks, low, high, mean)


def _runs(points: Sequence[Point]) -> list[list[Point]]:
    steps = [after.at - before.at for before, after in pairwise(points)]
    longest = _GAP_STEPS * min(steps, default=0)
    runs = [[points[0]]]
    for step, point in zip(steps, points[1:], strict=True):
        if step > longest:
            runs.append([])
        runs[-1].append(point)
    return runs


def _path(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in places)
