"""Texts as the service keeps them: entities counted in UTF-16 units, cleaned and trimmed, with mentions and commands found.

An offset counts UTF-16 code units, so a character beyond the basic plane counts two.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from ..errors import ApiError

MARKS = ("bold", "italic", "underline", "strikethrough", "spoiler")
"""Entities that may contain each other, and be in any other but code."""
BLOCKS = ("blockquote", "expandable_blockquote")
CODE = ("code", "pre")
FOUND = ("mention", "hashtag", "cashtag", "bot_command", "url", "email", "phone_number")
"""Entities that the service finds by itself."""
LINKS = ("text_link", "text_mention", "custom_emoji")
TYPES = (*MARKS, *BLOCKS, *CODE, *FOUND, *LINKS)

_ORDER = (*BLOCKS, *LINKS, *FOUND, *MARKS, *CODE)
_SPACES = re.compile("[\\x00-\\x09\\x0b\\x0c\\x0e-\\x20]")
_DROPPED = re.compile("[\\r\u2028-\u202e\u030a\u0333\u033f]")
"""What the service removes: carriage returns, marks of direction, and strokes above or below."""
_FINDERS = (
    ("bot_command", re.compile(r"(?<![\w/<>])/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?(?![\w/<>@])")),
    ("mention", re.compile(r"(?<![\w])@[A-Za-z0-9_]{2,32}(?!\w)")),
    ("url", re.compile(r"(?<![\w@])https?://[^\s<>\"]*[^\s<>\".,:;!?')\]]")),
    ("email", re.compile(r"(?<![\w.+-])[A-Za-z0-9_.+-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}(?!\w)")),
    ("hashtag", re.compile(r"(?<![\w#&])#(?=\w*[^\W\d])\w{1,256}(?![\w#])")),
)
_SCHEMES = ("http", "https", "tg", "ton", "mailto", "tel")


@dataclass(frozen=True, slots=True)
class Entity:
    """A part of a text with a meaning or a mark."""

    type: str
    offset: int
    length: int
    url: str = ""
    language: str = ""
    user_id: int = 0
    custom_emoji_id: str = ""

    @property
    def end(self) -> int:
        """The first UTF-16 unit behind it."""
        return self.offset + self.length


Rich = tuple[str, tuple[Entity, ...]]
"""A text with its entities."""


def utf16_length(text: str) -> int:
    """The number of UTF-16 units of a text."""
    return len(text) + sum(character > "\uffff" for character in text)


def utf16_slice(text: str, offset: int, length: int) -> str:
    """The part of a text that an entity covers."""
    units = text.encode("utf-16-le", "surrogatepass")
    return units[offset * 2 : (offset + length) * 2].decode("utf-16-le", "replace")


def check_unicode(text: str) -> None:
    """Refuse a text with half of a surrogate pair in it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ApiError(400, "Bad Request: strings must be encoded in UTF-8") from None


def sort_entities(entities: Iterable[Entity]) -> tuple[Entity, ...]:
    """Entities in the service's order: outer ones first."""
    return tuple(sorted(entities, key=lambda entity: (entity.offset, -entity.length, _ORDER.index(entity.type))))


def check_entities(text: str, entities: Sequence[Entity]) -> None:
    """Refuse entities that do not lie in the text, cut a character, or cross each other."""
    starts = {0}
    place = 0
    for character in text:
        place += 1 + (character > "\uffff")
        starts.add(place)
    for entity in entities:
        at = f"Entity beginning at UTF-16 offset {entity.offset}"
        if entity.offset < 0 or entity.length <= 0:
            raise ApiError(400, f"Bad Request: {at} has the length {entity.length}")
        if entity.end > place:
            raise ApiError(400, f"Bad Request: {at} ends after the end of the text at UTF-16 offset {entity.end}")
        if entity.offset not in starts or entity.end not in starts:
            raise ApiError(400, f"Bad Request: {at} begins or ends in a middle of a UTF-16 symbol")
    for one in entities:
        for other in entities:
            if one.offset < other.offset < one.end < other.end:
                raise ApiError(400, "Bad Request: strict fake: two entities cross each other")


