"""The caller of an operation, and what it may see.

A scope is "all", "user:NAME" for one principal, or "ws:ID" for a workspace. A caller in a group room sees
only "all", since others read the answer too.
"""

from collections import namedtuple

from engram import diag, text
from engram.errors import ArgumentError
from engram.memory import ALL

WORKSPACE = "ws:"
"""Prefix of a workspace's scope and of the tag that selects it, as in ws:garden."""

OPEN_TASK = "open-task"
"""Tag of memories for a person's open task, which stay theirs in a workspace too."""

NAME_BYTES = const(32)

ROOM_BYTES = const(64)
WORKSPACE_CHARS = const(29)
"""Maximum characters of a workspace id: with ws: it is a tag."""

_REFUSED = const('"\\')  # letters that a line would escape
_BESIDE = const(2)  # tags that have room beside that of a workspace
_NOTEBOOK_BYTES = const(64)  # as principal_files.py takes them: of a longer workspace, notes are their writer's
_NOT_IN = const("a tag ws:ID names a workspace, and this conversation is not in that one: leave the tag out.")
_SHARED = const("a memory that others see does not move to a workspace: store another one with that tag.")

Caller = namedtuple("Caller", "principal room group workspace")
"""A speaker: principal, room, is_group, and workspace or ""."""

OWNER = Caller("owner", "console", False, "")


def own_scope(caller: Caller) -> str:
    """Return a caller's private scope, in a group the shared one."""
    return ALL if caller.group else "user:" + caller.principal


def learned_tags(tags, caller: Caller):
    """Return learned tags plus the workspace's, if it is theirs; invalid ones stay, to be refused later."""
    if caller.group or not caller.workspace or not isinstance(tags, (list, tuple)) or OPEN_TASK in tags:
        return tags
    if any(isinstance(tag, str) and tag[:3] == WORKSPACE for tag in tags):
        return tags
    return list(tags)[:_BESIDE] + [WORKSPACE + caller.workspace]


def with_speaker(content: str, who: str, caller: Caller) -> str:
    """Return a content of a group with who said it: there "my" may be anybody's."""
    is_open = caller.group and not content.startswith(who + ":")
    return "%s: %s" % (who, content) if is_open else content


def notebook_of(caller: Caller) -> str:
    """Return a caller's notebook: their workspace's, such as "ws:garden", or their own."""
    name = WORKSPACE + caller.workspace
    return name if caller.workspace and len(name.encode()) <= _NOTEBOOK_BYTES else caller.principal


def notebook_reader(notebook: str) -> Caller:
    """Return the caller who reads a notebook in the background."""
    if notebook[:3] == WORKSPACE:
        return Caller("", "", False, notebook[3:])
    return Caller(notebook, "", False, "")


def labels(caller: Caller) -> tuple:
    """Return the labels of the scopes that a caller may see."""
    if caller.group:
        return ("@" + ALL,)
    if caller.workspace:
        return ("@" + ALL, "@user:" + caller.principal, "@" + WORKSPACE + caller.workspace)
    return ("@" + ALL, "@user:" + caller.principal)


def may_see(caller: Caller, scope: str) -> bool:
    """True if a caller may see a scope."""
    return "@" + scope in labels(caller)


def may_see_line(caller: Caller, line: dict) -> bool:
    return may_see(caller, line.get("scope", ALL))


def is_shown(caller: Caller, line: dict) -> bool:
    scope = line.get("scope", ALL)
    if may_see(caller, scope):
        return True
    diag.info("scope", "what %s may see was not shown to %s" % (scope, own_scope(caller)))
    return False


def scope_of_tags(tags) -> str:
    found = [tag for tag in tags if tag.startswith(WORKSPACE)]
    if len(found) > 1 or WORKSPACE in found:
        raise ArgumentError("tags", "may name one workspace, such as ws:garden.")
    return found[0] if found else ""


def scope_of_new(tags, caller: Caller) -> str:
    """Return a new record's scope by its tags; ArgumentError if the caller may not write there."""
    wanted = scope_of_tags(tags)
    if wanted and not may_see(caller, wanted):
        raise ArgumentError("tags", _NOT_IN)
    return wanted or own_scope(caller)


def scope_of_import(scope: str, tags, caller: Caller) -> str:
    """Return an imported record's scope for a caller who is not the owner."""
    if scope[:3] == WORKSPACE:
        return scope_of_new((scope,), caller)
    return own_scope(caller) if scope[:5] == "user:" else scope_of_new(tags, caller)


def scope_of_change(record: dict, tags, caller: Caller) -> str:
    """Return a changed record's scope: a private one may move to a workspace and stays there."""
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
    """True for the owner alone, outside groups."""
    return caller.principal == OWNER.principal and not caller.group


def fields_of(caller: Caller) -> dict:
    """Return the fields that a row has of its caller."""
    group, workspace = caller.group or None, caller.workspace or None
    return {"who": caller.principal, "room": caller.room, "group": group, "workspace": workspace}


def caller_of(row: dict) -> Caller:
    """Return the Caller that fields_of() keeps."""
    return Caller(row["who"], row["room"], bool(row.get("group")), row.get("workspace") or "")


def turn_principal(turn: dict) -> Caller:
    """Return the caller who said a turn, as far as visibility is concerned."""
    scope = turn.get("scope", ALL)
    if scope == ALL:
        return Caller(turn["who"], "", True, "")
    return Caller(scope.partition(":")[2], "", False, turn.get("workspace", ""))


# --- what comes from outside is checked: a name becomes part of labels, of files and of lines on flash


def check_caller(caller: Caller) -> Caller:
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
    """Return a workspace id; ArgumentError."""
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
    return text.printable(value) == value and not any(letter in _REFUSED or letter < " " for letter in value)


def tag(value: str) -> str:
    """Return a tag in lower case, without "#" and ",", words joined by "-"."""
    # bytes.lower is ASCII only on every runtime; str.lower is not.
    return "-".join(text.encode(value).lower().decode().replace("#", " ").replace(",", " ").split())
