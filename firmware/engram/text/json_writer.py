"""JSON in one form, the same on every runtime.

No spaces; text as it is but for a quote, a backslash and control characters (\\n, \\r, \\t, the others \\u00XX);
floats with six digits where that is exact; keys in the order of the dict. That is the order of insertion on
CPython; MicroPython's dict has none: pass an OrderedDict, or pairs to dumps_fields.

MicroPython's json.dumps writes objects, sets and NaN as invalid JSON: here they are refused.
"""

import json

from engram.errors import ArgumentError
from engram.text.utf8 import is_valid

# How deep lists and objects may be nested, here and in engram.text.json_reader. It bounds the recursion on the chip's
# stack, and what a peer's text can make the reader hold.
MAX_DEPTH = 16

if hasattr("", "translate"):
    _ESCAPES = {code: "\\u%04x" % code for code in range(0x20)}
    _ESCAPES.update({0x22: '\\"', 0x5C: "\\\\", 0x0A: "\\n", 0x0D: "\\r", 0x09: "\\t"})

    def _quoted(text: str) -> str:
        return '"' + text.translate(_ESCAPES) + '"'

else:

    def _quoted(text: str) -> str:
        return json.dumps(text)  # MicroPython's own form is the same, and made in C


def dumps(value) -> str:
    """JSON of None, bool, int, float, str, and lists, tuples and dicts of these; ArgumentError for all else."""
    parts = []
    _write(parts, value, 0)
    return _joined(parts)


def dumps_fields(pairs) -> str:
    """A JSON object of (key, value) pairs in their order."""
    return dumps_open(pairs) + "}"


def dumps_open(pairs) -> str:
    """As dumps_fields, but without the closing brace, so that a line's check can follow."""
    parts = []
    _write_fields(parts, pairs, 1)
    return _joined(parts)


def _joined(parts: list) -> str:
    text = "".join(parts)
    if not is_valid(text):
        raise ArgumentError("value", "has text that is not Unicode; pass it through text.decode first")
    return text


def _write(parts: list, value, depth: int) -> None:
    if isinstance(value, str):
        parts.append(_quoted(value))
    elif value is None:
        parts.append("null")
    elif isinstance(value, bool):
        parts.append("true" if value else "false")
    elif isinstance(value, int):
        parts.append("%d" % value)
    elif isinstance(value, float):
        parts.append(_float(value))
    elif depth >= MAX_DEPTH:
        raise ArgumentError("value", "is nested deeper than " + str(MAX_DEPTH) + " levels; make it flatter")
    else:
        _write_container(parts, value, depth + 1)


def _write_container(parts: list, value, depth: int) -> None:
    if isinstance(value, dict):
        _write_fields(parts, value.items(), depth)
        parts.append("}")
    elif isinstance(value, (list, tuple)):
        mark = "["
        for item in value:
            parts.append(mark)
            _write(parts, item, depth)
            mark = ","
        parts.append("]" if value else "[]")
    else:
        kind = type(value).__name__
        raise ArgumentError("value", "holds a " + kind + "; JSON has text, numbers, lists and dicts")


def _write_fields(parts: list, pairs, depth: int) -> None:
    mark = "{"
    for key, value in pairs:
        if not isinstance(key, str):
            raise ArgumentError("value", "has the key " + repr(key) + "; a key is text")
        parts.append(mark)
        parts.append(_quoted(key))
        parts.append(":")
        _write(parts, value, depth)
        mark = ","
    if mark == "{":
        parts.append(mark)


def _float(value: float) -> str:
    if value - value != 0:
        raise ArgumentError("value", "holds NaN or infinity, which JSON does not have; use null")
    text = "%.6g" % value
    if float(text) != value:
        text = repr(value)
    return text if "." in text or "e" in text else text + ".0"
