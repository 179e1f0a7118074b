"""Plots as SVG: where each bar stands. The templates draw them, with a table of the same figures beside each."""

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 640, 140
_LEFT, _TOP, _BOTTOM = 4, 18, 18
"""Room beside the bars; above them stands how many the highest one is of."""


@dataclass(frozen=True)
class Bar:
    """A bar: where it stands, and what it is of."""

    x: float
    y: float
    width: float
    height: float
    label: str
    value: int


@dataclass(frozen=True)
class BarPlot:
    """Bars beside each other, in a picture of WIDTH by HEIGHT; `base` is where they stand."""

    bars: tuple[Bar, ...]
    most: int
    total: int
    base: int = HEIGHT - _BOTTOM
    width: int = WIDTH
    height: int = HEIGHT


def plot_bars(values: Sequence[tuple[str, int]]) -> BarPlot:
    """Bars of some values, as high as the picture if it is the highest one."""
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
