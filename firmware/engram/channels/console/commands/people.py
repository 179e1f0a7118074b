"""The commands about people and their conversations: /pair, /people, /session and /profile."""

from engram.channels.console.commands import count_of, only_owner
from engram.channels.people import CODE_SECONDS, LET_IN, room_of
from engram.clock import duration
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


def session_command(board, caller, rest: str):
    journal = board.journal
    what, _, more = rest.partition(" ")
    more = more.strip()
    if what == "new":
        sid = journal.begin(caller, more)
        yield "session %s begins%s" % (sid, journal.unkept.end(caller))
    elif what == "switch":
        session = journal.switch(caller, more)
        yield "now in %s%s" % (_session_row(board, caller, session), journal.unkept.end(caller))
    elif what == "delete":
        session = journal.delete(caller, more)
        turns = count_of(session.turns, "turn", "turns")
        yield "deleted %s with %s; /compact takes them off the flash" % (session.id, turns)
    elif what in ("", "list"):
        current = journal.current(caller)
        found = [session for session in journal.sessions(caller) if what or session.id == current]
        for session in found:
            yield _session_row(board, caller, session)
        if not found:
            yield "no session yet; the first message begins one"
    else:
        raise ArgumentError("/session", "takes new [TITLE], list, switch ID or delete ID.")


def _session_row(board, caller, session) -> str:
    mark = "*" if session.id == board.journal.current(caller) else " "
    turns = count_of(session.turns, "turn", "turns")
    return "%s %-6s %10s  %s  %s" % (mark, session.id, turns, board.clock.minute(session.at), session.title)


def profile_command(board, caller, rest: str):
    if caller.group:
        raise ArgumentError("/profile", "is private and stays out of group rooms.")
    keeper = board.profile.for_caller(caller)
    name, _, more = rest.partition(" ")
    action, _, content = more.partition(" ")
    content = content.strip()
    if not action:
        for each in keeper.names() if not name else (name,):
            content = keeper.text(each).strip()
            yield "--- " + each
            yield content
            over = keeper.overlong(each)
            if over:
                yield "! too long: the model does not see the last %d characters" % over
        return
    if action == "add":
        keeper.append(name, content)
    elif action == "write":
        keeper.write(name, content + "\n" if content else "")
    elif action == "replace" and " => " in content:
        old, _, new = content.partition(" => ")
        keeper.replace(name, old, new)
    else:
        raise ArgumentError("/profile", "FILE takes add TEXT, write TEXT or replace OLD => NEW.")
    yield "%s is changed (/undo undoes it):" % name
    yield keeper.text(name).strip()
