"""A static check of many things as one case, which fails with the list of offenders."""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest


def in_one_case(names: str, values: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a check for each value, as pytest.mark.parametrize does, in one case that names all values that fail."""
    keys = [name.strip() for name in names.split(",")]
    rows = [row if len(keys) > 1 else (row,) for row in values]

    def decorate(check: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(check)

        @functools.wraps(check)
        def case(**fixtures: Any) -> None:
            offenders: list[str] = []
            for row in rows:
                try:
                    check(**dict(zip(keys, row, strict=True)), **fixtures)
                except (AssertionError, pytest.fail.Exception) as problem:
                    offenders.append(f"{', '.join(map(str, row))}: {problem}")
            assert not offenders, "\n".join(offenders)

        del case.__wrapped__
        others = [one for one in signature.parameters.values() if one.name not in keys]
        case.__signature__ = signature.replace(parameters=others)  # pyright: ignore[reportAttributeAccessIssue]
        return case

    return decorate
