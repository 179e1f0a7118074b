"""What `engram doctor` looks at: each check tells what it found, and what to do where something is wrong."""

from dataclasses import dataclass

WELL, WATCH, WRONG = "well", "watch", "wrong"
"""watch: it works, and a person may want to know."""

REFUSED = "`engram serve` does not start with this setting"
"""How it is where a setting is one that the companion refuses."""


@dataclass(frozen=True)
class Finding:
    """`told` says how it is, `do` what to do about it, "" if nothing."""

    name: str
    state: str
    told: str
    do: str = ""


def well(name: str, told: str) -> Finding:
    """All as it should be."""
    return Finding(name, WELL, told)


def watch(name: str, told: str, do: str = "") -> Finding:
    """It works all the same."""
    return Finding(name, WATCH, told, do)


def wrong(name: str, told: str, do: str) -> Finding:
    """It does not work."""
    return Finding(name, WRONG, told, do)
