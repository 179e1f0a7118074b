"""The commands /session and /profile."""

from engram.channels.console.commands import count_of
from engram.errors import ArgumentError


def session_command(board, caller, rest: str):
    journal = board.journal
    what, _, more = rest.partition(" ")
    more = more.strip()
    if what == "new":
        before = journal.sessions(caller)
        yield "session %s begins" % journal.begin(caller, more)
        now = [session.id for session in journal.sessions(caller)]
        for session in before:
            if session.id not in now:
                yield "%s is no longer listed; its turns are still found" % session.id
    elif what == "switch":
        yield "now in " + _row(board, caller, journal.switch(caller, more))
    elif what == "delete":
        session = journal.delete(caller, more)
        turns = count_of(session.turns, "turn", "turns")
        yield "deleted %s with %s; /compact takes them off the flash" % (session.id, turns)
    elif what in ("", "list"):
        found = journal.sessions(caller)
        if not what:
            found = [session for session in found if session.id == journal.current(caller)]
        for session in found:
            yield _row(board, caller, session)
        if not found:
            yield "no session yet; the first message begins one"
    else:
        raise ArgumentError("/session", "takes new [TITLE], list, switch ID or delete ID.")


def _row(board, caller, session) -> str:
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
        keeper.write(name, content + "\n")
    elif action == "replace" and " => " in content:
        old, _, new = content.partition(" => ")
        keeper.replace(name, old, new)
    else:
        raise ArgumentError("/profile", "FILE takes add TEXT, write TEXT or replace OLD => NEW.")
    yield "%s is changed (/undo undoes it):" % name
    yield keeper.text(name).strip()
