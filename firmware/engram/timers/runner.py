"""Reports timers that are due: says a text, asks the agent, or calls a tool.

    say    the text is in the journal, with the id of the due moment; then the row has its next moment
    ask    the same of the agent's reply
    tool   the row says that the tool is being called, and has its next moment; after the call that mark goes

The journal keeps an id once. So where the power fails between the two, the moment is still due, and found to be reported.
Nobody knows of a call that the power cut whether it was carried out: it is not repeated, and the person reads that.
"""

from engram import diag
from engram.clock import duration
from engram.compat import const
from engram.errors import EngramError
from engram.interrupt import start_task
from engram.timers import schedule
from engram.timers.timer_store import caller_of

_LATE_S = const(120)  # after which a text says when it was due
_LATE_CALL_S = const(600)  # after which a tool is not called any more: a pump that starts hours later does harm
_PIECE = const(200)  # characters of what a tool answers

_UNSURE_CALL = const("%s was under way when the power failed: look whether it was carried out")
_LATE_CALL = const("%s was due %s, %s ago, and was not carried out")


class TimerRunner:
    """Reports what is due of some Timers, in the chats of an inbox; `turns` asks the agent.

    call(name, arguments, caller, is_confirmed) calls a tool: (True if it went well, what it answered).
    """

    def __init__(self, timers, inbox, journal, turns, call):
        self._timers = timers
        self._inbox = inbox
        self._journal = journal
        self._turns = turns
        self._call_tool = call
        self._task = None  # what calls a tool or asks the agent: that may take minutes
        self._busy = ""  # the id of that timer

    @property
    def is_busy(self) -> bool:
        """True while a tool is called or the agent asked."""
        return self._busy != ""

    async def finish(self) -> None:
        """Raise what ended a task that is over, if it was an error of the code."""
        if self._task and not self._busy:
            task, self._task = self._task, None
            await task

    def stop(self) -> None:
        """End what is under way: the app ends."""
        if self._task:
            self._task.cancel()

    def push(self, caller, content: str, mid: str) -> None:
        """Say something in a chat beside a turn, which goes on if that cannot be kept."""
        try:
            self._inbox.push(caller, content, mid)
        except (EngramError, MemoryError) as error:
            diag.warning("timers", "a reminder for %s: %s" % (caller.room, error))

    def run_one(self, ref: str, now: int) -> bool:
        """Run a timer that is due; True if that is done, or under way."""
        row = self._timers.table.get(ref)
        if row is None or ref == self._busy:
            return True
        caller = caller_of(row)
        may_push = self._inbox.deliveries.may_push(caller)
        if may_push is None:
            return False
        due = row.get("calling") or schedule.newest(row, self._timers.clock, row["due"], now)
        if not may_push:
            where = row["id"], row["room"]
            diag.warning("timers", "%s is over for now: who set it in %s is not let in any more" % where)
        elif not self._is_reported(row, due, now):
            return self._begin(row, caller, due, now)
        self._advance(row, due, now)
        return True

    def _is_reported(self, row: dict, due: int, now: int) -> bool:
        # The latter after a clock that was wrong for a while.
        is_known = self._journal.seen.find(_mid(row, due)) is not None
        return is_known or (due <= row.get("last", 0) <= now and "calling" not in row)

    def _begin(self, row: dict, caller, due: int, now: int) -> bool:
        """As run_one()."""
        is_late = now - due > _LATE_CALL_S
        if row["kind"] == "say":
            self._say(row, caller, due, now, "reminder: " + row["what"])
        elif "calling" in row:
            self._say(row, caller, due, now, _UNSURE_CALL % row["what"])
        elif row["kind"] == "tool" and is_late:
            self._say(row, caller, due, now, _LATE_CALL % ((row["what"],) + self._age(due, now)))
        elif self._busy:
            return False  # one after the other: the end of that one looks again
        else:
            self._busy = row["id"]
            work = self._ask if row["kind"] == "ask" else self._call
            self._task = start_task(self._run, work, row, caller, due, now)
        return True

    def _say(self, row: dict, caller, due: int, now: int, content: str, calls=None) -> None:
        if now - due > _LATE_S and row["kind"] == "say":
            content += ", was due %s, %s ago" % self._age(due, now)
        self._inbox.push(caller, "%s (%s)" % (content, row["id"]), _mid(row, due))
        self._advance(row, due, now, calls)

    def _age(self, due: int, now: int) -> tuple:
        return schedule.moment_name(self._timers.clock, due), duration(now - due)

    def _advance(self, row: dict, due: int, now: int, calls=None) -> None:
        """Note that a moment is reported: the timer waits for its next one, or leaves."""
        new = dict(row)
        following = schedule.next_after(row, self._timers.clock, max(due, now))
        new.update({"due": following, "last": due, "calling": None, "calls": calls or row.get("calls")})
        self._timers.table.change({row["id"]: new if following else None})

    # --- what may take long

    async def _run(self, work, *arguments) -> None:
        try:
            await work(*arguments)
        except (EngramError, MemoryError) as error:
            diag.warning("timers", "%s is done later: %s" % (self._busy, error))
        finally:
            self._busy = ""
            self._timers.wake()

    async def _call(self, row: dict, caller, due: int, now: int) -> None:
        """Call a tool once."""
        marked = dict(row)
        marked.update({"due": schedule.next_after(row, self._timers.clock, now), "calling": due})
        self._timers.table.change({row["id"]: marked})
        name, _, arguments = row["what"].partition(" ")
        is_ok, answer = await self._call_tool(name, arguments, caller, "yes" in row)
        if self._timers.table.get(row["id"]) is None:
            return  # removed meanwhile
        if is_ok:
            self._advance(marked, due, now)
        else:
            self._say(marked, caller, due, now, "%s failed: %s" % (row["what"], answer[:_PIECE]))

    async def _ask(self, row: dict, caller, due: int, now: int) -> None:
        """Ask the agent, as a turn of the person who set the timer; the reply is delivered as what is said is."""
        day = self._timers.clock.day_number(now)
        left, used = self._turns.budget(row, day)
        problem = self._turns.refusal(left)
        if problem:
            self._say(row, caller, due, now, "could not ask: %s; %s" % (row["what"], problem))
            return
        # Before they are made: those that a power cut ends count too.
        spending = dict(row)
        spending["calls"] = [day, used + left]
        self._timers.table.change({row["id"]: spending})
        late = "(was due %s, %s ago) " % self._age(due, now) if now - due > _LATE_S else ""
        seq, problem, spent = await self._turns.run(caller, row["what"], _mid(row, due), late, left)
        calls = [day, used + spent]
        if seq:
            self._advance(row, due, now, calls)
        else:
            self._say(row, caller, due, now, "could not answer: %s; %s" % (row["what"], problem), calls)


def _mid(row: dict, due: int) -> str:
    """The id of what is said of a due moment."""
    return "timer:%s:%d" % (row["id"], due)
