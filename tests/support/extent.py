"""How much the tests try: what random cases and slow machines cost is bounded in `make test`, and not in `make soak`.

There is one switch, the variable TEST_WHOLE, which `make soak` sets. A test that tries less without it is marked `shortened`:
`make soak` runs it again, whole.
"""

import os
from typing import TypeVar

from hypothesis import HealthCheck

Amount = TypeVar("Amount")

IS_WHOLE = bool(os.environ.get("TEST_WHOLE"))
"""Whether tests try all that they can."""

HEALTH_CHECKS: list[HealthCheck] = list(HealthCheck)  # pyright: ignore[reportAssignmentType]  # their class has no types
"""All of hypothesis, for a property that may be slow."""


def extent(whole: Amount, short: Amount) -> Amount:
    """How much a test tries; it has to be marked `shortened`."""
    return whole if IS_WHOLE else short
