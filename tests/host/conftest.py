"""What the tests of boards share: the compiled firmware."""

import functools

import pytest

from engram_host import roots
from engram_host.board import contents

_modules = functools.cache(contents._modules)
_bundle = functools.cache(roots.bundle)


@pytest.fixture(autouse=True)
def compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """To compile the firmware for each image, and to look for root certificates, would be most of what these tests take."""
    monkeypatch.setattr(contents, "_modules", _modules)
    monkeypatch.setattr(roots, "bundle", _bundle)
