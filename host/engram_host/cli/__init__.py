"""The command `engram`."""

HOME_VARIABLE = "ENGRAM_COMPANION_HOME"
API_VARIABLE = "ENGRAM_COMPANION_API"
"""Names in the environment: the folder of the companion's files, and where the companion is."""

ANSWER_SECONDS = 60.0
"""How long an answer of the companion may take: a whole board may have to be read for it."""
