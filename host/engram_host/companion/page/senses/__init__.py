"""The views of what boards perceive."""
