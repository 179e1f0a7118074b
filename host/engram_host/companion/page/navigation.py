"""Navigation links in the head of each view, in order."""

NAVIGATION: tuple[tuple[str, str], ...] = (
    ("boards", "/"),
    ("chat", "/chat"),
    ("search", "/search"),
    ("people", "/people"),
    ("health", "/health"),
)
"""(key below `nav` in the texts, address) of each link."""

PERSONAL: tuple[tuple[str, str], ...] = (("mine", "/me"),)
