"""Memories as other programs write them: ESP-Claw's memory_records.jsonl, and what CoClaw exports."""

from engram.errors import ArgumentError
from engram.memory.records import fields as record_fields
from engram.memory.records import provenance
from engram.transfer.item import Item, item, put_labels, put_moment, whole

_ESP_CLAW = (
    "id", "source", "content", "tags", "keywords", "created_at", "updated_at", "access_count", "deleted",
    "summary_ids", "summary_labels",
)  # fmt: skip
_SEPARATORS = ";/|"  # beside the comma: ESP-Claw takes them all
_COCLAW = (
    "id", "content", "type", "tags", "importance", "createdAt", "lastUsedAt", "source", "pinned",
)  # fmt: skip
_COCLAW_SOURCES = {"auto-extracted": "auto_llm", "manual": "manual", "distilled": "distilled"}


def esp_claw(fields: dict, left_out) -> Item:
    """A line of ESP-Claw's log: tags and keywords with commas between, a tombstone says "deleted"."""
    _tell_unknown(fields, _ESP_CLAW, left_out)
    origin = _origin("esp-claw:", fields)
    if fields.get("deleted") is True:
        if not origin:
            raise ArgumentError("id", "is missing, so it is not known what was deleted.")
        return item({}, origin=origin, is_gone=True)
    values = {"content": fields.get("content")}
    if fields.get("source") in record_fields.SOURCES:
        values["source"] = fields["source"]
    tags = _split(fields, "tags") or _texts(fields, "summary_labels")
    _put_labels(values, tags, _split(fields, "keywords"), left_out)
    put_moment(values, "created", whole(fields, "created_at"))
    put_moment(values, "updated", whole(fields, "updated_at"))
    _end(values)
    used = values.get("updated") or values.get("created") or 0
    return item(values, origin=origin, uses=whole(fields, "access_count") if used else 0, used=used)


def coclaw(fields: dict, left_out) -> Item:
    """An entry of CoClaw's export: up to twenty tags, and times in milliseconds."""
    _tell_unknown(fields, _COCLAW, left_out)
    values = {name: fields[name] for name in ("content", "type", "importance", "pinned") if name in fields}
    if fields.get("source") in tuple(_COCLAW_SOURCES):
        values["source"] = _COCLAW_SOURCES[fields["source"]]
    _put_labels(values, _texts(fields, "tags"), [], left_out)
    put_moment(values, "created", whole(fields, "createdAt") // 1000)
    _end(values)
    used = whole(fields, "lastUsedAt") // 1000
    # It does not count: what was used after it was made was so once at least.
    return item(
        values, origin=_origin("coclaw:", fields), uses=1 if used > values.get("created", used) else 0, used=used
    )


def _end(values: dict) -> None:
    values.setdefault("source", "import")
    if values.get("updated") == values.get("created"):
        values.pop("updated", None)
    for tag in [tag for tag in values["tags"] if tag[:3] == "ws:" and len(tag) > 3]:
        # A tag by which such programs keep the memories of a workspace apart.
        values["scope"] = tag
        if len(values["tags"]) > 1:
            values["tags"].remove(tag)


def _put_labels(values: dict, tags: list, keywords: list, left_out) -> None:
    if put_labels(values, tags, keywords):
        left_out("tags")


def _tell_unknown(fields: dict, known: tuple, left_out) -> None:
    for name in fields:
        if name not in known:
            left_out(name)


def _origin(source: str, fields: dict) -> str:
    ref = fields.get("id")
    return provenance.check("id", source + ref) if isinstance(ref, str) and ref else ""


def _split(fields: dict, name: str) -> list:
    value = fields.get(name, "")
    if not isinstance(value, str):
        raise ArgumentError(name, "must be a text with commas between.")
    for separator in _SEPARATORS:
        value = value.replace(separator, ",")
    return [part for part in value.split(",") if part.strip()]


def _texts(fields: dict, name: str) -> list:
    value = fields.get(name) or []
    if not isinstance(value, list) or [part for part in value if not isinstance(part, str)]:
        raise ArgumentError(name, "must be a list of texts.")
    return value
