"""What a rule answers, before an API gives it its form."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

_FRAGMENT = re.compile(r"\s*\S{1,12}|\s+$")
_ARGUMENTS_FRAGMENT = 8
"""Characters of a call's arguments in one event: few, so that each call comes in several."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the text that is one event of a stream, sent `delay` seconds after what stands before it."""

    text: str
    delay: float = 0.0


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool; `arguments` is JSON text, or what the script wants the client to take for it."""

    id: str
    name: str
    arguments: str

    def fragments(self) -> Iterator[str]:
        """The arguments in the parts that a stream brings."""
        for start in range(0, len(self.arguments), _ARGUMENTS_FRAGMENT):
            yield self.arguments[start : start + _ARGUMENTS_FRAGMENT]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens: all of the input, those of them that came from a cache, and the output."""

    input: int
    cached: int
    output: int


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """Text, then calls.

    `stop` is "end", "tools", "length" or "filter"; with `ascii`, other characters are escaped on the wire.
    """

    pieces: tuple[Piece, ...]
    calls: tuple[ToolCall, ...]
    stop: str
    usage: Usage
    ascii: bool = False

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(piece.text for piece in self.pieces)

    @property
    def delay(self) -> float:
        """Seconds that all pieces wait together."""
        return sum(piece.delay for piece in self.pieces)

    def first(self, count: int) -> "ModelAnswer":
        """This answer's first `count` characters: of its text, then of its calls' arguments."""
        pieces: list[Piece] = []
        calls: list[ToolCall] = []
        for piece in self.pieces:
            if count > 0:
                pieces.append(replace(piece, text=piece.text[:count]))
            count -= len(piece.text)
        for call in self.calls:
            if count > 0:
                calls.append(replace(call, arguments=call.arguments[:count]))
            count -= len(call.arguments)
        return replace(self, pieces=tuple(pieces), calls=tuple(calls))


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One event of a stream; those that only a whole answer has at its end are `closing`."""

    data: bytes
    delay: float = 0.0
    closing: bool = False


def json_bytes(value: object, *, ascii_only: bool = False) -> bytes:
    """`value` as JSON; half a surrogate pair, which UTF-8 cannot hold, is always escaped."""
    text = json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


def fragments(text: str) -> tuple[Piece, ...]:
    """`text` in pieces of about a word, as a model sends it."""
    return tuple(Piece(found) for found in _FRAGMENT.findall(text))
