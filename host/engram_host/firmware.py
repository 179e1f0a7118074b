"""Locates the firmware and board profiles, and provides `import engram`: host and board run the
same code.

A finder serves this one name, not sys.path, so that firmware/main.py cannot be imported by
accident and no other project's `engram` is overwritten.
"""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

_PACKAGE = Path(__file__).resolve().parent
_CLONE = _PACKAGE.parents[1]

CLONE: Path | None = None if (_PACKAGE / "_firmware").is_dir() else _CLONE
"""The clone; None in an installed package."""

FIRMWARE = CLONE / "firmware" if CLONE else _PACKAGE / "_firmware"
BOARDS = CLONE / "boards" if CLONE else _PACKAGE / "_boards"

NATIVE_LOOPS = "engram/native_loops"
"""Module that engram.native looks for, as a path without suffix."""

_NAME = "engram"


def native_source() -> str:
    return (FIRMWARE / "engram" / "loops.py").read_text("utf-8").replace("@viper", "@micropython.viper")


class _Finder:
    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        return PathFinder.find_spec(name, [str(FIRMWARE)]) if name == _NAME else None


def provide_engram() -> None:
    """Provide the firmware as `import engram`; raises ImportError if another one is loaded."""
    loaded = sys.modules.get(_NAME)
    if loaded and not Path(loaded.__file__ or "").resolve().is_relative_to(FIRMWARE):
        raise ImportError(
            f"another package named {_NAME} is loaded in this process: run the companion in one of its own."
        )
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)
