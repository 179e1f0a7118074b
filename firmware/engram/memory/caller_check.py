"""Makes a Caller from a channel's fields: checked, since a name becomes part of labels, of files and of lines on flash."""

from engram import text
from engram.compat import const
from engram.errors import ArgumentError
from engram.memory.access import OWNER, WORKSPACE, Caller
from engram.memory.records import fields

NAME_BYTES = const(32)
"""The longest name of a principal: those of all sessions stand in one line, and a file's name has three letters for a byte."""

ROOM_BYTES = const(64)
WORKSPACE_CHARS = const(29)
"""The longest id of a workspace: with ws: before it it is a tag."""

_REFUSED = const('"\\')  # letters that a line would escape


def of_channel(who, room="", group=False, workspace="") -> Caller:
    """The caller that a channel names; ArgumentError says what would be right. The owner speaks on the console only."""
    if who == OWNER.principal:
        raise ArgumentError("who", "cannot be %s, who speaks on the console: leave it out there." % OWNER.principal)
    if group and not room:
        raise ArgumentError("room", "is needed for a group.")
    return check_caller(Caller(who, room or "direct", group, workspace))


def check_caller(caller: Caller) -> Caller:
    """The caller, if all of it may be stored; ArgumentError if not."""
    _check_name("who", caller.principal, NAME_BYTES)
    if caller.principal[:3] == WORKSPACE:
        raise ArgumentError("who", "must not begin with %s, which names a workspace." % WORKSPACE)
    _check_name("room", caller.room, ROOM_BYTES)
    if not isinstance(caller.group, bool):
        raise ArgumentError("group", "must be true or false.")
    if caller.workspace != "":
        workspace("workspace", caller.workspace)
    return caller


def workspace(argument: str, value) -> str:
    """The id of a workspace; ArgumentError if it is none."""
    if not isinstance(value, str) or not 0 < len(value) <= WORKSPACE_CHARS or not _is_tag(WORKSPACE + value):
        problem = "must be the id of a workspace: at most %d characters, in lower case, without spaces, # and commas."
        raise ArgumentError(argument, problem % WORKSPACE_CHARS)
    return value


def _is_tag(value: str) -> bool:
    return text.is_valid(value) and text.printable(value) == value and fields.tag(value) == value


def _check_name(argument: str, value, most: int) -> None:
    if not isinstance(value, str) or not value or value != value.strip() or not _is_plain(value):
        problem = "must be a name without control characters, quotes and backslashes, and without spaces around it."
        raise ArgumentError(argument, problem)
    size = len(text.encode(value))
    if size > most:
        raise ArgumentError(argument, "has %d bytes, at most %d are taken: give a shorter one." % (size, most))


def _is_plain(value: str) -> bool:
    for letter in value:
        if letter in _REFUSED or letter < " ":
            return False
    return text.printable(value) == value
