"""Converts memories of other programs to a board's import form.

Of ChatGPT's conversations.json the person's statements are read, and the model's are ignored.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

from engram.errors import ArgumentError
from engram.memory.records import fields as record_fields
from engram.memory.records import provenance
from engram.schema_check import check
from engram.text import part
from engram_host.wording import counted

Fields = dict[str, Any]
Unknown = Callable[[str], None]

DEFAULT_TAG = "imported"

_ESP_CLAW_ONLY = ("summary_ids", "created_at", "deleted")
_ESP_CLAW = (
    *("id", "source", "content", "tags", "keywords", "created_at", "updated_at", "access_count", "deleted"),
    *("summary_ids", "summary_labels"),
)
_SEPARATORS = ";/|"
_COCLAW_ONLY = ("createdAt", "lastUsedAt")
_COCLAW = ("id", "content", "type", "tags", "importance", "createdAt", "lastUsedAt", "source", "pinned")
_COCLAW_SOURCES = {"auto-extracted": "auto_llm", "manual": "manual", "distilled": "distilled"}
FIRST_KNOWN = 1577836800
"""2020-01-01: earlier times come from unset clocks."""


def convert_memory(fields: Fields, note_unknown: Unknown) -> Fields:
    """Convert a line of any known program; calls `note_unknown` per lost field; raises ArgumentError."""
    if "origin" in fields:
        return fields
    if "content" not in fields and not fields.get("deleted"):
        raise ArgumentError("content", "is missing.")
    if any(name in fields for name in _ESP_CLAW_ONLY):
        return _esp_claw(fields, note_unknown)
    if any(name in fields for name in _COCLAW_ONLY):
        return _coclaw(fields, note_unknown)
    return fields


def _esp_claw(fields: Fields, note_unknown: Unknown) -> Fields:
    """Convert a line of ESP-Claw's log; a tombstone says "deleted"."""
    _note_unknown(fields, _ESP_CLAW, note_unknown)
    origin = _origin("esp-claw:", fields)
    if fields.get("deleted") is True:
        if not origin:
            raise ArgumentError("id", "is missing, so it is not known what was deleted.")
        return {**origin, "deleted": True}
    memory: Fields = {"content": fields.get("content")}
    if fields.get("source") in record_fields.SOURCES:
        memory["source"] = fields["source"]
    tags = _split(fields, "tags") or _texts(fields, "summary_labels")
    put_labels(memory, tags, _split(fields, "keywords"), note_unknown)
    for name, theirs in (("created", "created_at"), ("updated", "updated_at")):
        _put_moment(memory, name, _count(fields, theirs))
    uses = _count(fields, "access_count")
    return _finish_memory(memory, origin, uses, memory.get("updated") or memory.get("created") or 0)


def _coclaw(fields: Fields, note_unknown: Unknown) -> Fields:
    """Convert an entry of CoClaw's export; times are milliseconds."""
    _note_unknown(fields, _COCLAW, note_unknown)
    memory = {name: fields[name] for name in ("content", "type", "importance", "pinned") if name in fields}
    source = fields.get("source")
    if isinstance(source, str) and source in _COCLAW_SOURCES:
        memory["source"] = _COCLAW_SOURCES[source]
    put_labels(memory, _texts(fields, "tags"), [], note_unknown)
    _put_moment(memory, "created", _count(fields, "createdAt") // 1000)
    used = _count(fields, "lastUsedAt") // 1000
    # There is no count of uses: a last use after the creation means at least one.
    return _finish_memory(memory, _origin("coclaw:", fields), int(used > memory.get("created", used)), used)


def _finish_memory(memory: Fields, origin: Fields, uses: int, used: int) -> Fields:
    memory.setdefault("source", "import")
    if memory.get("updated") == memory.get("created"):
        memory.pop("updated", None)
    for tag in [tag for tag in memory["tags"] if tag.startswith("ws:") and len(tag) > 3]:
        # A tag that separates workspaces in such programs.
        memory["scope"] = tag
        if len(memory["tags"]) > 1:
            memory["tags"].remove(tag)
    if uses and used:
        memory |= {"uses": uses, "used": used}
    # Fields unknown to such a program (pin, importance) keep their value on the board.
    return {**origin, **memory, "partial": True}


def put_labels(memory: Fields, tags: list[str], keywords: list[str], note_unknown: Unknown) -> None:
    """Set tags and keywords; surplus tags become keywords, the rest is noted."""
    tags = [tag.strip() for tag in tags if tag.strip()]
    keywords = [word.strip() for word in keywords if word.strip()]
    first = [tag for tag in tags if len(tag) <= record_fields.TAG_LONGEST][: record_fields.MOST_TAGS]
    others = dict.fromkeys(keywords + [tag for tag in tags if tag not in first])
    fitting = [word for word in others if len(word) <= record_fields.KEYWORD_LONGEST]
    memory["tags"] = first or [DEFAULT_TAG]
    memory["keywords"] = fitting[: record_fields.MOST_KEYWORDS]
    if any(word not in first and word not in memory["keywords"] for word in keywords + tags):
        note_unknown("tags")


def _note_unknown(fields: Fields, known: tuple[str, ...], note_unknown: Unknown) -> None:
    for name in fields:
        if name not in known:
            note_unknown(name)


def _origin(source: str, fields: Fields) -> Fields:
    ref = fields.get("id")
    return {"origin": provenance.check("id", source + ref)} if isinstance(ref, str) and ref else {}


def _count(fields: Fields, name: str) -> int:
    count = fields.get(name) or 0
    check(name, count, {"type": "integer", "minimum": 0})
    return count


def _put_moment(memory: Fields, name: str, at: int) -> None:
    if at >= FIRST_KNOWN:
        memory[name] = at


def _split(fields: Fields, name: str) -> list[str]:
    value = fields.get(name, "")
    if not isinstance(value, str):
        raise ArgumentError(name, "must be a text with commas between.")
    for separator in _SEPARATORS:
        value = value.replace(separator, ",")
    return [part for part in value.split(",") if part.strip()]


def _texts(fields: Fields, name: str) -> list[str]:
    value = fields.get(name) or []
    if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
        raise ArgumentError(name, "must be a list of texts.")
    return value


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
