"""What somebody wants of a timer."""

from collections import namedtuple

Wanted = namedtuple("Wanted", "kind what tool arguments yes at after minute days every")
"""kind "say", "ask" or "tool"; the text; the tool's name, its arguments as JSON and whether the person said yes to it; and
one of these, the others being 0: `at`, Unix seconds; `after`, seconds from now; `days` of the week (bit 0 is Monday) at a
`minute` of the local day; `every`, minutes."""


def wanted(kind: str, what: str, at: int = 0, after: int = 0, minute: int = 0, days: int = 0, every: int = 0) -> Wanted:
    """A Wanted that needs no tool."""
    return Wanted(kind, what, "", "", False, at, after, minute, days, every)
