"""The text of a line that is embedded, and its digest.

A turn's text alone often does not say what it is about: "Yes, she liked it." So what is embedded has the day and the
speaker before it and the caption of a picture behind it, as the words by which the board finds a turn do. On LoCoMo that
key found the evidence of .57 of the questions by meaning alone (docs/design/retrieval.md).
"""

from typing import Any

from engram.clock import MONTHS, civil
from engram.errors import ArgumentError
from engram.memory import line_meaning
from engram.store.types import Entry, no_entry
from engram_host.companion.types import LogName

KEY_VERSION = 1
"""One more whenever a text below changes its form: vectors of another version are not compared with these."""

_DAY_SECONDS = 86400


def describe_line(log: LogName, line: dict[str, Any], zone: int) -> Entry:
    """What a decoded line means, by the board's own code; no entry for one that this version does not know, as on the board.

    `zone` is minutes east of Greenwich. The entry has no terms.
    """
    is_record = log == "records"
    try:
        entry = line_meaning.describe_record(line) if is_record else line_meaning.describe_turn(line, zone)
        return entry._replace(labels=tuple(entry.labels), terms=())
    except (KeyError, TypeError, ValueError, AttributeError, ArgumentError):
        return no_entry()


def embedding_text(log: LogName, line: dict[str, Any], zone: int) -> str:
    """The text of a decoded line that is embedded, "" if it has none: a command, a forgotten turn, a line that is no entry.

    Raises nothing for a line that describe_line() takes as an entry; others give "" as well.
    """
    if "op" in line or "gone" in line or "command" in line:
        return ""
    try:
        return _record_key(line) if log == "records" else _turn_key(line, zone)
    except (KeyError, TypeError, AttributeError):
        return ""


def _turn_key(line: dict[str, Any], zone: int) -> str:
    """ "[7 May 2023] Ann: what she said (what the picture shows)"."""
    year, month, day = civil((line["at"] + zone * 60) // _DAY_SECONDS)
    caption = line.get("caption", "")
    return f"[{day} {MONTHS[month - 1]} {year}] {line['who']}: {line['text']}" + (f" ({caption})" if caption else "")


def _record_key(line: dict[str, Any]) -> str:
    """ "what is remembered (tag, tag; keyword, keyword)", a passage of a Markdown file after the headings it stands under."""
    groups = [", ".join(line.get(name, ())) for name in ("tags", "keywords")]
    more = "; ".join(group for group in groups if group)
    return heading_of(line) + line["content"] + (f" ({more})" if more else "")


def heading_of(line: dict[str, Any]) -> str:
    """The headings that a passage of a Markdown file stands under, with a line's end; "" for what boards remember."""
    heading = line.get("heading")
    return heading + "\n" if isinstance(heading, str) and heading else ""
