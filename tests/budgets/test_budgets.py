"""The budgets: what the firmware costs at 2,000 memories and turns stays within its limits."""

from pathlib import Path

import pytest

import limits
import measuring
from limits import over
from skips import needs_32_bit

LIMITS = limits.read()


def assert_within(figures: measuring.Figures, group: str) -> None:
    """Check each figure of a group against its limit; none of them may lack one."""
    assert set(figures) == set(LIMITS[group])
    table = over(LIMITS[group], figures)
    assert not table, table


def test_the_code_lines_of_each_folder():
    assert_within({folder: limits.code_lines(folder) for folder in LIMITS["code_lines"]}, "code_lines")


def test_the_number_of_collected_cases(request: pytest.FixtureRequest):
    cases = len(request.session.items)
    assert cases <= LIMITS["tests"]["cases"], f"{cases} cases: limits.toml allows {LIMITS['tests']['cases']}"


@needs_32_bit
@pytest.mark.parametrize("kind", measuring.KINDS)
def test_reads_programs_and_erases_of_the_store(kind: str, tmp_path: Path):
    assert_within(measuring.store(kind, tmp_path), kind)


@needs_32_bit
def test_the_flash_that_senses_take(tmp_path: Path):
    assert_within(measuring.senses(tmp_path), "senses")


def test_the_size_of_the_modules():
    assert_within(measuring.mpy(), "mpy")


def test_the_number_of_modules_and_settings():
    assert_within(measuring.firmware(), "firmware")
