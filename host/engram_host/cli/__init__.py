"""The command `engram`."""
