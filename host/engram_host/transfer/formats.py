"""Converts memories of other programs to a board's import form."""

from collections.abc import Callable
from typing import Any

from engram.errors import ArgumentError
from engram.memory.records import fields as record_fields
from engram.memory.records import provenance
from engram.schema_check import check

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
