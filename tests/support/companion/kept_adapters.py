"""Keeps pydantic's type adapters from one companion to the next: making them is most of what a start takes."""

from typing import Any

from fastapi._compat import v2

_make = v2.TypeAdapter  # pyright: ignore[reportPrivateImportUsage]
_made: dict[tuple[Any, ...], Any] = {}


def _find(annotated: Any, *, config: Any = None) -> Any:
    """Return the adapter of an annotated type; fields that are written alike have one."""
    key = (annotated.__origin__, *map(repr, annotated.__metadata__))
    if key not in _made:
        _made[key] = _make(annotated, config=config)
    return _made[key]


def keep_adapters() -> None:
    """Let FastAPI take the adapters that this process has made."""
    v2.TypeAdapter = _find  # pyright: ignore[reportAttributeAccessIssue, reportPrivateImportUsage]
