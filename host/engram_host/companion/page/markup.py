"""Renders untrusted Markdown as safe HTML."""

from markdown_it import MarkdownIt
from markupsafe import Markup

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
    """Render Markdown; links have no referrer, images are not loaded."""
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
