"""Marks turns that say what holds no longer, by lines of the journal: no search finds them, people and history still do."""

from engram.store.types import SUPERSEDED


def mark(entries, refs, by: str, at: int) -> None:
    """Mark turns since the record `by` says what holds instead; `entries` is the journal's store."""
    lines = [[("op", "past"), ("turn", int(ref[1:])), ("by", by), ("at", at)] for ref in refs]
    if lines:
        entries.append(*lines, urgent=True)


def unmark(entries, refs, at: int) -> None:
    """Let turns count again, but for those that were forgotten since."""
    turns = [int(ref[1:]) for ref in refs]
    lines = [shown(turn, at) for turn in turns if entries.state(turn) == SUPERSEDED]
    if lines:
        entries.append(*lines, urgent=True)


def shown(turn: int, at: int) -> list:
    """The line by which a turn counts again."""
    return [("op", "show"), ("turn", turn), ("at", at)]


def last_mark(entries, turn: int) -> list:
    """The mark that a turn had when it was forgotten, as the line to write once more; an empty one if it had none."""
    for seq in reversed(entries.seqs_with_label("=%d" % turn)):
        line = entries.line(seq) or {}
        if line.get("turn") == turn and line["op"] != "redact":
            return [(name, line[name]) for name in ("op", "turn", "by", "at")] if line["op"] == "past" else []
    return []
