"""Slack's mrkdwn: rendering of replies, and plain text of messages."""

import re

from engram.channels.telegram.markup import to_html

LONGEST_TEXT = 4000  # characters of an editable message, escapes included
_ESCAPES = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"))
_TAGS = {
    "b": "*",
    "/b": "*",
    "i": "_",
    "/i": "_",
    "s": "~",
    "/s": "~",
    "pre": "```\n",
    "/pre": "\n```",
    "/a": ">",
    "/blockquote": "",
}
_LINK = re.compile(r"<([@#!]?)([^<>|]+)(?:\|([^<>]*))?>")


def escaped_length(text: str) -> int:
    """Count the characters of a text with its escapes."""
    return len(text) + 4 * text.count("&") + 3 * (text.count("<") + text.count(">"))


def escaped(text: str) -> str:
    """Escape a text, so that it has no links and notifies nobody."""
    for sign, entity in _ESCAPES:
        text = text.replace(sign, entity)
    return text


def rendered(markdown: str) -> str:
    """Render Markdown as mrkdwn; only escaped if the result is too long."""
    shown = _mrkdwn(to_html(markdown))
    return shown if len(shown) <= LONGEST_TEXT else escaped(markdown)


def _mrkdwn(html: str) -> str:
    out: list[str] = []
    quote = code = ""
    for number, part in enumerate(re.split("<([^<>]*)>", html)):
        if number % 2 == 0:
            text = part.replace("&quot;", '"')
            out.append(text.replace("\n", "\n> ") if quote else text)
        elif part == "blockquote":
            quote = part
            out.append("> ")
        elif part.startswith("a href="):
            out.append(f"<{part[len('a href=') :].strip(chr(34)).replace('|', '%7C')}|")
        elif part in ("code", "/code"):
            out.append("" if code else "`")
        elif part.startswith("code class="):
            pass  # the language of code in a block
        else:
            quote = "" if part == "/blockquote" else quote
            code = part if part == "pre" else "" if part == "/pre" else code
            out.append(_TAGS[part])
    return "".join(out)


def readable(text: str, names: dict[str, str]) -> str:
    """Resolve links, names (by id) and escapes in a person's message."""
    text = _LINK.sub(lambda found: _named(found, names), text)
    for sign, entity in reversed(_ESCAPES):
        text = text.replace(entity, sign)
    return text


def _named(found: re.Match[str], names: dict[str, str]) -> str:
    kind, target, label = found[1], found[2], found[3] or ""
    if kind == "@":
        return f"@{names.get(target) or label or target}"
    if kind == "#":
        return f"#{label or target}"
    if kind == "!":
        return label or f"@{target.partition('^')[0]}"
    return f"{label} ({target})" if label and label not in target else target
