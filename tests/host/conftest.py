"""What the tests of boards share: the compiled firmware, and a board in this process that takes an import."""

import functools
import sys
from pathlib import Path

import pytest

from engram_host import roots
from engram_host.board import contents

sys.path.append(str(Path(__file__).resolve().parents[1] / "unit"))

_modules = functools.cache(contents._modules)
_bundle = functools.cache(roots.bundle)


@pytest.fixture(autouse=True)
def compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """To compile the firmware for each image, and to look for root certificates, would be most of what these tests take."""
    monkeypatch.setattr(contents, "_modules", _modules)
    monkeypatch.setattr(roots, "bundle", _bundle)


@pytest.fixture
def importing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """`engram import` and the board that it asks."""
    from importing_board import Importing

    import support
    from engram_host.cli import on_board

    support.use_root(str(tmp_path))
    importing = Importing(tmp_path)
    monkeypatch.setattr(on_board, "talking", importing.talking)
    return importing
