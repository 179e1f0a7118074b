"""The commands about who talks, where, and in which thread: /session, /workspace, /profile and /intents."""

from engram.channels.console.commands.commands import count_of
from engram.errors import ArgumentError
from engram.memory import caller_check
from engram.memory.access import OWNER


def session_command(board, caller, rest: str):
    """Begin, list, switch or delete sessions."""
    journal, clock = board.journal, board.clock
    what, _, more = rest.partition(" ")
    more = more.strip()
    if what == "new":
        before = journal.sessions(caller)
        yield "session %s begins" % journal.begin(caller, more)
        now = [session.id for session in journal.sessions(caller)]
        for session in before:
            if session.id not in now:
                yield "%s left the list of sessions (session.live); its turns are still found" % session.id
    elif what == "switch":
        yield "on with " + _row(journal, clock, caller, journal.switch(caller, more))
    elif what == "delete":
        session = journal.delete(caller, more)
        turns = count_of(session.turns, "turn", "turns")
        yield "deleted %s with %s; /compact takes them off the flash" % (session.id, turns)
    elif what in ("", "list"):
        found = journal.sessions(caller)
        if not what:
            found = [session for session in found if session.id == journal.current(caller)]
        for session in found:
            yield _row(journal, clock, caller, session)
        if not found:
            yield "no session yet; the first message begins one"
    else:
        raise ArgumentError("/session", "takes new [TITLE], list, switch ID or delete ID.")


def _row(journal, clock, caller, session) -> str:
    mark = "*" if session.id == journal.current(caller) else " "
    shown = (mark, session.id, session.turns, clock.minute(session.at), session.title)
    return "%s %-6s %4d turns  %s  %s" % shown


def workspace_command(board, caller, rest: str):
    """Show the workspace, enter one or leave it: the owner's; for all others their channel says it."""
    present = caller.workspace
    if rest:
        if (caller.principal, caller.room) != OWNER[:2]:
            raise ArgumentError("/workspace", "is set by the channel here: only the owner changes it, on the console.")
        present = "" if rest == "off" else caller_check.workspace("/workspace", rest)
        board.config.save("console.workspace", present)
    if present:
        yield "in the workspace %s: a memory tagged ws:%s is for all who are in it" % (present, present)
    else:
        yield "in no workspace"


def profile_command(board, caller, rest: str):
    """Show or edit the profile."""
    if caller.group:
        raise ArgumentError("/profile", "is private and stays out of group rooms.")
    keeper = board.profile.for_caller(caller)
    name, _, more = rest.partition(" ")
    action, _, content = more.partition(" ")
    content = content.strip()
    if not action:
        for each in keeper.names() if not name else (name,):
            yield "--- " + each
            yield keeper.text(each).strip()
            over = keeper.overlong(each)
            if over:
                yield "! its last %d characters are over profile.chars: the model does not see them" % over
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
    yield "%s is changed (/undo takes it back):" % name
    yield keeper.text(name).strip()


def intents_command(board, caller, rest: str):
    """List the caller's intents, or remove one."""
    reminders = board.intents
    action, _, ref = rest.partition(" ")
    if action == "remove" and ref:
        gone = reminders.remove(caller, ref)
        again = (gone["id"], gone["when"], gone["remind"])
        yield "removed %s; to have it again, say: when I mention %s, remind me: %s" % again
        return
    if action not in ("", "list") or ref:
        raise ArgumentError("/intents", "takes list or remove ID.")
    found = False
    for fields in reminders.owned_by(caller):
        found = True
        yield "%-4s %s -> %s" % (fields["id"], fields["when"], fields["remind"])
        yield "     " + _times(board.clock, fields)
    if not found:
        yield "there are none; say: when the paint shop comes up, remind me to buy brushes"
    if not reminders.is_on:
        yield "they are switched off (intents.on)"


def _times(clock, fields: dict) -> str:
    last = "not reminded yet"
    if fields.get("fired"):
        last = "reminded %s, last %s" % (count_of(fields["fired"], "time", "times"), clock.minute(fields["last"]))
    return "%s; until %s" % (last, clock.day(fields["expires"]))
