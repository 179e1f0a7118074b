"""Finds records that say the same as a text, or nearly."""

from engram import text
from engram.store.types import Query
from engram.text.utf8 import encode

SAME = const("same")
SIMILAR = const("similar")
DIFFERENT = const("different")

_OVERLAP = const(60)  # per cent of the terms in common from which texts are similar
_COMPARED = const(1024)  # characters that are looked at for that: bounds the heap
_NEAREST = const(5)  # records nearest by their words that a text is compared with
_FORMS = (("’", "'"), ("。", "."), ("\u3000", " "))


def compare(one: str, other: str) -> str:
    """Return SAME, SIMILAR or DIFFERENT; SAME ignores only articles and the first letter's case."""
    if _plain(one) == _plain(other):
        return SAME
    terms, others = set(text.terms(one[:_COMPARED])), set(text.terms(other[:_COMPARED]))
    return SIMILAR if len(terms & others) * 100 > _OVERLAP * max(len(terms), len(others)) else DIFFERENT


def _plain(content: str) -> bytes:
    data = encode(content)
    for form, plain in _FORMS:
        data = data.replace(encode(form), encode(plain))
    for code in range(0x21, 0x7F) if b"\xef" in data else ():  # full-width signs
        data = data.replace(bytes((0xEF, 0xBC + (code > 0x5F), 0x80 | code - 0x20 & 0x3F)), bytes((code,)))
    words = [word for word in data.rstrip(b" .!").split() if word not in (b"the", b"The")]
    data = b" ".join(words)
    return data[:1].lower() + data[1:]


def related(records, values: dict) -> tuple:
    """Return (id of the record that says the same as a new one, or "", ids of similar ones) within its scope."""
    similar = []
    for record in near(records, values["content"], values["scope"]):
        if not records.is_expired(record):
            if says_the_same(record, values):
                return record["id"], similar
            if compare(record["content"], values["content"]) != DIFFERENT:
                similar.append(record["id"])
    return "", similar


def says_the_same(one: dict, other: dict) -> bool:
    """True if two records say the same, and are not events of different times."""
    is_one_time = "when" not in one or one["when"] == other.get("when", one["when"])
    return is_one_time and compare(one["content"], other["content"]) == SAME


def near(records, content: str, of_scope: str):
    query = Query(text.terms(content), (), ("@" + of_scope,), 0, 0, "", None, True)
    for hit in records.entries.search(query, _NEAREST):
        yield hit.line
