"""Texts as the service keeps them: entities in UTF-16 units, HTML parsed strictly, spaces trimmed, mentions found."""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass

_KINDS = {
    "b": "bold", "i": "italic", "s": "strikethrough", "a": "text_link", "code": "code", "pre": "pre",
    "blockquote": "blockquote",
}  # fmt: skip
_TOKEN = re.compile(
    r'</(?P<end>\w+)>|<(?P<tag>\w+)(?: (?:href|class)="(?P<value>[^"<>]*)")?>'
    r"|(?P<words>(?:[^<&]|&(?:lt|gt|amp|quot);)+)|(?P<wrong>[<&])"
)
_SPACES = re.compile("[\\x00-\\x09\\x0b\\x0c\\x0e-\\x20]")
_DROPPED = re.compile("[\\r\u2028-\u202e\u030a\u0333\u033f]")
"""What the service removes: carriage returns, marks of direction, and strokes above or below."""
_FOUND = re.compile(
    r"(?P<bot_command>(?<![\w/<>])/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?(?![\w/<>@]))"
    r"|(?P<mention>(?<!\w)@[A-Za-z0-9_]{2,32}(?!\w))"
)


class ApiError(Exception):
    """The service refuses a call, with the HTTP status and the words that the Bot API answers."""

    def __init__(self, code: int, description: str, **parameters: object):
        super().__init__(description)
        self.code = code
        self.description = description
        self.parameters = parameters

    def as_json(self) -> dict[str, object]:
        """The answer's body."""
        body: dict[str, object] = {"ok": False, "error_code": self.code, "description": self.description}
        return {**body, "parameters": self.parameters} if self.parameters else body


@dataclass(frozen=True, slots=True)
class Entity:
    """A part of a text with a meaning or a mark; `value` is a link's address, or the language of code."""

    type: str
    offset: int
    length: int
    value: str = ""

    @property
    def language(self) -> str:
        return self.value.removeprefix("language-")

    def as_json(self) -> dict[str, object]:
        return {"type": self.type, "offset": self.offset, "length": self.length}


Rich = tuple[str, tuple[Entity, ...]]
"""A text with its entities."""


def utf16_length(text: str) -> int:
    """The number of UTF-16 units of a text."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def utf16_slice(text: str, offset: int, length: int) -> str:
    """The part of a text that an entity covers."""
    units = text.encode("utf-16-le", "surrogatepass")
    return units[offset * 2 : (offset + length) * 2].decode("utf-16-le", "surrogatepass")


def parse_html(source: str) -> Rich:
    """The text and the entities of a text with the tags that Engram writes; ApiError for any other."""
    text, opened = "", list[tuple[str, str, int]]()
    entities: list[Entity] = []
    for token in _TOKEN.finditer(source):
        tag, end = token["tag"], token["end"]
        if token["wrong"] or (tag and tag not in _KINDS):
            raise _unparsable(f'Unsupported start tag or reference "{tag or token[0]}"')
        if tag:
            opened.append((tag, html.unescape(token["value"] or ""), utf16_length(text)))
        elif not end:
            text += html.unescape(token["words"])
        elif not opened or opened[-1][0] != end:
            raise _unparsable(f'Unexpected end tag "{end}"')
        else:
            _, value, offset = opened.pop()
            _add(entities, Entity(_KINDS[end], offset, utf16_length(text) - offset, value))
    if opened:
        raise _unparsable(f'Can\'t find end tag corresponding to start tag "{opened[-1][0]}"')
    return text, tuple(sorted(entities, key=lambda entity: (entity.offset, -entity.length)))


def _add(entities: list[Entity], entity: Entity) -> None:
    """Add an entity that is not empty; code that fills its block is the block's language."""
    inner = entities[-1] if entities else None
    if entity.type == "pre" and inner and (inner.type, inner.offset, inner.length) == ("code", *_span(entity)):
        entities[-1] = Entity("pre", *_span(entity), inner.value)
    elif entity.length:
        entities.append(entity)


def _span(entity: Entity) -> tuple[int, int]:
    return entity.offset, entity.length


def _unparsable(problem: str) -> ApiError:
    return ApiError(400, f"Bad Request: can't parse entities: {problem}")


def _clean(text: str) -> str:
    return _DROPPED.sub("", _SPACES.sub(" ", text))


def finish_text(text: str, entities: Sequence[Entity] = (), *, allow_empty: bool = False) -> Rich:
    """Clean and trim a text as the service does; ApiError if nothing is left, or it has half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ApiError(400, "Bad Request: strings must be encoded in UTF-8") from None
    cleaned = _clean(text)
    kept = cleaned.strip(" \n")
    if not kept and not allow_empty:
        raise ApiError(400, "Bad Request: text must be non-empty")
    before, length = len(cleaned) - len(cleaned.lstrip(" \n")), utf16_length(kept)

    def place(offset: int) -> int:
        return min(max(utf16_length(_clean(utf16_slice(text, 0, offset))) - before, 0), length)

    ends = [(entity, place(entity.offset), place(sum(_span(entity)))) for entity in entities]
    return kept, tuple(Entity(one.type, start, end - start, one.value) for one, start, end in ends if end > start)


def find_entities(text: str) -> tuple[Entity, ...]:
    """The commands and mentions that the service finds in what a person writes."""
    return tuple(
        Entity(str(found.lastgroup), utf16_length(text[: found.start()]), utf16_length(found[0]))
        for found in _FOUND.finditer(text)
    )
