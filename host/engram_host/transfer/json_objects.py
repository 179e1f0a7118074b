"""Finds the objects of a JSON list, or of lists within an object, across lines."""

import re
from collections.abc import Iterator

_DEEPEST = 64
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)


def json_objects(data: bytes) -> Iterator[tuple[int, bytes | str]]:
    open_brackets: list[bytes] = []
    start, depth = -1, 0  # of the current object: its start, and the depth of brackets
    is_empty = True
    for token in _TOKEN.finditer(data):
        sign = token[0]
        if sign in (b"[", b"{"):
            if sign == b"{" and open_brackets[-1:] in ([], [b"["]) and (start < 0 or not depth):
                start, depth = token.start(), len(open_brackets)
            if len(open_brackets) == _DEEPEST:
                yield _line(data, token.start()), f"the file has more than {_DEEPEST} brackets within each other."
                return
            open_brackets.append(sign)
        elif sign in (b"]", b"}") and open_brackets:
            open_brackets.pop()
            if start >= 0 and len(open_brackets) == depth:
                yield _line(data, start), data[start : token.end()]
                start, is_empty = -1, False
    if open_brackets:
        yield _line(data, len(data)), "the file has no end."
    elif is_empty:
        yield 1, "the file has no JSON object."


def _line(data: bytes, at: int) -> int:
    return data.count(b"\n", 0, at) + 1
