"""How much the tests try: what random cases and slow machines cost is bounded in `make test`, and not in `make soak`.

There is one switch, the variable TEST_WHOLE, which `make soak` sets. A test that tries less without it is marked `shortened`:
`make soak` runs it again, whole.
"""

import os
from collections.abc import Callable
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, settings

Test = TypeVar("Test", bound=Callable[..., object])
Amount = TypeVar("Amount")

IS_WHOLE = bool(os.environ.get("TEST_WHOLE"))
"""Whether tests try all that they can."""

HEALTH_CHECKS: list[HealthCheck] = list(HealthCheck)  # pyright: ignore[reportAssignmentType]  # their class has no types
"""All of hypothesis, for a property that may be slow."""


def extent(whole: Amount, short: Amount) -> Amount:
    """How much a test tries; it has to be marked `shortened`."""
    return whole if IS_WHOLE else short


def examples(whole: int, short: int) -> Callable[[Test], Test]:
    """Let a property be tried with so many examples by hypothesis, and mark the test `shortened`."""

    def decorate(test: Test) -> Test:
        return pytest.mark.shortened(settings(max_examples=extent(whole, short), deadline=None)(test))

    return decorate
