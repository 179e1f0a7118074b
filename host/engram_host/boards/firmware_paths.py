"""Where what goes to a board is."""

from engram_host.firmware import BOARDS, FIRMWARE

__all__ = ["BOARDS", "FIRMWARE"]
