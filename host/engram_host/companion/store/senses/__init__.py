"""The tables of what boards perceive."""
