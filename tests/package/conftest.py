"""The wheel and its environments, made once for all workers."""

import pytest

from engram_host.extras import EXTRAS
from environment import Environment, build_wheel, empty, install
from sharing import shared


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory):
    """The wheel's file."""
    return shared(tmp_path_factory, "wheel", lambda: build_wheel(tmp_path_factory.mktemp("wheel")))


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory, wheel) -> Environment:
    """An environment with the wheel and its base dependencies: what `pip install engram-mcu` makes."""
    return shared(tmp_path_factory, "base", lambda: _made(tmp_path_factory, wheel))


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory, wheel) -> Environment:
    """An environment with the wheel and all its extras."""
    return shared(tmp_path_factory, "whole", lambda: _made(tmp_path_factory, wheel, *EXTRAS))


def _made(factory: pytest.TempPathFactory, wheel, *extras: str) -> Environment:
    environment = empty(factory.mktemp("environment") / "venv")
    install(wheel, environment, *extras)
    return environment
