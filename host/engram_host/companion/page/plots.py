"""Geometry of SVG bar plots; the templates draw them with a table of the figures beside."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 640, 164
_LEFT, _TOP, _BOTTOM = 4, 30, 30


@dataclass(frozen=True)
class Bar:
    """A bar: position and label."""

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


def plot_bars(values: Sequence[tuple[str, int]]) -> BarPlot:
    """Scale values to bars; the highest one fills the picture."""
    most = max((value for _, value in values), default=0)
    step = (WIDTH - 2 * _LEFT) / max(1, len(values))
    room = HEIGHT - _TOP - _BOTTOM
    bars: list[Bar] = []
    for at, (label, value) in enumerate(values):
        height = round(room * value / most, 1) if most else 0.0
        bars.append(
            Bar(round(_LEFT + at * step, 1), HEIGHT - _BOTTOM - height, round(step * 0.8, 1), height, label, value)
        )
    return BarPlot(tuple(bars), most, sum(value for _, value in values))


@dataclass(frozen=True)
class DaySpan:
    """Days of one bar: days since 1970, both inclusive."""

    first: int
    last: int


def split_days(days: int, last: int) -> tuple[DaySpan, ...]:
    """Split days into a bounded number of bars: days, weeks, or spans of four weeks."""
    step = next((step for step, most in ((1, 31), (7, 92)) if days <= most), 28)
    begins = range(last + 1 - step, last - days, -step)
    rest = last - days + 1
    spans = [DaySpan(first, first + step - 1) for first in reversed(begins)]
    return (DaySpan(rest, spans[0].first - 1), *spans) if not spans or spans[0].first > rest else tuple(spans)


def plot_days(
    spans: Sequence[DaySpan],
    values: Mapping[int, int],
    label: Callable[[int], str],
    combine: Callable[[Iterable[int]], int] = sum,
) -> BarPlot:
    """Plot days, combined for each span; `label` names a day."""
    found: list[tuple[str, int]] = []
    for span in spans:
        name = label(span.first) if span.first == span.last else f"{label(span.first)} – {label(span.last)}"
        inside = [values[day] for day in range(span.first, span.last + 1) if day in values]
        found.append((name, combine(inside) if inside else 0))
    return plot_bars(found)
