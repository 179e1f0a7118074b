"""Markdown of people, models and boards as HTML in which nothing of theirs is markup but what Markdown has."""

from markdown_it import MarkdownIt
from markupsafe import Markup

MOST_CHARACTERS = 20000
"""Of a text that is shown as Markdown; a longer one is shown as it is, since parsing takes long."""

_SCHEMES = ("http:", "https:", "mailto:")


def _is_safe_link(url: str) -> bool:
    return url.lower().strip().startswith(_SCHEMES)


def _make_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True, "maxNesting": 20})
    parser.enable(["table", "strikethrough"])
    # An image would be fetched from another site as soon as the page is shown: it stands as its text.
    parser.disable(["image", "html_block", "html_inline"])
    parser.validateLink = _is_safe_link  # pyright: ignore[reportAttributeAccessIssue]
    return parser


_PARSER = _make_parser()


def render_markdown(text: str) -> Markup:
    """A text's Markdown as HTML; links open without telling from where, nothing is loaded."""
    if len(text) > MOST_CHARACTERS:
        return Markup("<pre>{}</pre>").format(text)
    tokens = _PARSER.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            # The page's own headings are above it.
            token.tag = f"h{min(6, int(token.tag[1]) + 3)}"
        if token.type == "table_open":
            token.attrSet("tabindex", "0")  # a wide one scrolls: the keyboard has to reach it
        for child in token.children or ():
            if child.type == "link_open":
                child.attrSet("rel", "noopener noreferrer nofollow")
        token.attrs.pop("style", None)
    return Markup(_PARSER.renderer.render(tokens, _PARSER.options, {}))  # markdown-it has escaped the text
