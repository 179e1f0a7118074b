"""What a model may answer when it is asked for the facts in what a person said: a JSON list of operations, read strictly.

    {"op":"add","from":"t12","content":"...","tags":[..],"keywords":[..],"type":"..","importance":0.6}
    {"op":"update","id":"m3","from":"t12","content":"...", ...}      the same fact, told in more detail
    {"op":"supersede","id":"m3","from":"t12","content":"...", ...}   what held no longer holds; content is what holds now
    {"op":"note","from":"t12","content":"..."}                       what matters for some days: a line of the day's note
    {"op":"none"}                                                    nothing; an empty list says the same

Each is taken or refused alone; a refusal says why without a word of what the person said.
"""

from collections import namedtuple

from engram import text
from engram.compat import const
from engram.errors import ArgumentError

MOST_BYTES = const(6000)
"""Of an answer: it is held whole."""

_MOST = const(60)  # operations in one answer
CONTENT_CHARS = 400
"""Of one fact, which is one sentence."""

_KINDS = ("add", "update", "supersede", "note")
_KNOWN = ("op", "id", "from", "content", "tags", "keywords", "type", "importance")

Operation = namedtuple("Operation", ("kind", "id", "turn", "values"))
"""A kind; the id of the record that it changes, or ""; the id of the turn that it came from; the fields of a record."""


def read(answer: bytes) -> list:
    """The elements of an answer; ArgumentError says why it is none."""
    if len(answer) > MOST_BYTES:
        raise ArgumentError("answer", "is longer than %d bytes." % MOST_BYTES)
    try:
        elements = text.loads(_unfenced(answer))
    except ValueError:
        raise ArgumentError("answer", "is not valid JSON.") from None
    if not isinstance(elements, list):
        raise ArgumentError("answer", "is not a JSON list.")
    if len(elements) > _MOST:
        raise ArgumentError("answer", "has more than %d operations." % _MOST)
    return elements


def _unfenced(answer: bytes) -> bytes:
    """An answer without the fence that many models put around code."""
    answer = answer.strip()
    if answer[:3] != b"```" or answer[-3:] != b"```":
        return answer
    _, _, rest = answer[:-3].partition(b"\n")
    return rest


def check(element, turns, known):
    """An element as an Operation, None for "none"; ArgumentError names what is wrong.

    `turns` are the ids of the turns that were shown, `known` those of the records.
    """
    if not isinstance(element, dict):
        raise ArgumentError("operation", "must be an object.")
    kind = element.get("op")
    if kind == "none":
        return None
    if kind not in _KINDS:
        raise ArgumentError("op", "must be one of " + ", ".join(_KINDS) + ", none.")
    for name in element:
        if name not in _KNOWN:
            raise ArgumentError("operation", "has a field that there is not.")
    turn = element.get("from")
    if not isinstance(turn, str) or turn not in turns:
        raise ArgumentError("from", "is none of the messages that were shown.")
    ref = element.get("id", "")
    is_new = kind in ("add", "note")
    if is_new and ref:
        raise ArgumentError("id", "does not go with %s." % kind)
    if not is_new and ref not in known:
        raise ArgumentError("id", "is none of the memories that were shown.")
    content = element.get("content")
    if not isinstance(content, str) or len(content) > CONTENT_CHARS:
        raise ArgumentError("content", "must be a text of at most %d characters." % CONTENT_CHARS)
    values = {name: element[name] for name in _KNOWN[3:] if element.get(name) is not None}
    return Operation(kind, ref, turn, values)


def check_secrets(values: dict, has_secret) -> None:
    """ArgumentError if has_secret(text) holds for one of the texts of a proposed fact."""
    for name in ("content", "keywords", "tags"):
        value = values.get(name, "")
        for part in (value,) if isinstance(value, str) else value:
            if isinstance(part, str) and has_secret(part):
                raise ArgumentError(name, "holds what looks like a secret; people have to ask for it to be kept.")
