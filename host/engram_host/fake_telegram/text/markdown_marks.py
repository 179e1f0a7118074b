"""parse_mode MarkdownV2: the marks that the Bot API documents, refused where the service refuses them."""

from dataclasses import dataclass

from ..errors import ApiError, unparsable
from .entities import Entity, Rich, checked_link, sort_entities, user_of_link, utf16_length

RESERVED = "_*[]()~`>#+-=|{}.!"
"""Outside of code each of these has to be a mark, or escaped with a backslash."""
_SINGLE = {"*": "bold", "~": "strikethrough", "[": "text_link"}
_ENDS = {
    "bold": "*",
    "italic": "_",
    "underline": "__",
    "strikethrough": "~",
    "spoiler": "||",
    "code": "`",
    "pre": "```",
    "text_link": "]",
    "custom_emoji": "]",
}
_NAMES = {
    "bold": "Bold",
    "italic": "Italic",
    "underline": "Underline",
    "strikethrough": "Strikethrough",
    "spoiler": "Spoiler",
    "code": "Code",
    "pre": "Pre",
    "text_link": "TextUrl",
    "custom_emoji": "CustomEmoji",
    "blockquote": "BlockQuote",
}
_LAST_ESCAPABLE = "\x7e"


@dataclass(slots=True)
class _Open:
    kind: str
    offset: int
    place: int
    start: int
    language: str = ""


def parse_markdown(source: str) -> Rich:
    """The text and the entities of a text in MarkdownV2; ApiError where the service would refuse it."""
    return _MarkdownParser(source).parse()


