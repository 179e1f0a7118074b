"""Views of boards' sensor readings."""
