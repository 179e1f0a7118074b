"""What a rule answers and what a request asks, the same for both APIs.

Recalled memories and turns travel in the person's last message, as lines that look like this, mostly in a fence. The
firmware's fence is <recalled-memories>; its lines lack the ids where recall.citations is off. Before it stands a block
<senses> where the board has sensors, which is left out:

    - [m12 2026-01-31] Ada likes tea
    - [t7 2026-01-31 Ann] I like tea
    (now: 2026-01-31 12:00)

They are separated from the person's own words, and so are lines in brackets right before these, such as the time.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

_FRAGMENT = re.compile(r"\s*\S{1,12}|\s+$")
_ARGUMENTS_FRAGMENT = 8
"""Characters of a call's arguments in one event: few, so that each call comes in several."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the text that is one event of a stream, sent `delay` seconds after what stands before it."""

    text: str = ""
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
class TokenUsage:
    """Tokens: all of the input, those of them that came from a cache, and the output."""

    input: int
    cached: int
    output: int


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """Text, then calls; `stop` is "end" or "tools"."""

    pieces: tuple[Piece, ...]
    calls: tuple[ToolCall, ...]
    stop: str
    usage: TokenUsage

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


def json_bytes(value: object) -> bytes:
    """`value` as JSON; half a surrogate pair, which UTF-8 cannot hold, is always escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


def fragments(text: str) -> tuple[Piece, ...]:
    """`text` in pieces of about a word, as a model sends it."""
    return tuple(Piece(found) for found in _FRAGMENT.findall(text))


# --- requests


_MEMORIES, _MEMORIES_END = "<recalled-memories>", "</recalled-memories>"
_REMINDERS, _REMINDERS_END = "<standing-reminders>", "</standing-reminders>"
_SENSES, _SENSES_END = "<senses>", "</senses>"
_MOMENT = re.compile(r"\((now|new tags|session before): .*\)")


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool call, as text."""

    tool: str
    text: str

    def field(self, name: str) -> object:
        """The field `name` of a result that is a JSON object; None when there is none."""
        try:
            value: object = json.loads(self.text)
        except ValueError:
            return None
        return value.get(name) if isinstance(value, dict) else None


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A request to a model. `results` are those of this round: after the person's last message."""

    api: str
    model: str
    stream: bool
    wants_usage: bool
    system: str
    last: str
    recalled: tuple[str, ...]
    results: tuple[ToolResult, ...]
    tools: tuple[str, ...]


class RequestRejected(Exception):
    """The service refuses the request, with an HTTP status; the text says why."""

    def __init__(self, status: int, message: str):
        super().__init__(message)
        self.status = status


def split_recalled(message: str) -> tuple[str, tuple[str, ...]]:
    """The person's own words in `message`, and the lines that were recalled with them."""
    lines = _without_block(message.split("\n"), _SENSES, _SENSES_END)
    # A stored text cannot close the block.
    words = _without_block(lines, _MEMORIES, _MEMORIES_END)
    recalled = tuple(line for line in lines[: len(lines) - len(words)] if line.startswith("- ["))
    words = _without_block(words, _REMINDERS, _REMINDERS_END)
    while words and _MOMENT.fullmatch(words[0]):
        words.pop(0)
    return "\n".join(words).strip(), recalled


def _without_block(lines: list[str], opening: str, end: str) -> list[str]:
    """The lines behind a block that they begin with, all of them if they begin otherwise."""
    return lines[lines.index(end) + 1 :] if lines[:1] == [opening] and end in lines else lines


def text_of(content: object) -> str:
    """The text of a message's content: a string, or the text parts of a list."""
    if isinstance(content, str):
        return content
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    return "\n\n".join(str(part.get("text", "")) for part in parts if part.get("type") == "text")


def objects(value: object, name: str) -> list[dict[str, object]]:
    """`value` as a list of JSON objects, or a refusal that names the field."""
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise RequestRejected(400, f"{name}: this has to be a list of objects")
    return value


def text_field(body: Mapping[str, object], name: str, where: str = "") -> str:
    """A field of `body` that has to be a text which is not empty."""
    value = body.get(name)
    if not isinstance(value, str) or not value:
        raise RequestRejected(400, f"{where}{name}: a text is required here")
    return value
