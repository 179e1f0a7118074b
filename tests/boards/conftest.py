"""What the tests of boards share: the compiled firmware."""

import functools

import pytest

from engram_host import root_certificates
from engram_host.boards import file_set

_modules = functools.cache(file_set._modules)
_bundle = functools.cache(root_certificates.root_bundle)


@pytest.fixture(autouse=True)
def compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """To compile the firmware for each image, and to look for root certificates, would be most of what these tests take."""
    monkeypatch.setattr(file_set, "_modules", _modules)
    monkeypatch.setattr(root_certificates, "root_bundle", _bundle)
