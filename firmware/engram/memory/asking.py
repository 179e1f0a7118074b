"""Tells messages that ask from those that say something."""

from engram import text
from engram.compat import const

_BEFORE_ASKING = const(" please hey hi ok okay so and but well ")
_ASKING = const(
    " what where who whom whose when which why how do does did is are was were have has can could tell show list find "
    "remind recall "
)
_WIDE_ASKING = const("？|吗|呢|什么|谁|哪|怎么|多少|几|告诉我")
_LONGEST = const(240)  # characters of a question that repeats another one
_ENDS = const((". ", "! ", "。", "！", "\n"))
_GREETING = const(2)  # words that may stand before it


def asks(message: str) -> bool:
    """True if a message asks something, also without a question mark."""
    words = [word for word in message.lower().split() if " " + word.strip(",!.") + " " not in _BEFORE_ASKING]
    first = words[0].replace("’", "'").split("'")[0] if words else "-"
    return "?" in message or " " + first + " " in _ASKING or any(sign in message for sign in _WIDE_ASKING.split("|"))


def only_asks(content: str) -> bool:
    """True if a text is a question, with a greeting at most before it."""
    content = content.rstrip()
    if len(content) > _LONGEST or not content or content[-1] not in "?？":
        return False
    before = max([content.rfind(mark, 0, len(content) - 1) for mark in _ENDS])
    return before < 0 or len(content[:before].split()) <= _GREETING


def repeats(content: str, asked) -> bool:
    """True if a text asks for most of the terms that somebody has `asked` for."""
    same = others = 0
    is_question = only_asks(content)
    if not (is_question or (len(content) <= _LONGEST and asks(content))):
        return False
    for term in text.terms(content):
        if term in asked:
            same += 1
        elif is_question:
            others += 1
        else:
            return False
    return others <= same
