"""Who asks, and what they may see.

A scope is "all", "user:NAME" for one principal, or "ws:ID" for a workspace. Who asks in a group room sees only "all",
since the others in the room read the answer too.
"""

from collections import namedtuple

from engram import diag
from engram.errors import ArgumentError
from engram.memory import ALL

WORKSPACE = "ws:"
"""How the scope of a workspace begins, and the tag that puts a record there: a record tagged ws:garden has that scope."""

_NOT_IN = "a tag ws:ID names a workspace, and this conversation is not in that one: leave the tag out."
_SHARED = "a memory that others see does not move to a workspace: store another one with that tag."

Asker = namedtuple("Asker", ("principal", "room", "group", "workspace"))
"""Who speaks: the principal's name, the room (a channel's name with what tells its rooms apart), if it is a group, and the
workspace that the conversation is in, "" for none. What comes from outside is checked by askers.py."""

OWNER = Asker("owner", "console", False, "")
"""The person at the console."""


def own(asker: Asker) -> str:
    """The scope of what this asker tells."""
    return ALL if asker.group else "user:" + asker.principal


def labels(asker: Asker) -> tuple:
    """The labels of the scopes that this asker may see."""
    if asker.group:
        return ("@" + ALL,)
    if asker.workspace:
        return ("@" + ALL, "@user:" + asker.principal, "@" + WORKSPACE + asker.workspace)
    return ("@" + ALL, "@user:" + asker.principal)


def may_see(asker: Asker, scope: str) -> bool:
    """Whether what has this scope may be shown to this asker."""
    return "@" + scope in labels(asker)


def refuse(asker: Asker, scope: str) -> None:
    """Note that what has this scope was asked for and not shown: the scope, never the text."""
    diag.info("scope", "what %s may see was not shown to %s" % (scope, own(asker)))


def of_tags(tags) -> str:
    """The workspace's scope that tags name, "" if they name none."""
    found = [tag for tag in tags if tag.startswith(WORKSPACE)]
    if len(found) > 1 or WORKSPACE in found:
        raise ArgumentError("tags", "may name one workspace, such as ws:garden.")
    return found[0] if found else ""


def of_new(tags, asker: Asker) -> str:
    """The scope of a record with these tags that this asker tells; ArgumentError if they may not write there."""
    wanted = of_tags(tags)
    if wanted and not may_see(asker, wanted):
        raise ArgumentError("tags", _NOT_IN)
    return wanted or own(asker)


def of_imported(told: str, tags, asker: Asker) -> str:
    """The scope of a record that this asker, who is not the owner, brings in, and that said `told` of itself."""
    if told[:3] == WORKSPACE:
        return of_new((told,), asker)
    return own(asker) if told[:5] == "user:" else of_new(tags, asker)


def of_changed(record: dict, tags, asker: Asker) -> str:
    """The scope of a record whose tags are changed to these: a private one may go to a workspace, and stays there."""
    scope = record.get("scope", ALL)
    wanted = of_tags(tags)
    if not wanted or wanted == scope or wanted in record.get("tags", ()):
        return scope
    if not may_see(asker, wanted):
        raise ArgumentError("tags", _NOT_IN)
    if scope != own(asker):
        raise ArgumentError("tags", _SHARED)
    return wanted


def is_owner(asker: Asker) -> bool:
    """Whether this is the owner, where nobody else reads along."""
    return asker.principal == OWNER.principal and not asker.group


def teller(turn: dict) -> Asker:
    """Who told a turn of the journal, as far as it says what they may see."""
    told = turn.get("scope", ALL)
    if told == ALL:
        return Asker(turn["who"], "", True, "")
    return Asker(told.partition(":")[2], "", False, turn.get("workspace", ""))
