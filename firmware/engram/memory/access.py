"""The caller of an operation, and what it may see.

A scope is "all", "user:NAME" for one principal, or "ws:ID" for a workspace. Who asks in a group room sees only "all",
since the others in the room read the answer too.
"""

from collections import namedtuple

from engram import diag, text
from engram.compat import const
from engram.errors import ArgumentError
from engram.memory import ALL

WORKSPACE = "ws:"
"""The beginning of the scope of a workspace, and the tag that puts a record there: a record tagged ws:garden has that scope."""

NAME_BYTES = const(32)
"""The longest name of a principal: those of all sessions stand in one line, and a file's name has three letters for a byte."""

ROOM_BYTES = const(64)
WORKSPACE_CHARS = const(29)
"""The longest id of a workspace: with ws: before it it is a tag."""

_REFUSED = const('"\\')  # letters that a line would escape
_BESIDE = const(2)  # tags that have room beside that of a workspace
_NOTEBOOK_BYTES = const(64)  # as principal_files.py takes them: of a longer workspace, notes are their writer's
_NOT_IN = const("a tag ws:ID names a workspace, and this conversation is not in that one: leave the tag out.")
_SHARED = const("a memory that others see does not move to a workspace: store another one with that tag.")

Caller = namedtuple("Caller", "principal room group workspace")
"""Somebody who speaks: the principal's name, the room (a channel's name with what tells its rooms apart), if it is a group, and
the workspace that the conversation is in, "" for none."""

OWNER = Caller("owner", "console", False, "")
"""The person at the console."""


def own_scope(caller: Caller) -> str:
    """The private scope of a caller, in a group what everybody sees."""
    return ALL if caller.group else "user:" + caller.principal


def learned_tags(tags, caller: Caller):
    """The tags of what the board itself keeps of a conversation: in a workspace it belongs there.

    Tags that a model proposed may be no texts: those stay as they are, to be refused.
    """
    if caller.group or not caller.workspace or not isinstance(tags, (list, tuple)):
        return tags
    if any(isinstance(tag, str) and tag[:3] == WORKSPACE for tag in tags):
        return tags
    return list(tags)[:_BESIDE] + [WORKSPACE + caller.workspace]


def notebook_of(caller: Caller) -> str:
    """Return the notebook of a caller: that of the workspace that they are in, such as "ws:garden", or their own, "ann"."""
    name = WORKSPACE + caller.workspace
    return name if caller.workspace and len(name.encode()) <= _NOTEBOOK_BYTES else caller.principal


def notebook_reader(notebook: str) -> Caller:
    """The caller for whom a notebook is read in the background."""
    if notebook[:3] == WORKSPACE:
        return Caller("", "", False, notebook[3:])
    return Caller(notebook, "", False, "")


def notebook_scope(notebook: str) -> str:
    """The scope of those who see the notes of a notebook."""
    return notebook if notebook[:3] == WORKSPACE else "user:" + notebook


def labels(caller: Caller) -> tuple:
    """The labels of the scopes that this caller may see."""
    if caller.group:
        return ("@" + ALL,)
    if caller.workspace:
        return ("@" + ALL, "@user:" + caller.principal, "@" + WORKSPACE + caller.workspace)
    return ("@" + ALL, "@user:" + caller.principal)


def may_see(caller: Caller, scope: str) -> bool:
    """True if what has this scope may be shown to this caller."""
    return "@" + scope in labels(caller)


def may_see_line(caller: Caller, line: dict) -> bool:
    """True if a line of a log, a record or a turn, may be shown to this caller."""
    return may_see(caller, line.get("scope", ALL))


def is_shown(caller: Caller, line: dict) -> bool:
    """As may_see_line(), of what was asked for: that it is not shown is noted with its scope, never with the text."""
    scope = line.get("scope", ALL)
    if may_see(caller, scope):
        return True
    diag.info("scope", "what %s may see was not shown to %s" % (scope, own_scope(caller)))
    return False


def scope_of_tags(tags) -> str:
    """The workspace's scope that tags name, "" if they name none."""
    found = [tag for tag in tags if tag.startswith(WORKSPACE)]
    if len(found) > 1 or WORKSPACE in found:
        raise ArgumentError("tags", "may name one workspace, such as ws:garden.")
    return found[0] if found else ""


def scope_of_new(tags, caller: Caller) -> str:
    """The scope of a record with these tags that this caller tells; ArgumentError if they may not write there."""
    wanted = scope_of_tags(tags)
    if wanted and not may_see(caller, wanted):
        raise ArgumentError("tags", _NOT_IN)
    return wanted or own_scope(caller)


def scope_of_import(scope: str, tags, caller: Caller) -> str:
    """The scope of a record that this caller, who is not the owner, brings in, and that had `scope` elsewhere."""
    if scope[:3] == WORKSPACE:
        return scope_of_new((scope,), caller)
    return own_scope(caller) if scope[:5] == "user:" else scope_of_new(tags, caller)


def scope_of_change(record: dict, tags, caller: Caller) -> str:
    """The scope of a record whose tags are changed to these: a private one may go to a workspace, and stays there."""
    scope = record.get("scope", ALL)
    wanted = scope_of_tags(tags)
    if not wanted or wanted == scope or wanted in record.get("tags", ()):
        return scope
    if not may_see(caller, wanted):
        raise ArgumentError("tags", _NOT_IN)
    if scope != own_scope(caller):
        raise ArgumentError("tags", _SHARED)
    return wanted


def is_owner(caller: Caller) -> bool:
    """True if this is the owner, where nobody else reads along."""
    return caller.principal == OWNER.principal and not caller.group


def turn_principal(turn: dict) -> Caller:
    """The caller who said a turn of the journal, as far as the turn says what they may see."""
    scope = turn.get("scope", ALL)
    if scope == ALL:
        return Caller(turn["who"], "", True, "")
    return Caller(scope.partition(":")[2], "", False, turn.get("workspace", ""))


# --- what comes from outside is checked: a name becomes part of labels, of files and of lines on flash


def caller_of_channel(who, room="", group=False, workspace="") -> Caller:
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
        check_workspace("workspace", caller.workspace)
    return caller


def check_workspace(argument: str, value) -> str:
    """The id of a workspace; ArgumentError if it is none."""
    if not isinstance(value, str) or not 0 < len(value) <= WORKSPACE_CHARS or not _is_tag(WORKSPACE + value):
        problem = "must be the id of a workspace: at most %d characters, in lower case, without spaces, # and commas."
        raise ArgumentError(argument, problem % WORKSPACE_CHARS)
    return value


def _is_tag(value: str) -> bool:
    return text.is_valid(value) and text.printable(value) == value and tag(value) == value


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


def tag(value: str) -> str:
    """A tag in its one form: ASCII letters in lower case, without "#" and ",", words joined by "-"."""
    # bytes.lower is ASCII only on every runtime; str.lower is not.
    return "-".join(text.encode(value).lower().decode().replace("#", " ").replace(",", " ").split())
