"""The host side of Engram: the companion, the command line and what tests and simulations need."""

__version__ = "0.1.0"
