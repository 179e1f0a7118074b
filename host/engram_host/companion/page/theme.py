"""Colours of the page: the system's, or a person's choice in a cookie."""

THEME_COOKIE = "engram_theme"

THEMES = ("auto", "light", "dark")
"""The first one follows the system."""


def choose_theme(asked: str, kept: str) -> str:
    """Return the theme asked for, else that of the cookie."""
    return next((name for name in (asked, kept) if name in THEMES), THEMES[0])
