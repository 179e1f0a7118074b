"""The command `engram`."""

API_VARIABLE = "ENGRAM_COMPANION_API"
"""Where the companion is, in the environment."""

ANSWER_SECONDS = 60.0
"""How long an answer of the companion may take: a whole board may have to be read for it."""
