"""Puts what a companion found among what the board found itself: the board alone decides what may be seen."""

from engram import text
from engram.archive.archiver import is_away
from engram.compat import const
from engram.errors import ArgumentError, NotFound
from engram.memory import access, ids
from engram.memory.recall import Item
from engram.memory.records import fields
from engram.store.search.weights import ONE
from engram.store.types import LIVE

_LONGEST = const(1000)  # characters of the text of what has left the board
_WHO_LONGEST = const(64)
_TOP = const(2000)  # thousandths: a higher score is no score


def merge_results(records, journal, ranked: list, more, caller, skip, tags, since: int, until: int) -> list:
    """`ranked`, items of the board, behind those of `more` (see recall.More) that pass the same filters.

    What the companion cannot know yet keeps the place that the board gives it.
    """
    own = {item.id: item for item in ranked}
    best = max((item.evidence for item in ranked), default=1)
    seen = set()
    found = []
    for told in more.ranked:
        item = _checked(records, journal, told, caller, skip, tags, own)
        is_wanted = item and item.id not in seen and item.at >= since and (not until or item.at < until)
        if is_wanted:
            seen.add(item.id)
            found.append(Item(item.id, item.at, item.who, item.text, _score(told), item.evidence or best))
    rest = []
    for place, item in enumerate(ranked):
        if item.id not in seen:
            if int(item.id[1:]) > more.have[item.id[0] == "t"]:
                found.insert(min(place, len(found)), item)
            else:
                rest.append(item)
    return _falling(found + rest)


def _checked(records, journal, told, caller, skip, tags, own: dict):
    """The item that an entry of the companion names, None if this caller may not have it."""
    ref = told[0]
    try:
        number = ids.number("id", ref, "m" if ref[:1] == "m" else "t")
        ref = ref[:1] + str(number)
        if ref in own:
            return own[ref]
        if ref[0] == "m":
            if len(told) == 5 and records.archived and is_away(records, records.archived, number, caller, False):
                return _left(ref, told, tags)
            return _record(records, ref, number, caller, tags)
        if number < journal.oldest:
            return _left(ref, told, tags) if len(told) == 5 else None
        return None if tags or number in skip else _turn(journal, ref, number, caller)
    except (ArgumentError, NotFound):
        return None


def _left(ref: str, told, tags):
    """An item that has left the board, or is archived: only of such a one the companion's text is taken."""
    if (tags and ref[0] == "t") or not told[4].strip():
        return None
    who = "" if ref[0] == "m" else text.cut(told[3], _WHO_LONGEST)
    return Item(ref, told[2], who, text.cut(told[4], _LONGEST), 0, 0)


def _record(records, ref: str, number: int, caller, tags):
    record = records.get(ref, caller)
    if records.entries.state(number) != LIVE or records.is_expired(record):
        return None
    has_tags = all(fields.tag(tag) in record.get("tags", ()) for tag in tags)
    return Item(ref, record["created"], "", "", 0, 0) if has_tags else None


def _turn(journal, ref: str, number: int, caller):
    turn = journal.turn(number)
    if turn is None or "text" not in turn or turn.get("command"):
        return None
    told = turn.get("scope", access.ALL)
    if not access.may_see(caller, told):
        access.refuse(caller, told)
        return None
    return Item(ref, turn["at"], turn["who"], "", 0, 0)


def _score(told) -> int:
    return max(0, min(_TOP, told[1])) * ONE // 1000


def _falling(items: list) -> list:
    """Scores of board and companion are on two scales: none is higher than the one before it."""
    highest = items[0].score if items else 0
    falling = []
    for item in items:
        highest = min(highest, item.score)
        falling.append(Item(item.id, item.at, item.who, item.text, highest, item.evidence))
    return falling
