"""The text of a line that is embedded.

A turn's text alone often does not name its subject: "Yes, she liked it." So the day and the speaker precede it, and the
caption of a picture follows, as in the board's own word index. On LoCoMo that key found
the evidence of .57 of the questions by meaning alone (docs/design/retrieval.md).
"""

import json
from typing import Any

from engram.clock import MONTHS, civil
from engram.errors import ArgumentError
from engram.memory import line_meaning
from engram.store.types import Entry, no_entry
from engram_host.companion.types import LogName

KEY_VERSION = 1
"""Increase this when a text below changes: vectors of other versions are not compared."""

_DAY_SECONDS = 86400


_decode = json.JSONDecoder().decode  # json.loads checks its arguments, longer than a short line takes


def parse_line(line: bytes) -> dict[str, Any]:
    """Return the fields of a line that the database has found intact, {} for one of another form."""
    try:
        fields: Any = _decode(line.decode())
    except (ValueError, RecursionError):
        return {}
    return fields if isinstance(fields, dict) else {}


def describe_line(log: LogName, line: dict[str, Any], zone: int) -> Entry:
    """Parse a decoded line with the board's own code; `zone` is minutes east of Greenwich."""
    is_record = log == "records"
    try:
        entry = line_meaning.describe_record(line) if is_record else line_meaning.describe_turn(line, zone)
        return entry._replace(labels=tuple(entry.labels), terms=()) if is_record else entry
    except (KeyError, TypeError, ValueError, AttributeError, ArgumentError):
        return no_entry()


def embedding_text(log: LogName, line: dict[str, Any], zone: int) -> str:
    """Return the text to embed, "" for commands, forgotten turns and lines that are no entry."""
    if "op" in line or "gone" in line or "command" in line:
        return ""
    try:
        return _record_key(line) if log == "records" else _turn_key(line, zone)
    except (KeyError, TypeError, AttributeError):
        return ""


def _turn_key(line: dict[str, Any], zone: int) -> str:
    year, month, day = civil((line["at"] + zone * 60) // _DAY_SECONDS)
    caption = line.get("caption", "")
    return f"[{day} {MONTHS[month - 1]} {year}] {line['who']}: {line['text']}" + (f" ({caption})" if caption else "")


def _record_key(line: dict[str, Any]) -> str:
    groups = [", ".join(line.get(name, ())) for name in ("tags", "keywords")]
    more = "; ".join(group for group in groups if group)
    return heading_of(line) + line["content"] + (f" ({more})" if more else "")


def heading_of(line: dict[str, Any]) -> str:
    """Return the headings above a Markdown passage with a newline, "" for other memories."""
    heading = line.get("heading")
    return heading + "\n" if isinstance(heading, str) and heading else ""
