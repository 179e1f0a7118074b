"""The checks of `engram doctor`."""
