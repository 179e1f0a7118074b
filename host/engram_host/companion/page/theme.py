"""The colours of the page: those of the browser's system, or what a person has chosen, which a cookie keeps."""

THEME_COOKIE = "engram_theme"

THEMES = ("auto", "light", "dark")
"""The first one follows the system."""


def choose_theme(asked: str, kept: str) -> str:
    """The theme that a person asks for now, or has asked for before."""
    return next((name for name in (asked, kept) if name in THEMES), THEMES[0])
