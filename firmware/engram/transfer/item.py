"""What every form of a memory outside the board is read into, before it is checked."""

from collections import namedtuple

from engram.compat import const
from engram.errors import ArgumentError
from engram.memory.records import fields

Item = namedtuple("Item", ("values", "is_whole", "origin", "follows", "is_past", "is_gone", "uses", "used"))
"""A memory that is to be imported.

values    the fields of a record by name, as they stood there: not checked yet
is_whole  whether a field that is absent has its default; else it was not told
origin    where it comes from, "" if that is not known: see origins.py
follows   the origin of the record whose place it took, ""
is_past   whether it was superseded where it comes from
is_gone   whether it was forgotten there
uses      how often it was of use, and `used`: the moment of the last day on which it was
"""

DEFAULT_TAG = "imported"

_FIRST_KNOWN = const(1577836800)  # 2020-01-01: what is before comes from a clock that nobody had set


def item(values: dict, is_whole=False, origin="", follows="", is_past=False, is_gone=False, uses=0, used=0) -> Item:
    """An Item."""
    return Item(values, is_whole, origin, follows, is_past, is_gone, uses, used)


def put_labels(values: dict, tags: list, keywords: list) -> int:
    """Give `values` as many tags as a record has, the others become keywords; how many found no place."""
    tags = [tag.strip() for tag in tags if tag.strip()]
    keywords = [word.strip() for word in keywords if word.strip()]
    first = [tag for tag in tags if len(tag) <= fields.TAG_LONGEST][: fields.MOST_TAGS]
    words = []
    for word in keywords + [tag for tag in tags if tag not in first]:
        if len(word) <= fields.KEYWORD_LONGEST and word not in words:
            words.append(word)
    values["tags"] = first or [DEFAULT_TAG]
    values["keywords"] = words[: fields.MOST_KEYWORDS]
    return len([word for word in keywords + tags if word not in first + values["keywords"]])


def whole(told: dict, name: str) -> int:
    """A number that counts something, 0 if there is none; ArgumentError if it is none."""
    value = told.get(name)
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ArgumentError(name, "must be a whole number from 0 on.")
    return value


def put_moment(values: dict, name: str, at: int) -> None:
    """Give `values` a moment in Unix seconds, unless the clock was not set."""
    if at >= _FIRST_KNOWN:
        values[name] = at
