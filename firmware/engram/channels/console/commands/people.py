"""The commands about people on networks: /pair and /people."""

from engram.channels.console.commands import only_owner
from engram.channels.people import CODE_SECONDS, LET_IN, room_of
from engram.clock import duration
from engram.compat import const
from engram.errors import ArgumentError
from engram.memory.access import OWNER, Caller

_WHO_SAYS = ", who says %s"
_OFFER = const("/people owner %s makes them the owner, if it is you: with the same memory as on the console")
_USAGE = const("takes what /help people lists; MODE is mention, always or off.")


def pair_command(board, caller, rest: str):
    only_owner(caller, "/pair")
    if not rest:
        raise ArgumentError("/pair", "needs the code that the other person was sent.")
    people = board.find_people()
    ref, _, name = rest.partition(" ")
    stranger = people.stranger(ref)
    person = people.approve(ref, name.strip())
    yield _row(person) + (_WHO_SAYS % stranger[2] if stranger and stranger[2] and not name else "")
    if stranger:
        network, _, sender = stranger[1].partition(":")
        board.inbox.deliveries.push(Caller(person["who"], room_of(network, sender), False, ""), LET_IN)
    if not people.has_owner():
        yield _OFFER % person["who"]


def people_command(board, caller, rest: str):
    only_owner(caller, "/people")
    people = board.find_people()
    what, _, more = rest.partition(" ")
    who, _, value = more.strip().partition(" ")
    value = value.strip()
    if what in ("", "list"):
        yield from _list(people, board.clock)
    elif what == "group" and value:
        people.set_group(who, value)
        yield "%s: %s" % (who, value)
    elif what == "link" and value:
        yield _row(people.link(who, value))
    elif what == "owner" and who and not value:
        yield _row(people.link(OWNER.principal, who))
    elif what == "block" and who and not value:
        yield _row(people.block(who))
    elif what == "remove" and who and not value:
        yield "removed %s; their memories stay" % people.remove(who)["who"]
    else:
        raise ArgumentError("/people", _USAGE)


def _list(people, clock):
    for person in people.people:
        yield _row(person)
    for ref, mode in people.groups.items():
        yield "group %s: %s" % (ref, mode)
    now = clock.now()
    for code, ref, name, since in people.waiting():
        left = duration(CODE_SECONDS - (now - since))
        yield "waiting: /pair %s lets in %s%s (%s left)" % (code, ref, _WHO_SAYS % name if name else "", left)
    if not (people.people or people.groups or people.waiting()):
        yield "nobody yet; with the policy pairing somebody who writes to the board is sent a code for /pair"


def _row(person: dict) -> str:
    blocked = ", blocked" if person.get("blocked") else ""
    return "%s: %s%s" % (person["who"], ", ".join(person["ids"]), blocked)
