"""The navigation of the page: the views that stand in each page's head, in order."""

NAVIGATION: tuple[tuple[str, str], ...] = (
    ("boards", "/"),
    ("chat", "/chat"),
    ("search", "/search"),
    ("people", "/people"),
    ("health", "/health"),
)
"""(key of its name in the texts below `nav`, address) of each."""
