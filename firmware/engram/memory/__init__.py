"""What is remembered: records, journal, profile, notes; meanings on top of the store."""

ALL = "all"
"""The scope of what everybody may see, and of a line that names none: scope.py, which the lines' owners do without."""
