"""The budgets: what the firmware costs at 2,000 memories and turns stays within its limits."""

from pathlib import Path

import pytest

import get_micropython
import limits
import measuring
from limits import over

LIMITS = limits.read()

needs_32 = pytest.mark.skipif(
    not get_micropython.usable(get_micropython.HOME / "32", 32), reason="there is no 32-bit MicroPython"
)


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


@needs_32
@pytest.mark.parametrize("kind", measuring.KINDS)
def test_reads_programs_and_erases_of_the_store(kind: str, tmp_path: Path):
    assert_within(measuring.store(kind, tmp_path), kind)


@needs_32
def test_the_flash_that_senses_take(tmp_path: Path):
    assert_within(measuring.senses(tmp_path), "senses")


def test_the_size_of_the_modules():
    assert_within(measuring.mpy(), "mpy")


def test_the_number_of_modules_and_settings():
    assert_within(measuring.firmware(), "firmware")
