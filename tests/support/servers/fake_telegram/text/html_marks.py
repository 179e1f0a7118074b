"""parse_mode HTML: the tags that the Bot API documents, refused where the service refuses them."""

import re
from dataclasses import dataclass

from ..errors import unparsable
from .entities import Entity, Rich, checked_link, sort_entities, user_of_link, utf16_length

_KINDS = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
    "ins": "underline",
    "s": "strikethrough",
    "strike": "strikethrough",
    "del": "strikethrough",
    "tg-spoiler": "spoiler",
    "span": "spoiler",
    "a": "text_link",
    "code": "code",
    "pre": "pre",
    "blockquote": "blockquote",
    "tg-emoji": "custom_emoji",
}
_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"'}
_REFERENCE = re.compile(r"&(?:#x([0-9a-fA-F]+)|#([0-9]+)|([A-Za-z]+));?")
_LONGEST_REFERENCE = 10
_LAST_CODE = 0x10FFFF
_ATTRIBUTE = re.compile(r"""\s*([^\s=>/"']+)\s*(?:(=)\s*(?:"([^"]*)"|'([^']*)'|([A-Za-z0-9.-]*)(?=[\s>])))?""")


@dataclass(slots=True)
class _Open:
    tag: str
    attributes: dict[str, str]
    offset: int
    start: int


def parse_html(source: str) -> Rich:
    """The text and the entities of a text with HTML tags; ApiError where the service would refuse it."""
    return _HtmlParser(source).parse()


def decode_references(text: str) -> str:
    """A text with its character references replaced; what the service does not know stays."""
    return _REFERENCE.sub(_decoded, text)


def _decoded(match: re.Match[str]) -> str:
    hexadecimal, decimal, name = match.groups()
    if name:
        return _NAMED.get(name, match[0])
    code = int(hexadecimal, 16) if hexadecimal else int(decimal)
    if not 0 < code < _LAST_CODE or len(match[0].rstrip(";")) >= _LONGEST_REFERENCE:
        return match[0]
    return chr(code)


class _HtmlParser:
    """Reads a text once, from its start to its end."""

    def __init__(self, source: str):
        self._source = source
        self._place = 0
        self._text = ""
        self._offset = 0
        self._open: list[_Open] = []
        self._entities: list[Entity] = []

    def parse(self) -> Rich:
        while self._place < len(self._source):
            tag = self._source.find("<", self._place)
            end = len(self._source) if tag < 0 else tag
            self._add(decode_references(self._source[self._place : end]))
            self._place = end
            if self._source.startswith("</", end):
                self._read_end()
            elif end < len(self._source):
                self._read_start()
        if self._open:
            raise unparsable(f'Can\'t find end tag corresponding to start tag "{self._open[-1].tag}"')
        if any("\ud800" <= character <= "\udfff" for character in self._text):
            raise unparsable("Text contains invalid Unicode characters after decoding HTML entities")
        return self._text, sort_entities(self._entities)

    def _add(self, text: str) -> None:
        self._text += text
        self._offset += utf16_length(text)

    def _byte(self, place: int) -> int:
        return len(self._source[:place].encode("utf-8", "surrogatepass"))

    def _read_start(self) -> None:
        begin = self._place
        at = f"at byte offset {self._byte(begin)}"
        match = re.compile(r"[^\s>]*(?=[\s>])").match(self._source, begin + 1)
        if match is None:
            raise unparsable(f"Unclosed start tag {at}")
        tag = match[0].lower()
        if tag not in _KINDS:
            raise unparsable(f'Unsupported start tag "{tag}" {at}')
        self._place = match.end()
        attributes = self._read_attributes(tag, at)
        if tag == "span" and attributes.get("class") != "tg-spoiler":
            raise unparsable(f'Tag "span" must have class "tg-spoiler" {at}')
        self._open.append(_Open(tag, attributes, self._offset, len(self._text)))

    def _read_attributes(self, tag: str, at: str) -> dict[str, str]:
        """The attributes up to the tag's end, which is read too."""
        attributes: dict[str, str] = {}
        while True:
            while self._source[self._place : self._place + 1].isspace():
                self._place += 1
            if self._place >= len(self._source):
                raise unparsable(f'Unclosed start tag "{tag}" {at}')
            if self._source[self._place] == ">":
                self._place += 1
                return attributes
            match = _ATTRIBUTE.match(self._source, self._place)
            if match is None:
                raise unparsable(f'Empty attribute name in the tag "{tag}" {at}')
            self._place = match.end()
            name, equals, double, single, token = match.groups()
            if not equals and self._source[self._place : self._place + 1] == "=":
                raise unparsable(f'Unexpected end of name token in the tag "{tag}" {at}')
            value = next((one for one in (double, single, token and token.lower()) if one is not None), "")
            attributes[name] = decode_references(value)

    def _read_end(self) -> None:
        begin = self._place
        at = f"at byte offset {self._byte(begin)}"
        if not self._open:
            raise unparsable(f"Unexpected end tag {at}")
        match = re.compile(r"([^\s>]*)\s*>").match(self._source, begin + 2)
        if match is None:
            raise unparsable(f"Unclosed end tag {at}")
        name, opened = match[1].lower(), self._open.pop()
        if name and name != opened.tag:
            raise unparsable(f'Unmatched end tag {at}, expected "</{opened.tag}>", found "</{name}>"')
        self._place = match.end()
        if self._offset > opened.offset:
            self._close(opened)

    def _close(self, opened: _Open) -> None:
        entity = Entity(_KINDS[opened.tag], opened.offset, self._offset - opened.offset)
        attributes = opened.attributes
        if opened.tag == "a":
            self._close_link(entity, attributes.get("href") or self._text[opened.start :])
        elif opened.tag == "tg-emoji":
            number = attributes.get("emoji-id", "")
            if not number.isdigit() or int(number) == 0:
                raise unparsable("Invalid custom emoji identifier specified")
            self._entities.append(Entity("custom_emoji", entity.offset, entity.length, custom_emoji_id=number))
        elif opened.tag in ("code", "pre"):
            self._close_code(entity, attributes.get("class", "").removeprefix("language-"))
        elif "expandable" in attributes and opened.tag == "blockquote":
            self._entities.append(Entity("expandable_blockquote", entity.offset, entity.length))
        else:
            self._entities.append(entity)

    def _close_link(self, entity: Entity, url: str) -> None:
        user = user_of_link(url)
        if user:
            self._entities.append(Entity("text_mention", entity.offset, entity.length, user_id=user))
        elif link := checked_link(url):
            self._entities.append(Entity("text_link", entity.offset, entity.length, url=link))

    def _close_code(self, entity: Entity, language: str) -> None:
        """A language counts where `pre` and `code` cover the same text; it is kept with the inner one until then."""
        last = self._entities[-1] if self._entities else None
        is_same = last is not None and (last.offset, last.length) == (entity.offset, entity.length)
        if last is not None and is_same and {last.type, entity.type} == {"code", "pre"}:
            self._entities[-1] = Entity("pre", entity.offset, entity.length, language=last.language or language)
        else:
            kept = language if entity.type == "code" else ""
            self._entities.append(Entity(entity.type, entity.offset, entity.length, language=kept))
