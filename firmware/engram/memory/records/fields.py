"""The fields of a record: names, checks, and stored forms."""

from engram.errors import ArgumentError
from engram.memory import access, ids
from engram.memory.access import tag

TYPES = ("fact", "decision", "preference", "convention", "code_context", "pattern", "event", "device")
SOURCES = ("manual", "auto_llm", "auto_rule", "distilled", "import", "sense", "tool")
IMPORTANCE = 0.5
NEVER = const(1 << 40)
"""Expiry of a memory without one, later than any valid moment."""
_END = const(5_662_310_400)  # 2149-06-06: an event on a later day is a mistake
CLEARABLE = ("keywords", "expires", "turns")

_ORDER = const((
    "content", "tags", "keywords", "type", "importance", "source", "scope", "created", "updated",
    "pinned", "expires", "when", "until", "people", "where", "supersedes", "turns", "notes", "confidence", "evidence",
    "origin", "past",
))  # fmt: skip
DEFAULTS = {
    "type": "fact",
    "importance": IMPORTANCE,
    "source": "manual",
    "scope": access.ALL,
    "pinned": False,
    "confidence": 1,
    "past": False,
}

MOST_TAGS = const(3)
TAG_LONGEST = const(32)  # characters, as tags are in each prompt
MOST_KEYWORDS = const(8)
KEYWORD_LONGEST = const(40)
MOST_PEOPLE = const(4)
_NAME_LONGEST = const(40)  # of one of them
_WHERE_LONGEST = const(80)
MOST_NOTES = const(8)
_NOTE_LONGEST = const(40)  # characters of a note's name
MOST_EVIDENCE = const(10)
_EVIDENCE_LONGEST = const(24)  # characters of an id, or of a note's line such as 2026-01-31.md#12
LEAST_CONFIDENCE = 0.5
"""Confidence below which a pattern leaves."""


def check(name: str, value, limit: int):
    """Return a field's stored form; ArgumentError. `limit` is in characters of content."""
    if name not in _CHECKS:
        raise ArgumentError(name, "there is no such field; a memory has " + ", ".join(sorted(_CHECKS)) + ".")
    check = _CHECKS[name]
    if isinstance(check, tuple):
        if value not in check:
            raise ArgumentError(name, "must be one of " + ", ".join(check) + ".")
        return value
    return check(name, value, limit)


def pairs(record: dict):
    """Yield a record's (name, value) pairs in display and export order."""
    for name in ("id",) + _ORDER + ("guess",):
        if name in record:
            yield name, record[name]


def stored(values: dict):
    """Yield the (name, value) pairs that a line keeps, without defaults."""
    for name in _ORDER:
        value = values.get(name)
        if value is not None and value != DEFAULTS.get(name) and value != []:
            yield name, value


def is_tentative(record: dict) -> bool:
    """True for a pattern that nobody has confirmed."""
    return record.get("confidence", 1) < 1


PERHAPS = "perhaps: "


def stated(record: dict) -> str:
    """Return a record's content, marked if it is tentative."""
    return PERHAPS + record["content"] if is_tentative(record) else record["content"]


def _check_content(name: str, value, limit: int):
    if not isinstance(value, str) or not value.strip():
        raise ArgumentError(name, "must be a text that is not empty.")
    if len(value) > limit:
        raise ArgumentError(name, "has %d characters, at most %d are kept: make it shorter." % (len(value), limit))
    if "\0" in value:
        raise ArgumentError(name, "must not contain a NUL character.")
    return value.strip()


def _check_words(name: str, value, most: int, longest: int, form) -> list:
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, (list, tuple)):
        raise ArgumentError(name, "must be a list of texts.")
    found = []
    for word in value:
        if not isinstance(word, str) or len(word) > longest or "\0" in word:
            raise ArgumentError(name, "each must be a text of 1 to %d characters." % longest)
        word = form(word)
        if word and word not in found:
            found.append(word)
    if len(found) > most:
        raise ArgumentError(name, "at most %d are taken, these are %d." % (most, len(found)))
    return found


def _check_tags(name: str, value, limit: int):
    found = _check_words(name, value, MOST_TAGS, TAG_LONGEST, tag)
    if not found:
        raise ArgumentError(name, "1 to %d tags are needed." % MOST_TAGS)
    return found


def _check_each(most: int, longest: int):
    """Return the check of a list of at most `most` texts."""
    return lambda name, value, limit: _check_words(name, value or (), most, longest, lambda word: word.strip())


def _check_share(name: str, value, limit: int):
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise ArgumentError(name, "must be a number from 0 to 1.")
    return round(value, 2)


def check_flag(name: str, value, limit: int = 0) -> bool:
    """Return a bool; ArgumentError."""
    if not isinstance(value, bool):
        raise ArgumentError(name, "must be true or false.")
    return value


def _check_moment(name: str, value, limit: int):
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        raise ArgumentError(name, "must be a time in Unix seconds.")
    if name in ("when", "until") and value and value >= _END:
        raise ArgumentError(name, "must be before 2149-06-06.")
    return value or None


def check_span(values: dict) -> None:
    """Raise ArgumentError if an event ends before it begins."""
    if values.get("until", NEVER) < values.get("when", 0):
        raise ArgumentError("until", "must not be before when.")


def _check_ref(name: str, value, limit: int):
    return None if value is None else "m%d" % ids.number(name, value, "m")


def _check_turns(name: str, value, limit: int):
    if not isinstance(value, (list, tuple)):
        raise ArgumentError(name, "must be a list of turn ids.")
    return ["t%d" % ids.number(name, turn, "t") for turn in value] or None


def _check_notes(name: str, value, limit: int):
    if not isinstance(value, (list, tuple)) or len(value) > MOST_NOTES:
        raise ArgumentError(name, "must be a list of at most %d names of notes." % MOST_NOTES)
    for note in value:
        if not isinstance(note, str) or len(note) > _NOTE_LONGEST or note[-3:] != ".md":
            raise ArgumentError(name, "must be names such as 2026-01-31.md.")
    return list(value) or None


def _check_scope(name: str, value, limit: int):
    if isinstance(value, str):
        kind, _, rest = value.partition(":")
        if value == access.ALL or (rest and kind == "user") or (rest and kind == "ws" and tag(value) == value):
            return value
    raise ArgumentError(name, "must be all, user:NAME or ws:ID, as in the tag.")


_CHECKS = {
    "content": _check_content,
    "tags": _check_tags,
    "keywords": _check_each(MOST_KEYWORDS, KEYWORD_LONGEST),
    "type": TYPES,
    "source": SOURCES,
    "importance": _check_share,
    "confidence": _check_share,
    "evidence": _check_each(MOST_EVIDENCE, _EVIDENCE_LONGEST),
    "pinned": check_flag,
    "expires": _check_moment,
    "when": _check_moment,
    "until": _check_moment,
    "people": _check_each(MOST_PEOPLE, _NAME_LONGEST),
    "where": lambda name, value, _limit: _check_content(name, value, _WHERE_LONGEST) if value else None,
    "supersedes": _check_ref,
    "turns": _check_turns,
    "notes": _check_notes,
    "scope": _check_scope,
}