class _MarkdownParser:
    """Reads a text once, from its start to its end."""

    def __init__(self, source: str):
        self._source = source
        self._place = 0
        self._text: list[str] = []
        self._offset = 0
        self._open: list[_Open] = []
        self._entities: list[Entity] = []
        self._has_quote = False
        self._at_line_start = True

    def parse(self) -> Rich:
        while self._place < len(self._source):
            self._step(self._source[self._place])
        if self._has_quote:
            self._end_quote_at_end()
        if self._open:
            raise self._unfinished(self._open[-1])
        return "".join(self._text), sort_entities(self._entities)

    def _step(self, character: str) -> None:
        in_code = bool(self._open) and self._open[-1].kind in ("code", "pre")
        following = self._source[self._place + 1 : self._place + 2]
        if character == "\\" and following and "\0" < following <= _LAST_ESCAPABLE:
            self._add(following, 2)
        elif character not in ("`" if in_code else RESERVED + "\n"):
            self._add(character, 1)
        elif self._ends_quote(character):
            self._end_quote()
        elif self._open and self._is_end(self._open[-1].kind):
            self._end_entity()
        elif character == "\n":
            self._add(character, 1)
        else:
            self._begin(character)

    def _add(self, character: str, width: int) -> None:
        self._text.append(character)
        self._offset += utf16_length(character)
        self._place += width
        if character != "\r":
            self._at_line_start = character == "\n"

    def _has(self, mark: str) -> bool:
        return self._source.startswith(mark, self._place)

    def _byte(self, place: int) -> int:
        return len(self._source[:place].encode("utf-8", "surrogatepass"))

    def _unfinished(self, opened: _Open) -> ApiError:
        name = "PreCode" if opened.kind == "pre" and opened.language else _NAMES[opened.kind]
        return unparsable(f"Can't find end of {name} entity at byte offset {self._byte(opened.place)}")

    # --- the end of an entity

    def _is_end(self, kind: str) -> bool:
        if kind == "italic":
            return self._has("_") and not self._has("__")
        return kind != "blockquote" and self._has(_ENDS[kind])

    def _end_entity(self) -> None:
        opened = self._open.pop()
        self._place += len(_ENDS[opened.kind])
        length = self._offset - opened.offset
        entity = Entity(opened.kind, opened.offset, length, language=opened.language)
        if opened.kind == "text_link":
            self._end_link(opened, length)
        elif opened.kind == "custom_emoji":
            self._end_emoji(opened, length)
        elif length:
            self._entities.append(entity)

    def _end_link(self, opened: _Open, length: int) -> None:
        url = self._read_url() if self._has("(") else "".join(self._text[opened.start :])
        user = user_of_link(url)
        if user and length:
            self._entities.append(Entity("text_mention", opened.offset, length, user_id=user))
        elif length and (link := checked_link(url)):
            self._entities.append(Entity("text_link", opened.offset, length, url=link))

    def _end_emoji(self, opened: _Open, length: int) -> None:
        if not self._has("("):
            raise unparsable("The entity must contain a tg://emoji or tg://time URL")
        number = self._read_url().removeprefix("tg://emoji?id=")
        if not number.isdigit():
            raise unparsable("Invalid tg://emoji or tg://time URL specified")
        if length:
            self._entities.append(Entity("custom_emoji", opened.offset, length, custom_emoji_id=number))

    def _read_url(self) -> str:
        begin = self._place + 1
        url, place = "", begin
        while place < len(self._source) and self._source[place] != ")":
            if self._source[place] == "\\" and place + 1 < len(self._source):
                place += 1
            url += self._source[place]
            place += 1
        if place >= len(self._source):
            raise unparsable(f"Can't find end of a URL at byte offset {self._byte(begin)}")
        self._place = place + 1
        return url

    # --- quotations: lines that begin with `>`, up to the first that does not

    def _ends_quote(self, character: str) -> bool:
        return self._has_quote and character == "\n" and self._source[self._place + 1 : self._place + 2] != ">"

    def _end_quote(self) -> None:
        kind = self._close_quote()
        opened = self._open.pop()
        self._has_quote = False
        self._add("\n", 1)
        self._entities.append(Entity(kind, opened.offset, self._offset - opened.offset))

    def _end_quote_at_end(self) -> None:
        kind = self._close_quote()
        opened = self._open.pop()
        if self._offset > opened.offset:
            self._entities.append(Entity(kind, opened.offset, self._offset - opened.offset))

    def _close_quote(self) -> str:
        """Whether the quotation that ends here can be expanded: it then ends with `||`, which opened an empty spoiler."""
        last = self._open[-1]
        ends_so = last.kind == "spoiler" and self._source[last.place : self._place].rstrip("\r") == "||"
        if ends_so:
            self._open.pop()
        if self._open[-1].kind != "blockquote":
            raise self._unfinished(self._open[-1])
        return "expandable_blockquote" if ends_so else "blockquote"

    # --- the beginning of an entity

    def _begin(self, character: str) -> None:
        if character == ">" and self._at_line_start:
            self._begin_quote()
        elif self._has("```"):
            self._begin_pre()
        elif character in _SINGLE:
            self._push(_SINGLE[character], 1)
        elif character == "`":
            self._push("code", 1)
        elif character == "_":
            is_double = self._has("__")
            self._push("underline" if is_double else "italic", 1 + is_double)
        elif self._has("||"):
            self._push("spoiler", 2)
        elif self._has("!["):
            self._push("custom_emoji", 2)
        else:
            raise unparsable(f"Character '{character}' is reserved and must be escaped with the preceding '\\'")

    def _push(self, kind: str, width: int, language: str = "") -> None:
        self._open.append(_Open(kind, self._offset, self._place, len(self._text), language))
        self._place += width

    def _begin_quote(self) -> None:
        if self._has_quote:
            self._place += 1
            return
        self._has_quote = True
        self._push("blockquote", 1)

    def _begin_pre(self) -> None:
        place = end = self._place + 3
        while end < len(self._source) and not self._source[end].isspace() and self._source[end] != "`":
            end += 1
        is_language = end > place and end < len(self._source) and self._source[end] != "`"
        self._push("pre", 3, self._source[place:end] if is_language else "")
        self._place = end if is_language else place
        for newline in ("\r\n", "\n\r", "\n", "\r"):
            if self._has(newline):
                self._place += len(newline)
                break
