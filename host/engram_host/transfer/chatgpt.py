"""Reads the person's statements from ChatGPT's conversations.json, and ignores the model's."""

import json
from collections.abc import Iterator
from typing import Any

from engram.memory.records import fields as record_fields
from engram.text import part
from engram_host.transfer.formats import FIRST_KNOWN, Fields
from engram_host.wording import counted

MOST_MESSAGES = 1000
"""The newest of an export: a board keeps memories, not years of chats."""

LONGEST = 500
"""Characters; longer messages are mostly quoted text."""

_QUESTIONS = ("?", "？", "؟")
_TAG = "chatgpt"
_LATEST = 1 << 36


class ChatGptExport:
    def __init__(self, conversations: list[Fields]):
        self._conversations = conversations
        self.notes: list[str] = []

    @classmethod
    def parse(cls, data: bytes) -> "ChatGptExport | None":
        if b'"mapping"' not in data:
            return None
        try:
            found: Any = json.loads(data)
        except (ValueError, RecursionError):
            return None
        listed: list[Any] = found if isinstance(found, list) else [found]
        conversations = [each for each in listed if isinstance(each, dict) and isinstance(each.get("mapping"), dict)]
        return cls(conversations) if conversations else None

    def memories(self) -> Iterator[tuple[int, Fields]]:
        """Yield (conversation number, memory), oldest first: statements, and ChatGPT's own
        memories."""
        found: dict[str, tuple[int, Fields]] = {}
        left_out = 0
        for number, conversation in enumerate(self._conversations, 1):
            for message in _shown_messages(conversation):
                memories = list(_memories(message, conversation))
                left_out += not memories and _author(message) == "user"
                for memory in memories:
                    found.setdefault(memory["content"], (number, memory))
        rows = sorted(found.values(), key=lambda row: row[1].get("created", 0))
        if left_out:
            self.notes.append(
                f"{counted(left_out, 'message', 'messages')} of ChatGPT's user left out: questions, empty ones,"
                f" and texts of more than {LONGEST} characters"
            )
        if len(rows) > MOST_MESSAGES:
            self.notes.append(
                f"{len(rows) - MOST_MESSAGES} older messages left out: the newest {MOST_MESSAGES} are read"
            )
        yield from rows[-MOST_MESSAGES:]


def _shown_messages(conversation: Fields) -> Iterator[Fields]:
    """Yield the messages of the final version, without those replaced by edits."""
    mapping = conversation["mapping"]
    path: list[Any] = []
    ref = conversation.get("current_node")
    while isinstance(ref, str) and isinstance(mapping.get(ref), dict) and len(path) < len(mapping):
        path.append(mapping[ref])
        ref = mapping[ref].get("parent")
    for node in path[::-1] or mapping.values():
        if isinstance(node, dict) and isinstance(node.get("message"), dict):
            yield node["message"]


def _memories(message: Fields, conversation: Fields) -> Iterator[Fields]:
    about = part(part(message, "metadata", dict), "user_context_message_data", dict)
    for name in ("about_user_message", "about_model_message"):
        if isinstance(about.get(name), str) and about[name].strip():
            yield _memory(about[name], {}, conversation)
    author = _author(message)
    said = _text(part(message, "content", dict))
    if author == "assistant" and message.get("recipient") == "bio":
        for line in said.splitlines():
            if line.strip():
                yield _memory(line, message, {}) | {"source": "auto_llm"}
    elif author == "user" and not about and said and len(said) <= LONGEST and not said.endswith(_QUESTIONS):
        yield _memory(said, message, conversation)


def _memory(content: str, message: Fields, conversation: Fields) -> Fields:
    memory: Fields = {"content": content.strip(), "tags": [_TAG], "source": "import"}
    title = conversation.get("title")
    if isinstance(title, str) and 0 < len(title.strip()) <= record_fields.KEYWORD_LONGEST:
        memory["keywords"] = [title.strip()]
    at = message.get("create_time") or conversation.get("create_time")
    if isinstance(at, int | float) and FIRST_KNOWN <= at < _LATEST:
        memory["created"] = int(at)
    return memory


def _author(message: Fields) -> str:
    return str(part(message, "author", dict).get("role", ""))


def _text(content: Fields) -> str:
    if content.get("content_type") not in ("text", "multimodal_text"):
        return ""
    pieces = (part(piece, "text", str) if isinstance(piece, dict) else piece for piece in part(content, "parts", list))
    return "\n".join(piece.strip() for piece in pieces if isinstance(piece, str) and piece.strip())
