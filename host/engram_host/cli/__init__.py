"""The command `engram`."""

API_VARIABLE = "ENGRAM_COMPANION_API"

ANSWER_SECONDS = 60.0
"""Timeout of a request in seconds; a whole board may have to be read for it."""
