"""How a model is shown what is in memory when it is asked for facts: as data, in fences that no text can close."""

from engram.memory import catalog
from engram.memory.recall import snippet

SNIPPET = 240
"""Characters of one memory there."""


def fenced(content: str) -> str:
    """A text that cannot close a fence."""
    return content.replace("<", "‹")


def known(records, caller, tag_tokens: int, found: list) -> list:
    """The lines that show the tags in use, in so many tokens, and the records that new facts may touch."""
    tags = catalog.line(catalog.ranked(records, caller), tag_tokens)
    lines = ["<tags>", fenced(tags), "</tags>", "<known>"]
    lines += [fenced("[%s] %s" % (record["id"], snippet(record["content"], SNIPPET))) for record in found]
    return lines + ["</known>"]
