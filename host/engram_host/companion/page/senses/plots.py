"""SVG plots of readings: mean line, band from lowest to highest, and marks of events."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from engram_host.companion.page.plots import HEIGHT, WIDTH
from engram_host.companion.senses.service import Point
from engram_host.companion.store.senses.types import StoredEvent

_TOP, _BOTTOM = 28, 22
_GAP_STEPS = 2.5

_LEAST_WIDTH = 2.0


@dataclass(frozen=True)
class EventMark:
    """Position of an event in a plot."""

    x: float
    width: float
    event: StoredEvent


@dataclass(frozen=True)
class ReadingPlot:
    """SVG points of bands and lines, one each per period without a gap."""

    lines: tuple[str, ...]
    bands: tuple[str, ...]
    dots: tuple[tuple[float, float], ...]
    marks: tuple[EventMark, ...]
    low: float
    high: float
    mean: float
    base: int = HEIGHT - _BOTTOM
    top: int = _TOP
    width: int = WIDTH
    height: int = HEIGHT


def plot_readings(points: Sequence[Point], events: Sequence[StoredEvent], since: int, until: int) -> ReadingPlot | None:
    """Plot a period; None if it has no readings."""
    if not points:
        return None
    low, high = min(point.low for point in points), max(point.high for point in points)
    begin, end = min(since, points[0].at), max(until, points[-1].at + 1)
    room = HEIGHT - _TOP - _BOTTOM

    def x(at: int) -> float:
        return round(WIDTH * (min(max(at, begin), end) - begin) / (end - begin), 1)

    def y(value: float) -> float:
        part = (value - low) / (high - low) if high > low else 0.5
        return round(_TOP + room * (1 - part), 1)

    runs = _runs(points)
    lines = tuple(_path([(x(point.at), y(point.mean)) for point in run]) for run in runs if len(run) > 1)
    bands = tuple(
        _path(
            [(x(point.at), y(point.high)) for point in run] + [(x(point.at), y(point.low)) for point in reversed(run)]
        )
        for run in runs
        if len(run) > 1 and any(point.high > point.low for point in run)
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
