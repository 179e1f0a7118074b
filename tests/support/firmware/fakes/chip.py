"""Lets the unix port behave as the chip does: `install()` before anything of the firmware is imported.

Time counts from 2000 in whole seconds, floats are single precision where they are read, written and rounded, `os` and `sys`
have no name that a chip has not, and links run over sockets as lwIP has them.
"""

import os
import struct
import sys

from fakes import chip_time, links, names


class _Module:
    """A module with some of another one's names."""

    def __init__(self, original, wanted):
        for name in wanted:
            if hasattr(original, name):
                setattr(self, name, getattr(original, name))


def install() -> None:
    """Put the chip's ways in the place of the unix port's."""
    sys.modules["time"] = chip_time
    sys.modules["os"] = _Module(os, names.OS)
    sys.modules["sys"] = chip_sys = _Module(sys, names.SYS)
    chip_sys.platform = "esp32"
    from engram.memory.records import fields
    from engram.text import strict_json

    read = strict_json._Reader.scalar
    strict_json._Reader.scalar = lambda reader: single(read(reader))
    strict_json._float = _single_float(strict_json._float)
    fields.round = lambda value, digits: single(round(value, digits))
    links.install()


def single(value: float) -> float:
    """A float as a chip has it."""
    return struct.unpack("f", struct.pack("f", value))[0] if isinstance(value, float) else value


def _single_float(write):
    """How json_write shows a float, where floats are single."""

    def shown(value):
        if value - value != 0:
            return write(value)  # NaN and infinity are refused as ever
        for digits in (6, 7, 8, 9):
            text = "%.*g" % (digits, value)
            if single(float(text)) == single(value):
                break
        return text if "." in text or "e" in text else text + ".0"

    return shown
