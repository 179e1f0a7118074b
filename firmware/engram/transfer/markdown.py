"""Memories as Markdown that people read and edit, and `engram import` reads again: a list item each.

    # Memories, times at +01:00

    ## 2026-09-21

    - The bike is green #bike #colour
      (14:13:20; importance 0.8; pinned; from 1a2b3c4d:m12)

The tags stand at the end, and the line in parentheses has all other fields. A backslash stands before what would be taken
for Markdown or for a tag.
"""

from engram.compat import const
from engram.memory import access
from engram.memory.records import provenance
from engram.transfer import jsonl

_MARKS = const(("-", "*", "+", ".", ")"))  # of a list's items; the last two behind a number


def title(clock) -> str:
    minutes = clock.zone_minutes
    sign = "-" if minutes < 0 else "+"
    return "# Memories, times at %s%02d:%02d" % (sign, abs(minutes) // 60, abs(minutes) % 60)


def lines(record: dict, clock, own_scope: str, epoch: int):
    tags = "".join([" #" + _escaped(tag) for tag in record.get("tags", ())])
    content = "\n  ".join(
        [_content_line(line, number > 0) for number, line in enumerate(record["content"].split("\n"))]
    )
    yield from ("- " + content + tags).split("\n")
    listed = [_second(clock, record["created"])[11:]]
    for name, word in (("type", "%s"), ("importance", "importance %s"), ("source", "by %s")):
        if name in record:
            listed.append(word % record[name])
    if record.get("pinned"):
        listed.append("pinned")
    if record.get("keywords"):
        listed.append("keywords " + ", ".join([_escaped(word, ",;") for word in record["keywords"]]))
    for name, word in (("updated", "changed "), ("expires", "until ")):
        if name in record:
            listed.append(word + _second(clock, record[name]))
    if record.get("scope", access.ALL) != own_scope:
        listed.append("for " + _escaped(record.get("scope", access.ALL), ";"))
    listed.append("from " + _escaped(provenance.origin_of(record, epoch), ";"))
    yield "  (" + "; ".join(listed) + ")"


def _second(clock, at: int) -> str:
    return clock.minute(at) + ":%02d" % (at % 60)


def _content_line(line: str, is_later: bool) -> str:
    if not line:
        return "\\"
    shown = _escaped(line).replace(" #", " \\#")
    if shown[0] == "#":
        shown = "\\" + shown
    at = len(shown) - len(shown.lstrip(" \t0123456789"))
    if is_later and shown[at : at + 1] in _MARKS and shown[at + 1 : at + 2] == " ":
        shown = shown[:at] + "\\" + shown[at:]
    return shown


def _escaped(value: str, more: str = "") -> str:
    shown = value.replace("\\", "\\\\").replace("&#", "\\&#")
    for letter in more:
        shown = shown.replace(letter, "\\" + letter)
    return jsonl.without_controls(shown, "&#%d;").replace("\n", "&#10;")
