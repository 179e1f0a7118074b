"""Stands before MicroPython's own module: a board of these tests talks over sockets, and TLS, that do as a chip's."""

import sys

from fakes import chip_tls
from fakes.chip_socket import *  # noqa: F403

sys.modules["tls"] = chip_tls
