"""A check of many values as one case, which fails with the list of offenders."""

import functools
import inspect
import itertools
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest


def in_one_case(
    names: str | Sequence[str], values: Iterable[Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a check for each value, as pytest.mark.parametrize does, in one case that names all values that fail.

    Each value has a `tmp_path` and a `monkeypatch` of its own; other fixtures are made once.
    """
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    rows = [tuple(row) if len(keys) > 1 else (row,) for row in values]
    numbers = itertools.count()

    def decorate(check: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(check)

        @functools.wraps(check)
        def case(**fixtures: Any) -> None:
            offenders: list[str] = []
            for row in rows:
                try:
                    with ExitStack() as stack:
                        own = _of_its_own(fixtures, next(numbers), stack)
                        check(**dict(zip(keys, row, strict=True)), **own)
                except (AssertionError, pytest.fail.Exception) as problem:
                    offenders.append(f"{', '.join(map(repr, row))}: {problem}")
                except Exception as problem:
                    problem.add_note(f"of {', '.join(map(repr, row))}")
                    raise
            assert not offenders, "\n".join(offenders)

        del case.__wrapped__
        others = [one for one in signature.parameters.values() if one.name not in keys]
        case.__signature__ = signature.replace(parameters=others)  # pyright: ignore[reportAttributeAccessIssue]
        return case

    return decorate


def _of_its_own(fixtures: dict[str, Any], number: int, stack: ExitStack) -> dict[str, Any]:
    """Return the fixtures of one value."""
    own = dict(fixtures)
    folder: Path | None = own.get("tmp_path")
    if folder:
        own["tmp_path"] = folder / f"value-{number}"
        own["tmp_path"].mkdir()
    if "monkeypatch" in own:
        own["monkeypatch"] = stack.enter_context(pytest.MonkeyPatch.context())
    return own
