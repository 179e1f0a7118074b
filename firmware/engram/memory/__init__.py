"""The memory: records, journal, profile and notes, on top of the store."""

ALL = "all"
"""The scope that everybody sees, also of lines without one; here so that schemas need no access.py."""
