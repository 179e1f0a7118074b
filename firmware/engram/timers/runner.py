"""Reports timers that are due: says a text, asks the agent, or calls a tool.

    say         the text is in the journal, with the id of the due moment; then the row has its next moment
    ask, tool   the row says that this is under way, and has its next moment; once it is over that mark goes

The journal keeps an id once. So where the power fails between the two, the moment is still due, and found to be reported.
Nobody knows of what the power cut whether it was carried out: it is not repeated, and the person reads that.
"""

from engram import diag, text
from engram.agent.agent import Origin, Sink
from engram.clock import duration
from engram.errors import EngramError
from engram.interrupt import start_task
from engram.memory.access import caller_of
from engram.timers import timer_store

_LATE_S = const(120)  # after which a text says when it was due
_LATE_CALL_S = const(600)  # after which a tool is not called any more: a pump that starts hours later does harm
_PIECE = const(200)  # characters of what a tool answers

_BROKEN_OFF = const("%s was broken off: look whether it was carried out")
_NO_ANSWER = const("could not answer: %s; %s")
_LATE_CALL = const("%s was due %s, %s ago, and was not carried out")


class _Notices(Sink):
    """A timer turn's notices, delivered with its reply."""

    may_exceed_queue = True

    def __init__(self):
        self.lines = ""

    async def notice(self, line: str) -> None:
        self.lines += "· " + line + "\n"


class _TimerOrigin(Origin):
    """The origin of a timer's turn, whose reply is saved once by `mid`."""

    def __init__(self, mid: str, head: str, deliveries):
        super().__init__()
        self.is_said = self.is_new = False
        self.notices = _Notices()
        self.reply = 0
        self._id = mid
        self._head = head
        self._deliveries = deliveries

    def keep(self, journal, caller, content: str, command: bool) -> int:
        return journal.add(caller, "user", caller.principal, content, command=True, mid=self._id + ":turn")

    def keep_reply(self, journal, caller, content: str, *, cut: bool, command: bool, answers: int) -> None:
        content = self.notices.lines + self._head + content
        self.reply = self._deliveries.keep(caller, content, cut, answers, self._id)


class TimerRunner:
    """A runner of due Timers, by an `agent` and a `toolbox`."""

    def __init__(self, timers, deliveries, journal, *, agent, toolbox):
        self._timers = timers
        self._deliveries = deliveries
        self._journal = journal
        self._agent = agent
        self.toolbox = toolbox
        self._task = None  # what calls a tool or asks the agent: that may take minutes
        self._busy = ""  # the id of that timer

    async def finish(self) -> None:
        """Raise the unexpected error of an ended task."""
        if self._task and not self._busy:
            task, self._task = self._task, None
            await task

    def stop(self) -> None:
        """Cancel the running work at the end of the app."""
        if self._task:
            self._task.cancel()

    def run_one(self, ref: str, now: int) -> bool:
        """Run a due timer; True if it is done or running."""
        row = self._timers.table.get(ref)
        if row is None or ref == self._busy:
            return True
        caller = caller_of(row)
        may_push = self._deliveries.may_push(caller)
        if may_push is None:
            return False
        due = row.get("calling") or timer_store.newest(row, self._timers.clock, now)
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
        is_late = now - due > _LATE_CALL_S
        if row["kind"] == "say":
            self._say(row, caller, due, now, "reminder: " + row["what"])
        elif "calling" in row:
            self._say(row, caller, due, now, _BROKEN_OFF % row["what"])
        elif row["kind"] == "tool" and is_late:
            self._say(row, caller, due, now, _LATE_CALL % ((row["what"],) + self._age(due, now)))
        elif self._busy:
            return False  # one after the other: the end of that one looks again
        else:
            self._busy = row["id"]
            self._task = start_task(self._run, row, caller, due, now)
        return True

    def _say(self, row: dict, caller, due: int, now: int, content: str) -> None:
        if now - due > _LATE_S and row["kind"] == "say":
            content += ", was due %s, %s ago" % self._age(due, now)
        self._deliveries.push(caller, "%s (%s)" % (content, row["id"]), _mid(row, due))
        self._advance(row, due, now)

    def _age(self, due: int, now: int) -> tuple:
        return timer_store.moment_name(self._timers.clock, due), duration(now - due)

    def _advance(self, row: dict, due: int, now: int) -> None:
        new = dict(row)
        following = timer_store.next_after(row, self._timers.clock, max(due, now))
        new.update({"due": following, "last": due, "calling": None})
        self._timers.table.change({row["id"]: new if following else None})

    # --- what may take long

    async def _run(self, row: dict, caller, due: int, now: int) -> None:
        try:
            marked = dict(row)
            marked.update({"due": timer_store.next_after(row, self._timers.clock, now), "calling": due})
            self._timers.table.change({row["id"]: marked})
            problem = await (self._ask if row["kind"] == "ask" else self._call)(row, caller, due, now)
            if self._timers.table.get(row["id"]) is None:
                pass  # removed meanwhile
            elif problem:
                self._say(marked, caller, due, now, problem)
            else:
                self._advance(marked, due, now)
        except (EngramError, MemoryError) as error:
            diag.warning("timers", "%s is done later: %s" % (self._busy, error))
        finally:
            self._busy = ""
            self._timers.wake()

    async def _call(self, row: dict, caller, _due: int, _now: int) -> str:
        name, _, arguments = row["what"].partition(" ")
        is_ok, answer = await self.toolbox.call(name, text.loads(arguments), caller)  # type: ignore
        return "" if is_ok else "%s failed: %s" % (row["what"], answer[:_PIECE])

    async def _ask(self, row: dict, caller, due: int, now: int) -> str:
        """Ask the agent on behalf of the timer's owner; return the problem without a reply."""
        late = "(was due %s, %s ago) " % self._age(due, now) if now - due > _LATE_S else ""
        if self._agent.model is None:
            return _NO_ANSWER % (row["what"], "no model is set up")
        origin = _TimerOrigin(_mid(row, due), late, self._deliveries)
        outcome = await self._agent.turn(caller, row["what"], origin.notices, origin)
        if not origin.reply:
            return _NO_ANSWER % (row["what"], outcome.problem)
        self._deliveries.send(origin.reply, caller)
        return ""


def _mid(row: dict, due: int) -> str:
    return "timer:%s:%d" % (row["id"], due)
