"""The packed form of a reminder, and its owner."""

from binascii import crc32
from struct import pack

from engram.compat import const
from engram.memory import access

MOST_TERMS = const(12)
"""Of one intent: with the number of intents it bounds what a message is held against."""

HEAD = "<IIIIBB"
GUESSED_LIFE = const(1)
GUESSED_LAST = const(2)


def scope_of_caller(caller) -> int:
    """Whose a caller's reminders are: the principal's, in whatever private room, or the group's room's."""
    return owner(access.own_scope(caller), room_of(caller))


def owner(scope_name: str, room: str) -> int:
    """As scope_of_caller(), of what a reminder's line says."""
    return crc32((scope_name + "\n" + room).encode())


def room_of(caller) -> str:
    """The group's room that a caller's reminders belong to, "" in private."""
    return caller.room if caller.group else ""


def belongs_to(caller, fields: dict) -> bool:
    """Whether a reminder belongs to this caller."""
    return fields["scope"] == access.own_scope(caller) and fields.get("room", "") == room_of(caller)


def term_of(term: str) -> bytes:
    """A term as it is packed."""
    return pack("<I", crc32(term.encode()))
