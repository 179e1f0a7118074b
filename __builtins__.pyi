"""What MicroPython's compiler knows without an import, for pyright; engram/__init__.py gives it to CPython."""

from typing import TypeVar

_T = TypeVar("_T")

def const(value: _T) -> _T: ...
