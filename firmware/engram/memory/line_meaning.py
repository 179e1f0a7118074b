"""Tells the store the meaning of a line of the records or of the journal: functions of the line alone.

The companion knows by them what a board's copies hold. So they do no I/O, need neither a board nor a clock, and their names
and what they give stay (tests/firmware/memory/test_line_meaning.py). The schemas tell what the fields of the lines are.
"""

from engram import tables, text
from engram.clock import MONTHS, civil
from engram.memory import ALL, attributes, ids
from engram.store.types import ARCHIVED, FORGOTTEN, SUPERSEDED, Entry, no_entry

_DAY_SECONDS = const(86400)
_ASKS_REPLIES = next(tables.rows("text/words/replies"))
CORRECTED = "(corrected) "
"""Prefix of words that replace an earlier message."""

_FORWARDED = const("forwarded from ")
_QUOTED = const("(in reply to: ")
# Required fields of a line: names of texts, and of numbers. Names alone make constants, which take no heap.
_NEEDED = {
    "": (("sid", "who"), ("at",)),
    "session": (("sid",), ("at",)),
    "current": (("sid", "room"), ()),
    "drop": (("sid",), ()),
    "redact": ((), ("turn",)),
    "show": ((), ("turn",)),
    "past": (("by",), ("turn", "at")),
}


# --- records


def describe_record(line: dict) -> Entry:
    if "id" not in line:
        return no_entry(line.get("at", 0))
    number = ids.number("id", line["id"], "m")
    if "op" in line:
        state = ARCHIVED if line["op"] == "archive" else FORGOTTEN
        shows = (_number(line["restores"]),) if "restores" in line else ()
        gone = [(number, state)] + [(_number(ref), FORGOTTEN) for ref in line.get("with", ())]
        return no_entry(line.get("at", 0), gone, shows)
    if not all(isinstance(phrase, str) for phrase in phrases_of(line) + [line["content"], line.get("scope", "")]):
        raise ValueError("a line of another form")
    older = line.get("with", ()) or ((line["supersedes"],) if "supersedes" in line else ())
    hides = [(_number(ref), SUPERSEDED) for ref in older]
    if line.get("past"):
        hides.append((number, SUPERSEDED))
    return Entry(number, _record_terms(line), _record_labels(line), 0, happened_at(line), hides, (), 0, False)


def _number(ref: str) -> int:
    return ids.number("id", ref, "m")


def _record_terms(line: dict):
    yield from attributes.terms(line["content"])
    yield from text.index_terms(line["content"])
    for phrase in phrases_of(line):
        yield from text.index_terms(phrase)


def phrases_of(line: dict) -> list:
    """Return the texts beside its content that find a record."""
    found = [phrase for name in ("keywords", "tags", "people") for phrase in line.get(name, ())]
    return found + [line["where"]] if "where" in line else found


def happened_at(line: dict) -> int:
    """Return the moment of a record: when an event was, or when a memory was kept."""
    return line.get("when") or line.get("created", 0)


def people_labels(names) -> set:
    """Return the labels of people by each word of their names."""
    return {"&" + term for name in names for term in text.terms(name)}


def _record_labels(line: dict):
    for tag in line.get("tags", ()):
        yield "#" + tag
    yield "@" + line.get("scope", ALL)
    yield "!" + line.get("type", "fact")
    yield from sorted(people_labels(line.get("people", ())))
    if "origin" in line:
        yield "^" + line["origin"]


# --- turns


def describe_turn(line: dict, zone_minutes: int) -> Entry:
    """Return the entry of a journal line, dated in a zone; as describe_record() raises."""
    if not is_known_turn(line):
        raise ValueError("a line of another form")
    if "op" in line:
        return _operation(line)
    seq = line["seq"]
    gone = ((seq, FORGOTTEN),) if "gone" in line else ()
    found = () if gone or "command" in line else _turn_terms(line, zone_minutes)
    session, is_reply = ids.number("session", line["sid"], "s"), line.get("role") == "assistant"
    return Entry(seq, found, _turn_labels(line), session, line["at"], gone, (), 0, is_reply)


def is_known_turn(line: dict) -> bool:
    """True if this version can read a line, whose crc alone does not tell its form."""
    operation = line.get("op", "")
    if not isinstance(operation, str) or operation not in _NEEDED:
        return isinstance(operation, str)
    if not operation and "gone" not in line and not isinstance(line.get("text"), str):
        return False
    if not all(isinstance(line.get(name, 0), int) for name in ("n", "at")):
        return False
    for name in ("scope", "title", "caption", "workspace", "forwarded", "quoted"):
        if not isinstance(line.get(name, ""), str):
            return False
    texts, numbers = _NEEDED[operation]
    if not all(isinstance(line.get(name), str) for name in texts):
        return False
    return all(isinstance(line.get(name), int) for name in numbers)


def _operation(line: dict) -> Entry:
    operation, at = line["op"], line.get("at", 0)
    if operation == "drop":
        return no_entry(at, ends=ids.number("session", line["sid"], "s"))
    if operation == "redact":
        return no_entry(at, hides=((line["turn"], FORGOTTEN),))
    if operation == "past":
        return no_entry(at, hides=((line["turn"], SUPERSEDED),))
    if operation == "show":
        return no_entry(at, shows=(line["turn"],))
    return no_entry(at)


def _turn_terms(line: dict, zone_minutes: int):
    year, month, day = civil((line["at"] + zone_minutes * 60) // _DAY_SECONDS)
    yield str(day)
    yield from text.terms(MONTHS[month - 1])
    yield str(year)
    yield from attributes.terms(line["text"])
    yield from text.terms(line["who"])
    yield from text.terms(line["text"])
    for name in ("caption", "forwarded"):
        if name in line:
            yield from text.terms(line[name])


def _turn_labels(line: dict):
    yield "~" + line["sid"]
    yield "%" + line["who"]
    yield "@" + line.get("scope", ALL)


def query_terms(query: str, weights=None):
    """Yield what a query asks an index for, and the other terms that have a weight."""
    yield from attributes.terms(query)
    yield from text.terms(query)
    yield from weights or ()


def attributed_text(line: dict) -> str:
    """Return a turn's text with its author and quote, or ""."""
    said = with_origin(line.get("text", ""), line.get("forwarded", ""), line.get("quoted", ""))
    return CORRECTED + said if said and "corrects" in line else said


def with_origin(said: str, forwarded: str, quoted: str) -> str:
    """Return a text with the author of forwarded words and the quoted beginning."""
    if quoted:
        said = "%s%s)\n%s" % (_QUOTED, quoted, said)
    return "%s%s: %s" % (_FORWARDED, forwarded, said) if forwarded else said


def asks_replies(query: str) -> bool:
    """True if a query asks for the assistant's words: "what did you recommend?"."""
    words = " %s %s" % (" ".join(text.words(query)), query)
    return any(phrase in words for phrase in _ASKS_REPLIES.split("|"))


def named_speaker(query: str, names, is_known) -> str:
    """Return the label of the only speaker that a query names, or ""; is_known(label) filters."""
    words = set(text.words(query))
    found = ""
    for label in names:
        if label != found and not set(text.words(label)).isdisjoint(words) and is_known(label):
            if found:
                return ""
            found = label
    return found
