"""Markdown as the HTML that Matrix' clients show."""

from html import escape

from markdown_it import MarkdownIt

_SCHEMES = ("http://", "https://", "mailto:")


def _is_link(url: str) -> bool:
    return url.lower().startswith(_SCHEMES)


_MARKDOWN = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["table", "strikethrough"])
# An image would be fetched from wherever a text says, or not be shown at all: Matrix shows its own uploads only.
_MARKDOWN.disable("image")
_MARKDOWN.validateLink = _is_link


def render(text: str) -> str:
    """The HTML of a Markdown text, "" if it says no more than the text does. Tags in the text are shown as they are."""
    html = str(_MARKDOWN.render(text)).strip()
    inner = html.removeprefix("<p>").removesuffix("</p>")
    if len(inner) == len(html) - len("<p></p>") and "</p>" not in inner:
        html = inner  # one paragraph is a line of the chat
    return "" if html == escape(text.strip()).replace("&#x27;", "'") else html
