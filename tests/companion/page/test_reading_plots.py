"""Plots of readings: a line in a band within the picture, ends at gaps, and marks of events."""

import pytest

from engram_host.companion.page.plots import HEIGHT, WIDTH, ReadingPlot, plot_readings
from engram_host.companion.senses.service import Point
from engram_host.companion.store.senses.types import StoredEvent
from one_case import in_one_case


def points(*values: float, first: int = 1000, every: int = 60) -> list[Point]:
    return [Point(first + at * every, 2, value - 1, value + 1, value, value) for at, value in enumerate(values)]


def plotted(found: list[Point], events: tuple[StoredEvent, ...] = (), until: int = 2000) -> ReadingPlot:
    plot = plot_readings(found, events, 1000, until)
    assert plot is not None
    return plot


def places(path: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in (place.split(",") for place in path.split())]


def test_nothing_read_is_no_plot():
    assert plot_readings([], (), 0, 10) is None


@in_one_case("values", [(5.0,), (5.0, 5.0), (-3.5, 8.0, 2.0), tuple(range(99))])
def test_all_is_within_the_picture(values: tuple[float, ...]):
    plot = plotted(points(*values), until=9000)
    for x, y in [place for path in plot.lines + plot.bands for place in places(path)] + list(plot.dots):
        assert 0 <= x <= WIDTH and plot.top <= y <= plot.base <= HEIGHT


def test_higher_readings_stand_higher_in_a_band_around_the_mean():
    plot = plotted(points(1, 3))
    (low, high) = places(plot.lines[0])
    assert low[1] > high[1] and (plot.low, plot.high, plot.mean) == (0, 4, 2)
    band = places(plot.bands[0])
    assert band[0][1] < low[1] < band[-1][1]


def test_a_line_ends_where_nothing_was_read():
    plot = plotted([*points(1, 2, 3), *points(4, 5, first=1600), *points(6, first=1900)])
    assert [len(places(line)) for line in plot.lines] == [3, 2] and len(plot.dots) == 1


def test_an_event_is_marked_from_its_begin_to_its_end_or_until_now():
    short, lasting = StoredEvent(1, 1, "low", 1200, 1201, {}), StoredEvent(2, 1, "low", 1500, 0, {})
    first, second = plotted(points(1, 2), (short, lasting)).marks
    assert first.x == pytest.approx(WIDTH / 5) and first.width == 2
    assert second.x + second.width == pytest.approx(WIDTH)
