"""What the tests of boards share: the compiled firmware."""

import functools
from collections.abc import Callable

import pytest

from engram_host import root_certificates
from engram_host.boards import file_set
from sharing import shared

_compile = file_set._modules
_bundle = functools.cache(root_certificates.root_bundle)


@pytest.fixture(scope="session")
def compiled_modules(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., file_set.Files]:
    """Gives the compiled modules, compiled once for all workers."""

    @functools.cache
    def of(*options: str) -> file_set.Files:
        return shared(tmp_path_factory, "modules" + "".join(options), lambda: _compile(*options))

    return of


@pytest.fixture(autouse=True)
def compiled_once(monkeypatch: pytest.MonkeyPatch, compiled_modules: Callable[..., file_set.Files]) -> None:
    """To compile the firmware for each image, and to look for root certificates, would be most of what these tests take."""
    monkeypatch.setattr(file_set, "_modules", compiled_modules)
    monkeypatch.setattr(root_certificates, "root_bundle", _bundle)
