"""Globs of files below a folder: `*` and `?` stay within one name, `**` stands for any folders, also none."""

from fnmatch import fnmatchcase

_ANY = "**"


def matches(pattern: str, path: str) -> bool:
    """Whether a glob names the file at a path, both relative to the folder and with slashes."""
    parts = _parts(pattern)
    return len(parts) in _places(parts, path.split("/"))


def may_match_below(pattern: str, path: str) -> bool:
    """Whether a glob may name a file in or below the folder at a path."""
    parts = _parts(pattern)
    return any(place < len(parts) for place in _places(parts, path.split("/")))


def _parts(pattern: str) -> list[str]:
    """The parts of a glob between its slashes; at its end `**` stands for all files."""
    parts = pattern.split("/")
    return [*parts, "*"] if parts[-1] == _ANY else parts


def _places(parts: list[str], names: list[str]) -> set[int]:
    """How many parts of a glob may be used up by these names; all ways are followed at once, so no glob takes long."""
    places = _with_skips(parts, {0})
    for name in names:
        left = [place for place in places if place < len(parts)]
        places = {place if parts[place] == _ANY else place + 1 for place in left if _fits(name, parts[place])}
        places = _with_skips(parts, places)
    return places


def _fits(name: str, part: str) -> bool:
    return part == _ANY or fnmatchcase(name, part)


def _with_skips(parts: list[str], places: set[int]) -> set[int]:
    """These places, and those behind a `**` that stands for no folder."""
    found = set(places)
    for place, part in enumerate(parts):
        if place in found and part == _ANY:
            found.add(place + 1)
    return found
