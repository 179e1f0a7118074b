"""What a request asks, the same for both APIs.

Recalled memories and turns travel in the person's last message, as lines that look like this, mostly in a fence:

    - [m12 2026-01-31] Ada likes tea
    - [t7 2026-01-31 Ann] I like tea
    (now: 2026-01-31 12:00)

They are told apart from the person's own words: the fence is the lines from an opening `<` (or an empty
line, or the message's start) to a closing `</` (or an empty line, or the message's end). Lines that tell
of the moment stand in brackets right before the words.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

_RECALLED = re.compile(r"- \[[mt]\w+[^\]]*\] ")
_REMINDERS, _REMINDERS_END = "<standing-reminders>", "</standing-reminders>"
_MOMENT = re.compile(r"\((now|new tags): .*\)")


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
    lines = message.split("\n")
    places = [place for place, line in enumerate(lines) if _RECALLED.match(line)]
    start, end = _fence(lines, places[0], places[-1]) if places else (0, 0)
    words = lines[:start] + lines[end:]
    if words[:1] == [_REMINDERS] and _REMINDERS_END in words:
        words = words[words.index(_REMINDERS_END) + 1 :]
    while words and _MOMENT.fullmatch(words[0]):
        words.pop(0)
    return "\n".join(words).strip(), tuple(lines[place] for place in places)


def _fence(lines: list[str], first: int, last: int) -> tuple[int, int]:
    """Where the block that holds the lines `first` to `last` starts, and where it has ended."""
    start = first
    while start > 0 and lines[start - 1].strip() and not lines[start].startswith("<"):
        start -= 1
    end = last + 1
    while end < len(lines) and lines[end].strip() and not lines[end - 1].startswith("</"):
        end += 1
    return start, end


def text_of(content: object) -> str:
    """The text of a message's content: a string, or a list of parts of which the text ones count."""
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
