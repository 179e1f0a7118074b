"""HTML of Markdown for Matrix' clients."""

from html import escape

from markdown_it import MarkdownIt

_SCHEMES = ("http://", "https://", "mailto:")


def _is_link(url: str) -> bool:
    return url.lower().startswith(_SCHEMES)


_MARKDOWN = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["table", "strikethrough"])
# No images: clients would fetch them from any address, or show none but Matrix' own uploads.
_MARKDOWN.disable("image")
_MARKDOWN.validateLink = _is_link


def render(text: str) -> str:
    """Render Markdown as HTML with tags escaped, "" if it adds nothing to the text."""
    html = str(_MARKDOWN.render(text)).strip()
    inner = html.removeprefix("<p>").removesuffix("</p>")
    if len(inner) == len(html) - len("<p></p>") and "</p>" not in inner:
        html = inner  # one paragraph is a line of the chat
    return "" if html == escape(text.strip()).replace("&#x27;", "'") else html
