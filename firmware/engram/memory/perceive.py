"""Keeps what a camera or a microphone of one's own perceives, as a turn of the owner's, or as a memory of an event."""

from engram.errors import ArgumentError
from engram.memory.access import OWNER, own_scope
from engram.memory.records import fields
from engram.memory.records.records import Draft
from engram.text import printable
from engram.text.utf8 import is_printable_ascii

_KINDS = ("photo", "sound", "event")
_CAPTION_CHARS = const(500)
_MEDIA_CHARS = const(100)
_NOW = const(60)  # seconds within which a perception needs no time of its own
SOURCE = "sense"


def perceive(clock, journal, records, caption: str, kind: str, at: int, media: str) -> str:
    """Save a caption and return the id of its turn or memory; ArgumentError."""
    if not isinstance(caption, str) or not caption.strip() or len(caption) > _CAPTION_CHARS:
        raise ArgumentError("caption", "must say in 1 to %d characters what is there." % _CAPTION_CHARS)
    if kind not in _KINDS:
        raise ArgumentError("kind", "must be one of " + ", ".join(_KINDS) + ".")
    if not isinstance(at, int) or isinstance(at, bool) or at < 0:
        raise ArgumentError("at", "must be Unix seconds, 0 for now.")
    is_text = isinstance(media, str) and len(media) <= _MEDIA_CHARS
    if not is_text or not is_printable_ascii(media) or "]" in media:
        raise ArgumentError("media", "must be a reference of at most %d printable ASCII characters." % _MEDIA_CHARS)
    shown = " ".join(printable(caption).split())
    moment, is_known = min(at, clock.now()) or clock.now(), clock.known
    if kind == "event":
        marks = [mark for mark in (clock.minute(moment) if is_known else "", media) if mark]
        return _keep_event(moment, records, shown + (" (%s)" % ", ".join(marks) if marks else ""))
    is_now = not is_known or clock.now() - moment <= _NOW
    marks = [kind, "" if is_now else clock.minute(moment), media]
    said = "[%s] %s" % (", ".join([mark for mark in marks if mark]), shown)
    return "t%d" % journal.add(OWNER, "user", OWNER.principal, said, at=moment, sensed=True)


def _keep_event(moment: int, records, content: str) -> str:
    """Save a memory of an event without a comparison to similar ones."""
    values = {"content": content, "tags": ["event"], "type": "event", "source": SOURCE}
    checked = {name: fields.check(name, value, records.limit) for name, value in values.items()}
    checked.update({"scope": own_scope(OWNER), "created": moment})
    return records.keep((Draft("", checked, [], "", 0),))[0]
