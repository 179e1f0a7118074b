"""What the tests of boards share: the compiled firmware, and a board in this process that takes an import."""

import functools
import sys
from pathlib import Path

import pytest

from engram_host import root_certificates
from engram_host.boards import file_set

sys.path.append(str(Path(__file__).resolve().parents[1] / "unit"))

_modules = functools.cache(file_set._modules)
_bundle = functools.cache(root_certificates.bundle)


@pytest.fixture(autouse=True)
def compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """To compile the firmware for each image, and to look for root certificates, would be most of what these tests take."""
    monkeypatch.setattr(file_set, "_modules", _modules)
    monkeypatch.setattr(root_certificates, "bundle", _bundle)


@pytest.fixture
def importing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """`engram import` and `engram edit`, and the board that they ask."""
    from importing_board import Importing

    import support
    from engram_host.cli import console_session, edit

    support.use_root(str(tmp_path))
    importing = Importing(tmp_path)
    for module in (console_session, edit):
        monkeypatch.setattr(module, "open_board", importing.talking)
    return importing