def finish_text(text: str, entities: Sequence[Entity], *, allow_empty: bool = False) -> Rich:
    """Clean and trim a text as the service does, and find what it finds; ApiError if nothing is left."""
    check_unicode(text)
    check_entities(text, entities)
    text, kept = _without_dropped(_SPACES.sub(" ", text), entities)
    text, kept = _trimmed(text, kept)
    if not text:
        if allow_empty:
            return "", ()
        raise ApiError(400, "Bad Request: text must be non-empty")
    return text, sort_entities([*kept, *_not_in_code(find_entities(text), kept)])


def _without_dropped(text: str, entities: Sequence[Entity]) -> tuple[str, list[Entity]]:
    gone: list[int] = []
    place = 0
    for character in text:
        if _DROPPED.match(character):
            gone.append(place)
        place += 1 + (character > "\uffff")
    moved = [_shifted(entity, gone) for entity in entities]
    return _DROPPED.sub("", text), [entity for entity in moved if entity.length > 0]


def _shifted(entity: Entity, gone: Sequence[int]) -> Entity:
    before = sum(place < entity.offset for place in gone)
    inside = sum(entity.offset <= place < entity.end for place in gone)
    return replace(entity, offset=entity.offset - before, length=entity.length - inside)


def _trimmed(text: str, entities: Sequence[Entity]) -> tuple[str, list[Entity]]:
    text = text.rstrip(" \n")
    end = utf16_length(text)
    kept = [replace(entity, length=min(entity.end, end) - entity.offset) for entity in entities if entity.offset < end]
    first = min((entity.offset for entity in kept), default=end)
    start = 0
    while start < min(first, len(text)) and text[start] in " \n":
        start += 1
    return text[start:], [replace(entity, offset=entity.offset - start) for entity in kept]


def find_entities(text: str) -> tuple[Entity, ...]:
    """The commands, mentions, links, addresses and hashtags of a text; of two that overlap, the first kind."""
    found: list[Entity] = []
    for kind, pattern in _FINDERS:
        for match in pattern.finditer(text):
            entity = Entity(kind, utf16_length(text[: match.start()]), utf16_length(match[0]))
            if all(entity.end <= other.offset or other.end <= entity.offset for other in found):
                found.append(entity)
    return sort_entities(found)


def _not_in_code(found: Iterable[Entity], given: Sequence[Entity]) -> list[Entity]:
    """Those that no code, link or mention touches and that no mark cuts."""
    whole = [entity for entity in given if entity.type in (*CODE, *LINKS, *FOUND)]
    kept = [entity for entity in found if all(entity.end <= o.offset or o.end <= entity.offset for o in whole)]
    return [entity for entity in kept if not any(_cross(entity, other) for other in given)]


def _cross(one: Entity, other: Entity) -> bool:
    return one.offset < other.offset < one.end < other.end or other.offset < one.offset < other.end < one.end


def checked_link(url: str) -> str:
    """A link as the service keeps it, "" if it is none."""
    url = url.strip()
    if not url or any(character.isspace() for character in url):
        return ""
    if "://" not in url and not url.startswith(("mailto:", "tel:")):
        if "." not in url.partition("/")[0]:
            return ""
        url = f"http://{url}"
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    if parts.scheme.lower() not in _SCHEMES:
        return ""
    if parts.scheme.lower() in ("http", "https"):
        if "." not in parts.netloc and parts.hostname != "localhost":
            return ""
        return url if parts.path or parts.query or parts.fragment else f"{url}/"
    return url


def user_of_link(url: str) -> int:
    """The user that a tg:// link names, 0 if none."""
    match = re.fullmatch(r"tg://user\?id=(\d{1,15})", url.strip())
    return int(match[1]) if match else 0
