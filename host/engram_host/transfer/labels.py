"""Gives a memory as many tags as a board keeps, and makes keywords of the others."""

from typing import Any

from engram.memory.records import fields as record_fields

DEFAULT_TAG = "imported"


def put_labels(memory: dict[str, Any], tags: list[str], keywords: list[str]) -> bool:
    """Set the tags and keywords of a memory; whether all found a place."""
    tags = [tag.strip() for tag in tags if tag.strip()]
    keywords = [word.strip() for word in keywords if word.strip()]
    first = [tag for tag in tags if len(tag) <= record_fields.TAG_LONGEST][: record_fields.MOST_TAGS]
    words = list(dict.fromkeys(keywords + [tag for tag in tags if tag not in first]))
    fitting = [word for word in words if len(word) <= record_fields.KEYWORD_LONGEST][: record_fields.MOST_KEYWORDS]
    memory["tags"] = first or [DEFAULT_TAG]
    memory["keywords"] = fitting
    return all(word in first or word in fitting for word in keywords + tags)
