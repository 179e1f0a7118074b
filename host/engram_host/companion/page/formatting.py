"""Texts of views: Markdown, differences, media and times as HTML, and limits of their size."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from difflib import SequenceMatcher
from html import escape
from typing import Literal, NamedTuple, TypeVar

from markdown_it import MarkdownIt
from markupsafe import Markup
from starlette.exceptions import HTTPException

from engram_host.companion.media.service import caption_of, ids_in
from engram_host.companion.store.media import StoredMedia
from engram_host.time_zones import BoardZone, day_number

Item = TypeVar("Item")


# --- sizes, whatever people, models and files wrote


def html_bytes(text: str) -> int:
    return part_bytes(escape(text))


def take_fitting(items: Iterable[Item], most: int, size: Callable[[Item], int]) -> list[Item]:
    """Return the first items within `most` bytes in total, at least one."""
    taken: list[Item] = []
    for item in items:
        most -= size(item)
        if most < 0 and taken:
            break
        taken.append(item)
    return taken


def part_bytes(part: str) -> int:
    return len(part.encode("utf-8", "replace"))


def cut_text(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def cut_html(text: str, most: int) -> str:
    size = 0
    for at, letter in enumerate(text):
        size += html_bytes(letter)
        if size > most:
            return text[:at]
    return text


def count_pages(total: int, at_once: int) -> int:
    return max(1, -(-total // at_once))


# --- Markdown


MOST_CHARACTERS = 20000
"""Longer texts are shown unparsed, since parsing takes long."""

_SCHEMES = ("http:", "https:", "mailto:")


def _is_safe_link(url: str) -> bool:
    return url.lower().strip().startswith(_SCHEMES)


def _make_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True, "maxNesting": 20})
    parser.enable(["table", "strikethrough"])
    # Show an image as text: it would be fetched from another site.
    parser.disable(["image", "html_block", "html_inline"])
    parser.validateLink = _is_safe_link  # pyright: ignore[reportAttributeAccessIssue]
    return parser


_PARSER = _make_parser()


def render_markdown(text: str) -> Markup:
    """Render untrusted Markdown as safe HTML; links have no referrer, images are not loaded."""
    if len(text) > MOST_CHARACTERS:
        return Markup("<pre>{}</pre>").format(text)
    tokens = _PARSER.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            # The page's own headings are above it.
            token.tag = f"h{min(6, int(token.tag[1]) + 3)}"
        if token.type == "table_open":
            token.attrSet("tabindex", "0")  # a wide one scrolls: it needs keyboard focus
        for child in token.children or ():
            if child.type == "link_open":
                child.attrSet("rel", "noopener noreferrer nofollow")
        token.attrs.pop("style", None)
    return Markup(_PARSER.renderer.render(tokens, _PARSER.options, {}))  # markdown-it has escaped the text


# --- differences between two versions of a text, word by word


_WORDS = re.compile(r"\s+|[^\W_\u3040-\u9fff\uac00-\ud7af]+|.", re.DOTALL)
_MOST_WORDS = 1500


class Span(NamedTuple):
    kind: Literal["same", "new", "old"]
    text: str


def differences(old: str, new: str) -> list[Span]:
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    if max(len(before), len(after)) > _MOST_WORDS:
        return [Span("old", old), Span("new", new)]
    return [*_joined(before, after)]


def _joined(before: list[str], after: list[str]) -> Iterator[Span]:
    for kind, first, last, start, end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            yield Span("same", "".join(before[first:last]))
            continue
        if last > first:
            yield Span("old", "".join(before[first:last]))
        if end > start:
            yield Span("new", "".join(after[start:end]))


# --- photos and sounds beside the texts that refer to them


MOST_MEDIA = 2
MEDIA_BYTES = 330

_CAPTION = 60
_LONGEST = 4000


@dataclass(frozen=True)
class ShownMedia:
    id: str
    is_photo: bool
    caption: str


def media_in(text: str, known: Mapping[str, StoredMedia]) -> list[ShownMedia]:
    if not known:
        return []
    named = [each for each in ids_in(text) if each in known][:MOST_MEDIA]
    caption = cut_text(caption_of(text[:_LONGEST]), _CAPTION) if named else ""
    return [ShownMedia(each, known[each].type.startswith("image/"), caption) for each in named]


# --- times


def time_tag(seconds: int, zone: BoardZone | None = None) -> Markup:
    """Format a UTC time for the script to localize, with the board's time where it differs."""
    try:
        at = datetime.fromtimestamp(seconds, UTC)
        minutes = zone.offset_minutes(seconds) if zone is not None else 0
        there = at.astimezone(timezone(timedelta(minutes=minutes))) if zone is not None else None
    except (OverflowError, OSError, ValueError):
        return Markup("")
    title = there.strftime("%Y-%m-%d %H:%M %z") if there else ""
    more = Markup(' title="{}" data-zone="{}"').format(title, minutes) if there else ""
    stamp = at.strftime("%Y-%m-%dT%H:%M:%SZ")
    return Markup('<time datetime="{}"{}>{}</time>').format(stamp, more, at.strftime("%Y-%m-%d %H:%M UTC"))


def parse_day(name: str) -> date:
    try:
        return date.fromisoformat(name)
    except ValueError:
        raise HTTPException(422, f"there is no day {name}") from None


def day_seconds(day: str, zone: BoardZone, days_after: int = 0) -> int:
    """Return Unix seconds of a day's start, `days_after` later; 0 for none; raises HTTPException."""
    return max(1, zone.start_of(day_number(parse_day(day)) + days_after)) if day else 0
