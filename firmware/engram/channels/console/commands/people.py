"""The commands about who may talk through a network: /pair and /people."""

from engram.channels.console.commands import count_of, only_owner
from engram.compat import const
from engram.errors import ArgumentError

_WHO_SAYS = ", who says %s"
_OFFER = const("/people owner %s makes them the owner, if it is you: with the same memory as on the console")
_USAGE = const("takes what /help people lists; MODE is mention, always or off.")


def pair_command(board, caller, rest: str):
    """Let somebody talk who has a code."""
    only_owner(caller, "/pair")
    if not rest:
        raise ArgumentError("/pair", "needs the code that the other person was sent.")
    yield from _approve(board.find_people(), rest)


def people_command(board, caller, rest: str):
    """Show or change who may talk."""
    only_owner(caller, "/people")
    people = board.find_people()
    what, _, more = rest.partition(" ")
    who, _, value = more.strip().partition(" ")
    value = value.strip()
    if what in ("", "list"):
        yield from _list(people, board.clock)
    elif what == "approve" and who:
        yield from _approve(people, more.strip())
    elif what == "group" and value:
        people.set_group(who, value)
        yield "%s: %s" % (who, value)
    elif what in ("rename", "link") and value:
        yield _row(people.rename(who, value) if what == "rename" else people.link(who, value))
    elif what in ("block", "remove", "owner") and who and not value:
        change = {"block": people.block, "remove": people.remove, "owner": people.make_owner}[what]
        person = change(who)
        yield "removed %s; their memories stay" % person["who"] if what == "remove" else _row(person)
    else:
        raise ArgumentError("/people", _USAGE)


def _approve(people, rest: str):
    ref, _, name = rest.partition(" ")
    stranger = people.stranger(ref)
    person = people.approve(ref, name.strip())
    yield _row(person) + (_WHO_SAYS % stranger[2] if stranger and stranger[2] and not name else "")
    if not people.has_owner():
        yield _OFFER % person["who"]


def _list(people, clock):
    for person in people.people:
        yield _row(person)
    for ref, mode in people.groups.items():
        yield "group %s: %s" % (ref, mode)
    now = clock.now()
    for code, ref, name, since in people.waiting():
        minutes = count_of(60 - (now - since) // 60, "minute", "minutes")
        yield "waiting: /pair %s lets in %s%s (%s left)" % (code, ref, _WHO_SAYS % name if name else "", minutes)
    if not (people.people or people.groups or people.waiting()):
        yield "nobody yet; with the policy pairing somebody who writes to the board is sent a code for /pair"


def _row(person: dict) -> str:
    name = " (%s)" % person["name"] if person["name"] not in ("", person["who"]) else ""
    blocked = ", blocked" if person.get("blocked") else ""
    return "%s%s: %s%s" % (person["who"], name, ", ".join(person["ids"]), blocked)
