"""Runs first on a board. Nothing here can fail: what can is in main.py, behind which the prompt is always reached."""
