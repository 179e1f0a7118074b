"""Marks of tests that need a program which not every machine has."""

import pytest

import get_micropython
import get_mosquitto


def _needs(program: str, is_there: bool) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not is_there, reason=f"there is no {program} for this machine")


needs_32_bit = _needs("32-bit MicroPython", get_micropython.usable(get_micropython.HOME / "32", 32))
needs_64_bit = _needs("64-bit MicroPython", get_micropython.usable(get_micropython.HOME / "64", 64))
needs_mosquitto = _needs("mosquitto", get_mosquitto.usable())
