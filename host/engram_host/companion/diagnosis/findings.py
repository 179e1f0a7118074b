"""What a check finds."""

from dataclasses import dataclass

WELL, WATCH, WRONG = "well", "watch", "wrong"
"""watch: it works, and a person may want to know."""

REFUSED = "`engram serve` does not start with this setting"
"""How it is where a setting is one that the companion refuses."""


@dataclass(frozen=True)
class Finding:
    """`detail` says how it is, `advice` what to do about it, "" if nothing."""

    name: str
    state: str
    detail: str
    advice: str = ""


def well(name: str, detail: str) -> Finding:
    """All as it should be."""
    return Finding(name, WELL, detail)


def watch(name: str, detail: str, advice: str = "") -> Finding:
    """It works all the same."""
    return Finding(name, WATCH, detail, advice)


def wrong(name: str, detail: str, advice: str) -> Finding:
    """It does not work."""
    return Finding(name, WRONG, detail, advice)
