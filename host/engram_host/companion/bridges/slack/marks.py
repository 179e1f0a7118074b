"""A reply's Markdown in Slack's mrkdwn, and what people write in Slack as plain text."""

import re

from engram.channels.telegram.markup import to_html

LONGEST_TEXT = 4000
"""Characters of a message that may be edited, with what stands for &, < and >."""
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
    """How many characters a text has for Slack."""
    return len(text) + 4 * text.count("&") + 3 * (text.count("<") + text.count(">"))


def escaped(text: str) -> str:
    """A text without links and without names that notify somebody."""
    for sign, entity in _ESCAPES:
        text = text.replace(sign, entity)
    return text


def rendered(markdown: str) -> str:
    """Markdown as mrkdwn; only escaped if it does not fit otherwise."""
    shown = _mrkdwn(to_html(markdown))
    return shown if len(shown) <= LONGEST_TEXT else escaped(markdown)


def _mrkdwn(html: str) -> str:
    """The marks of Telegram's HTML in Slack's signs: it has the same escapes, but for the quote."""
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
    """What a person wrote, with links, names and escapes resolved; `names` has those of people, by their id."""
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
