"""How much the tests try: what random cases and slow machines cost is bounded in `make test`, and not in `make soak`.

There is one switch, the variable TEST_WHOLE, which `make soak` sets. A test that tries less without it is marked `shortened`:
`make soak` runs it again, whole. Of what is parametrized, `make soak` runs the values that `make test` leaves out.
"""

import itertools
import os
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck

Amount = TypeVar("Amount")

IS_WHOLE = bool(os.environ.get("TEST_WHOLE"))
"""Whether tests try all that they can."""

HEALTH_CHECKS: list[HealthCheck] = list(HealthCheck)  # pyright: ignore[reportAssignmentType]  # their class has no types
"""All of hypothesis, for a property that may be slow."""


def extent(whole: Amount, short: Amount) -> Amount:
    """How much a test tries; it has to be marked `shortened`."""
    return whole if IS_WHOLE else short


def with_more(values: Iterable[Any], whole: Iterable[Any]) -> list[Any]:
    """Return what `make test` tries, for pytest.mark.parametrize, and below TEST_WHOLE the others of a whole, marked `soak`."""
    few = list(values)
    others = [each for each in whole if each not in few] if IS_WHOLE else []
    return [*few, *(pytest.param(*_parts(each), marks=pytest.mark.soak) for each in others)]


def matrix(*axes: Sequence[Any]) -> list[Any]:
    """Return as few combinations as have each value once, and below TEST_WHOLE all others, marked `soak`."""
    rows = range(max(len(axis) for axis in axes))
    few = [tuple(axis[(row, k - row)[k % 2] % len(axis)] for k, axis in enumerate(axes)) for row in rows]
    return with_more(few, itertools.product(*axes))


def _parts(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)
