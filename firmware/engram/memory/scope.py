"""Who asks, and what they may see.

A scope is "all", "user:NAME" for one principal, or "ws:ID" for a workspace. Who asks in a group room sees only "all",
since the others in the room read the answer too.
"""

from collections import namedtuple

ALL = "all"
WORKSPACE = "ws:"
"""How the scope of a workspace begins, and the tag that puts a record there."""

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


def is_owner(asker: Asker) -> bool:
    """Whether this is the owner, where nobody else reads along."""
    return asker.principal == OWNER.principal and not asker.group


def teller(turn: dict) -> Asker:
    """Who told a turn of the journal, as far as it says what they may see."""
    told = turn.get("scope", ALL)
    if told == ALL:
        return Asker(turn["who"], "", True, "")
    return Asker(told.partition(":")[2], "", False, turn.get("workspace", ""))
