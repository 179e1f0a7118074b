"""The memory: records, journal, profile and notes, on top of the store."""

ALL = "all"
"""The scope of what everybody may see, and of a line that names none. Schemas do without access.py."""
