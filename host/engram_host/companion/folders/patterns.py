"""Globs below a folder: `*` and `?` stay within a name, `**` matches any folders or none."""

from fnmatch import fnmatchcase

_ANY = "**"


def matches(pattern: str, path: str) -> bool:
    parts = _parts(pattern)
    return len(parts) in _places(parts, path.split("/"))


def may_match_below(pattern: str, path: str) -> bool:
    parts = _parts(pattern)
    return any(place < len(parts) for place in _places(parts, path.split("/")))


def _parts(pattern: str) -> list[str]:
    parts = pattern.split("/")
    return [*parts, "*"] if parts[-1] == _ANY else parts


def _places(parts: list[str], names: list[str]) -> set[int]:
    """Return the possible counts of parts used up; all are followed at once, so no glob is slow."""
    places = _with_skips(parts, {0})
    for name in names:
        left = [place for place in places if place < len(parts)]
        places = {place if parts[place] == _ANY else place + 1 for place in left if _fits(name, parts[place])}
        places = _with_skips(parts, places)
    return places


def _fits(name: str, part: str) -> bool:
    return part == _ANY or fnmatchcase(name, part)


def _with_skips(parts: list[str], places: set[int]) -> set[int]:
    found = set(places)
    for place, part in enumerate(parts):
        if place in found and part == _ANY:
            found.add(place + 1)
    return found
