"""Messages on a board's notes: its list, and the texts that are missing here."""

from typing import Any
from zlib import crc32

from engram.link import messages
from engram_host.companion.errors import Refused
from engram_host.companion.replication.messages import DAMAGED_SECONDS, UPDATE_SECONDS, NoteHead, NotesHead
from engram_host.companion.store.board_notes import NoteFileTable
from engram_host.companion.types import LineQuota, NoteEntry, NoteSpan, Sender


def take(
    store: NoteFileTable,
    sender: Sender,
    device: str,
    head: NotesHead | NoteHead,
    body: bytes,
    now: int,
    quota: LineQuota,
) -> tuple[list[int], str]:
    """Apply a message; return (indexes of missing notes, state). Raises Refused or Stale."""
    if head["op"] == "notes":
        entries = tuple(_entry(one) for one in head["files"])
        span = NoteSpan(device, head["epoch"], head["after"], head["to"], entries)
        return store.compare_notes(sender, span, now)
    if messages.shown(crc32(body)) != head["digest"]:
        raise Refused("a note was damaged on the way, or changed while it was sent.", DAMAGED_SECONDS)
    return [], store.put_note(sender, device, head["epoch"], head["file"], body, now, quota)


def _entry(entry: Any) -> NoteEntry:
    if not (isinstance(entry, list) and [type(value) for value in entry] == [str, int, str]):
        raise Refused("an entry of the notes has another form: the board's firmware is at fault.", UPDATE_SECONDS)
    file, size, digest = entry
    if not size:
        return NoteEntry(file, None, digest == messages.LEFT)
    try:
        return NoteEntry(file, int(digest, 16))
    except ValueError:
        raise Refused("a digest of a note is none: the board's firmware is at fault.", UPDATE_SECONDS) from None
