"""The host side of Engram: the companion, the command line and what tests and simulations need."""

from engram_host.firmware import provide_engram

__version__ = "0.1.0"

provide_engram()
