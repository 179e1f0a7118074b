"""Where the firmware and the profiles of boards are, and `import engram`: host and board run the same code.

A clone has them beside host/, an installed package in folders of its own: the name `engram` on the package index is another
project's, and a top-level package of ours would overwrite theirs. So `engram` is found by a finder of ours and not on sys.path:
it is that one name, whatever else is installed, and firmware/main.py and its like cannot be imported by accident.
"""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

_PACKAGE = Path(__file__).resolve().parent
_CLONE = _PACKAGE.parents[1]

CLONE: Path | None = None if (_PACKAGE / "_firmware").is_dir() else _CLONE
"""The clone that this runs from; None for an installed package."""

FIRMWARE = CLONE / "firmware" if CLONE else _PACKAGE / "_firmware"
BOARDS = CLONE / "boards" if CLONE else _PACKAGE / "_boards"

NATIVE_LOOPS = "engram/native_loops"
"""The module that engram.native looks for: its file's path without the suffix."""

_NAME = "engram"


def native_source() -> str:
    """The source of NATIVE_LOOPS: engram.loops with MicroPython's own decorator."""
    return (FIRMWARE / "engram" / "loops.py").read_text("utf-8").replace("@viper", "@micropython.viper")


class _Finder:
    """Finds the package `engram` in FIRMWARE, and leaves every other name to the others."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The place of `engram`; None for any other name, which the next finder looks for."""
        return PathFinder.find_spec(name, [str(FIRMWARE)]) if name == _NAME else None


def provide_engram() -> None:
    """Let `import engram` give the firmware's code in this process; ImportError if another `engram` is loaded already."""
    loaded = sys.modules.get(_NAME)
    if loaded and not Path(loaded.__file__ or "").resolve().is_relative_to(FIRMWARE):
        raise ImportError(
            f"another package named {_NAME} is loaded in this process: run the companion in one of its own."
        )
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)
