"""Checks of a companion, with advice: for `engram doctor`, the page and the API."""
