"""The navigation of the page: the views that stand in each page's head, in order."""

NAVIGATION: tuple[tuple[str, str], ...] = (
    ("boards", "/"),
    ("chat", "/chat"),
    ("search", "/search"),
    ("people", "/people"),
    ("health", "/health"),
)
"""(key of its name in the texts below `nav`, address) of each."""

PERSONAL: tuple[tuple[str, str], ...] = (("mine", "/me"),)
"""The same of the page of a person, who sees what is theirs."""
