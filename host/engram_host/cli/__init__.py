"""The command `engram`."""

API_VARIABLE = "ENGRAM_COMPANION_API"
HOME_VARIABLE = "ENGRAM_COMPANION_HOME"
"""Names in the environment: where the companion is, and the folder of its files."""
