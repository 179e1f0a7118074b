"""Tells for which messages the rules are loaded: a small heap has them only then; and what of a message its sender says."""

from engram.compat import const

_OPENING = const(1600)  # characters in which a reminder stands
_TIMED = const(
    "remind|tell me|wake me|timer|alarm|let me know|show me|give me|read me|提醒|告诉我|告訴我|叫醒|起床|闹钟|鬧鐘|定时|定時|"
    "计时|計時"
)


def own_words(content: str) -> str:
    """A message without the marks of attachments at its start, as in "[file a.pdf] keep this": others chose their names."""
    said = content
    while said[:1] == "[":
        mark, end, rest = said.partition("]")
        if not (end and rest.strip()) or "\n" in mark:
            break
        said = rest.strip()
    return said


def may_remind(content: str) -> bool:
    """Whether a message may ask for a reminder."""
    return "remind" in content[:_OPENING].lower() or "提醒" in content[:_OPENING]


def may_name_time(content: str) -> bool:
    """Whether a message may ask for a timer."""
    opening = content[:_OPENING].lower()
    return any(word in opening for word in _TIMED.split("|"))
