"""The budgets: what the firmware costs at 2,000 memories and turns stays within its limits."""

from pathlib import Path

import pytest

import bench_senses
import get_micropython
import limits
import measuring
from extent import IS_WHOLE, extent
from limits import Budget, over, unexplained

BUDGETS = limits.read(limits.FILE.read_text(encoding="utf-8"))
CHANGELOG = Path(__file__).resolve().parents[2] / "CHANGELOG.md"

needs_32 = pytest.mark.skipif(
    not get_micropython.usable(get_micropython.HOME / "32", 32), reason="there is no 32-bit MicroPython"
)


MOST_OF_A_SENSE = {"minute": 0.63, "hour": 1.8, "day": 2.7}
"""Bytes of an aggregate with which all of that fits: the whole test, in `make soak`, lets the rings go round."""


def assert_within(figures: measuring.Figures, group: str) -> None:
    """Each figure is within its limit, and all budgets of a group were measured."""
    assert set(figures) == {name for name in BUDGETS if name.startswith(group)}
    table = over(BUDGETS, figures)
    assert not table, table


@needs_32
@pytest.mark.parametrize("kind", measuring.KINDS)
def test_reads_programs_and_erases_of_the_store(kind: str, tmp_path: Path):
    assert_within(measuring.store(kind, tmp_path), kind)


@needs_32
@pytest.mark.shortened
def test_the_smallest_heap_of_a_turn(tmp_path: Path):
    limits_of_heaps = {name: budget.limit for name, budget in BUDGETS.items()}
    assert_within(measuring.heaps(tmp_path, limits_of_heaps, is_less_tried=IS_WHOLE), "heap")


@needs_32
def test_the_flash_and_the_heap_that_senses_take(tmp_path: Path):
    assert_within(measuring.senses(tmp_path), "senses")


@pytest.mark.shortened
def test_a_year_of_hours_and_ten_years_of_days_of_16_senses_fit():
    figures = bench_senses.measure(bench_senses.series(*extent((10, 365), (3, 60))))
    assert {name: row["bytes each"] <= MOST_OF_A_SENSE[name] for name, row in figures.items()} == dict.fromkeys(
        figures, True
    )
    if IS_WHOLE:
        assert figures["hour"]["fewest kept"] >= 365 * 24 and figures["day"]["fewest kept"] >= 3650


def test_the_size_of_the_modules():
    assert_within(measuring.mpy(), "modules")


# --- the limits


def test_each_raised_limit_has_its_reason_in_the_changelog():
    assert unexplained(BUDGETS, CHANGELOG.read_text(encoding="utf-8")) == []


def test_what_was_measured_is_within_its_limit_and_a_goal_is_below_it():
    for budget in BUDGETS.values():
        assert budget.measured <= budget.limit and (budget.goal is None or budget.goal <= budget.limit), budget.name


def test_a_raised_limit_without_a_line_in_the_changelog_is_named():
    def row(*all_limits: float, why: tuple[str, ...] = ()) -> dict[str, Budget]:
        return {"put": Budget("put", all_limits, 1, None, why)}

    changelog = "- A put erases\n  more: tags are kept twice."
    assert unexplained(row(5, 4), changelog) == []
    assert unexplained(row(5, 4, 6, why=("A put erases more: tags are kept twice.",)), changelog) == []
    assert unexplained(row(5, 6), changelog) == ["put: was raised 1 times, `why` has 0 lines"]
    assert unexplained(row(5, 6, why=("Because.",)), changelog) == ["put: CHANGELOG.md lacks: Because."]


def test_a_figure_over_its_limit_is_shown_in_a_table_of_its_group():
    budgets = limits.read('{"put": {"limits": [1.1], "measured": 1}, "get": {"limits": [9, 5], "measured": 5}}')
    assert over(budgets, {"put": 1.1, "get": 4}) == ""
    assert over(budgets, {"put": 1.165, "get": 4}).splitlines()[2:5] == [
        "budget  limit    now",
        "put       1.1  1.165  OVER",
        "get         5      4",
    ]


@pytest.mark.parametrize(("need", "expected"), [(100, 100), (97, 100), (92, 92), (101, 104), (164, 164), (999, 168)])
def test_the_smallest_heap_is_looked_for_from_its_limit_on(need: int, expected: int):
    tried: list[int] = []

    def passes(kilobytes: int) -> bool:
        tried.append(kilobytes)
        return kilobytes >= need

    assert measuring.smallest(passes, 100) == expected and tried[0] == 100


@pytest.mark.parametrize(("need", "expected"), [(92, 100), (101, 104)])
def test_less_than_a_limit_that_is_enough_is_tried_in_soak_only(need: int, expected: int):
    tried: list[int] = []

    def passes(kilobytes: int) -> bool:
        tried.append(kilobytes)
        return kilobytes >= need

    assert measuring.smallest(passes, 100, is_less_tried=False) == expected and min(tried) == 100
