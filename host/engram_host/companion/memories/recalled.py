"""Entries shown to the model for an answer, as reported by its board."""

import json
from dataclasses import dataclass
from typing import Any

from engram import text
from engram.memory import line_meaning
from engram_host.companion.conversations.answers import Answer
from engram_host.companion.entries.reader import ReadEntry
from engram_host.companion.search.tokenizer import query_words

MOST_RECALLED = 12

_WORDS = 6
_COMPARED = 400  # characters of a text in which words of the message are looked for
_ID_CHARACTERS = 80


@dataclass(frozen=True)
class Recalled:
    """Id of a recalled entry, with the board's confidence in per cent."""

    id: str
    percent: int


def recalled_for(answer: Answer) -> tuple[Recalled, ...]:
    """Return the entries reported with an answer; malformed reports are ignored."""
    found: list[Recalled] = []
    for report in answer.reports:
        try:
            fields: Any = json.loads(report)
        except (ValueError, RecursionError):
            continue
        items = fields.get("recalled") if isinstance(fields, dict) else None
        for item in items if isinstance(items, list) else ():
            if isinstance(item, list) and [type(part) for part in item] == [str, int]:
                found.append(Recalled(item[0][:_ID_CHARACTERS], max(0, min(item[1] // 10, 100))))
    return tuple(found[:MOST_RECALLED])


def text_of(entry: ReadEntry) -> str:
    """Return the text of a memory or turn."""
    line = entry.line
    return str(line["content"]) if "content" in line else line_meaning.attributed_text(line)


def common_words(message: str, entry: ReadEntry) -> tuple[str, ...]:
    """Return the words of a message that occur in an entry, as the message spells them."""
    fields = [text_of(entry)[:_COMPARED]]
    for name in ("tags", "keywords"):
        words = entry.line.get(name)
        fields += [str(word) for word in words] if isinstance(words, list) else []
    there = set(text.terms(" ".join(fields)))
    shared = dict.fromkeys(word for term, word in query_words(message[:_COMPARED]).items() if term in there)
    return tuple(shared)[:_WORDS]
