"""What a model was shown of the memory for an answer, as its board reports, and the words that it shares with the message."""

import json
from dataclasses import dataclass
from typing import Any

from engram import text
from engram.memory import line_meaning
from engram_host.companion.conversations.answers import Answer
from engram_host.companion.entries.reader import ReadEntry
from engram_host.companion.search.tokenizer import query_words

MOST_RECALLED = 12
"""Of what was shown for one answer."""

_WORDS = 6
_COMPARED = 400  # characters of a text in which words of the message are looked for
_ID_CHARACTERS = 80


@dataclass(frozen=True)
class Recalled:
    """A memory, a turn or a line of a note, by its id, and in per cent how sure the board was of it."""

    id: str
    percent: int


def recalled_for(answer: Answer) -> tuple[Recalled, ...]:
    """What the board reports beside an answer; a report of another form is passed over."""
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
    """What a memory or a turn says."""
    line = entry.line
    return str(line["content"]) if "content" in line else line_meaning.attributed_text(line)


def common_words(message: str, entry: ReadEntry) -> tuple[str, ...]:
    """The words of a message that stand in a memory or a turn, as the message has them."""
    fields = [text_of(entry)[:_COMPARED]]
    for name in ("tags", "keywords"):
        words = entry.line.get(name)
        fields += [str(word) for word in words] if isinstance(words, list) else []
    there = set(text.terms(" ".join(fields)))
    shared = dict.fromkeys(word for term, word in query_words(message[:_COMPARED]).items() if term in there)
    return tuple(shared)[:_WORDS]
