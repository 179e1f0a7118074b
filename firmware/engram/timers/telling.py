"""Tells the timers that are due: says a text, calls a tool, asks the agent. timers.py has the order of writes to the flash."""

from engram import diag
from engram.compat import const, sleep_ms
from engram.errors import EngramError, StoreError
from engram.interrupt import start_task
from engram.timers import schedule, timer_file

_LATE_S = const(120)  # after which a text says when it was due
_LATE_CALL_S = const(600)  # after which a tool is not called any more: a pump that starts hours later does harm
_NEAR = const(256)  # lines behind a turn among which its reply is looked for
_PIECE = const(200)  # characters of what a tool answers

_UNSURE_CALL = const("%s was under way when the power failed: look whether it was carried out")
_LATE_CALL = const("%s was due %s, %s ago, and was not carried out")
_FAILED_CALL = const("%s failed: %s")
_NOT_LET_IN = const("%s is over for now: who set it in %s is not let in any more")


class Telling:
    """Tells what is due of some Timers, in the chats of an inbox; make_asking() gives what asks the agent.

    call(name, arguments, caller, is_confirmed) calls a tool: (whether it went well, what it answered).
    """

    def __init__(self, timers, inbox, journal, make_asking, call):
        self._timers = timers
        self._inbox = inbox
        self._journal = journal
        self._make_asking = make_asking
        self._call_tool = call
        self._task = None  # what calls a tool or asks the agent: that may take minutes
        self._busy = ""  # the id of that timer

    @property
    def is_busy(self) -> bool:
        """Whether a tool is called or the agent asked."""
        return self._busy != ""

    async def finish(self) -> None:
        """Raise what ended the task that is over, if it was an error of the code."""
        task, self._task = self._task, None
        if task:
            timers = self._timers
            before, timers.is_unsure = timers.is_unsure, True
            await task
            timers.is_unsure = before

    def stop(self) -> None:
        """The app ends."""
        if self._task:
            self._task.cancel()

    async def tell_due(self, now: int) -> bool:
        """Tell what is due; whether all of it is delivered, or under way. EngramError if the flash refuses."""
        timers = self._timers
        if timers.has_guess and timers.clock.known:
            timer_file.settle(timers, now)
        due = self._find_due(now)
        timers.is_unsure = False
        is_done, failure = True, None
        for at, ref, is_begun in due:
            try:
                is_told = self._tell(ref, at, now, is_begun)
            except StoreError:
                timers.is_unsure = True
                raise
            except (EngramError, MemoryError) as error:
                failure, is_told = error, False  # others are not to wait for it
            if not is_told:
                is_done = False
                # Only its mark says that it is due.
                timers.is_unsure = timers.is_unsure or is_begun
            await sleep_ms(0)
        if failure:
            timers.is_unsure = True
            raise failure
        return is_done

    def _find_due(self, now: int) -> list:
        """(the moment, the id, whether its telling was begun) of each timer that is due, in their order."""
        timers, known = self._timers, self._timers.clock.known
        found, misplaced = [], {}
        for fields in timer_file.all_of(timers):
            ref, due = fields["id"], fields["due"]
            if timers.is_unsure and "telling" in fields and ref != self._busy:
                if not self._is_told(fields):
                    found.append((fields["telling"][1], ref, True))
                    continue
                if not due:
                    timers.over.append(ref)
                    continue
            if not (known or "guess" in fields):
                continue
            if 0 < due <= now:
                found.append((due, ref, False))
            elif known and schedule.is_misplaced(fields, timers.clock, now):
                misplaced[ref] = new = dict(fields)
                new["due"] = schedule.next_after(fields, timers.clock, now)
        if misplaced:
            timer_file.change(timers, misplaced)
        found.sort()
        return found

    def _is_told(self, fields: dict) -> bool:
        """Whether the journal has what a timer's mark announces."""
        seq, due = fields["telling"]
        journal = self._journal
        if not seq or seq > journal.newest:
            return False
        line = journal.entries.line(seq)
        if line is None:
            return True  # it has left the journal since
        if line.get("to") == fields["room"]:
            return "text" not in line or line["text"].endswith("(%s)" % fields["id"])
        if line.get("mid") != turn_mid(fields["id"], due):
            return False
        for later in range(seq + 1, min(journal.newest, seq + _NEAR) + 1):
            line = journal.entries.line(later)
            if line and "to" in line and line.get("re", line.get("prev")) == seq:
                return True
        return journal.newest > seq + _NEAR

    # --- one of them

    def _tell(self, ref: str, due: int, now: int, is_begun: bool) -> bool:
        """Tell one that is due since `due`; whether it is delivered, or under way."""
        timers = self._timers
        fields = timer_file.one(timers, ref)
        if fields is None or ref == self._busy:
            return True
        if fields["kind"] != "say" and self._busy:
            return False  # one after the other: the end of that one looks again
        caller = timer_file.caller_of(fields)
        may_push = self._inbox.deliveries().may_push(caller)
        if may_push is None:
            return False
        newest = schedule.newest(fields, timers.clock, due, now)
        # After a clock that was wrong for a while.
        was_told = not is_begun and newest <= fields.get("last", 0) <= now
        if not may_push or was_told:
            if not may_push:
                diag.warning("timers", _NOT_LET_IN % (fields["id"], fields["room"]))
            self._advance(fields, newest, now, None)
            return True
        if fields["kind"] == "say":
            self._say(fields, caller, newest, now, "reminder: " + fields["what"])
        elif fields["kind"] == "ask":
            self._begin(ref, self._ask, fields, caller, newest, now)
        elif is_begun and fields["telling"][1] == newest:
            # It was called, or is too late by now.
            self._say(fields, caller, newest, now, _UNSURE_CALL % fields["what"])
        elif now - newest > _LATE_CALL_S:
            self._say(fields, caller, newest, now, _LATE_CALL % self._late(fields, newest, now))
        else:
            self._begin(ref, self._call, fields, caller, newest, now)
        return True

    def _say(self, fields: dict, caller, due: int, now: int, content: str) -> None:
        if now - due > _LATE_S and fields["kind"] == "say":
            content = "%s, was due %s, %s ago" % ((content,) + self._late(fields, due, now)[1:])
        self._advance(fields, due, now, self._journal.next_turn(caller))
        self._inbox.push(caller, "%s (%s)" % (content, fields["id"]))
        self._told(fields)

    def _late(self, fields: dict, due: int, now: int) -> tuple:
        return fields["what"], schedule.moment_name(self._timers.clock, due), schedule.duration(now - due)

    def _advance(self, fields: dict, due: int, now: int, seq, calls=None) -> None:
        """Write when a timer is due next, and what is told now: the journal's next line is to have this seq, 0 for a call of a
        tool, None for nothing.
        """
        timers = self._timers
        ref = fields["id"]
        new = dict(fields)
        new["due"] = schedule.next_after(fields, timers.clock, max(due, now))
        new["last"] = max(due, fields.get("last", 0)) if fields.get("last", 0) <= now else due
        new["telling"] = None if seq is None else [seq, due]
        new["calls"] = calls or timers.pending.get(ref) or fields.get("calls")
        is_over = seq is None and not new["due"]
        timer_file.change(timers, {ref: None if is_over else new})

    def _told(self, fields: dict) -> None:
        """What the mark announces is on flash."""
        if not schedule.repeats(fields):
            timers = self._timers
            timers.over.append(fields["id"])
            timer_file.load(timers)

    # --- what may take long

    def _begin(self, ref: str, work, *arguments) -> None:
        self._busy = ref
        self._task = start_task(self._run, work, *arguments)

    async def _run(self, work, *arguments) -> None:
        timers = self._timers
        try:
            await work(*arguments)
        except (EngramError, MemoryError) as error:
            timers.is_unsure = True
            diag.warning("timers", "%s is done later: %s" % (self._busy, error))
        finally:
            self._busy = ""
            timers.wake()

    async def _call(self, fields: dict, caller, due: int, now: int) -> None:
        """Call a tool once: where the power fails meanwhile nobody knows whether it ran, and that is said."""
        self._advance(fields, due, now, 0)
        is_ok, answer = await self._call_tool(fields["tool"], fields["arguments"], caller, "yes" in fields)
        marked = timer_file.one(self._timers, fields["id"])
        if marked is None:
            return  # removed meanwhile
        if is_ok:
            self._advance(marked, due, max(now, due), None)
        else:
            content = _FAILED_CALL % (fields["what"], answer[:_PIECE])
            self._say(marked, caller, due, now, content)

    async def _ask(self, fields: dict, caller, due: int, now: int) -> None:
        """Ask the agent, as a turn of who set the timer; the reply is kept and delivered as what is said is."""
        asking = self._make_asking()
        late = ""
        if now - due > _LATE_S:
            late = "(was due %s, %s ago) " % self._late(fields, due, now)[1:]
        mark = fields.get("telling", (0, 0))
        # The turn is in the journal already where the power failed before its answer.
        known = mark[0] if mark[1] == due and self._has_turn(fields, mark) else 0
        day = self._timers.clock.day_number(now)
        left, used = asking.left(self._timers, fields, day)
        problem = asking.refusal(left)
        if problem:
            self._say(fields, caller, due, now, "could not ask: %s; %s" % (fields["what"], problem))
            return
        mid = turn_mid(fields["id"], due)

        def keep(seq: int) -> None:
            self._timers.is_in_turn = (
                True  # from here on: before, it waits for the turn of a person, who may set timers
            )
            self._advance(fields, due, now, seq, [day, used + left])

        try:
            spent = await asking.ask(caller, fields, mid, known, keep, late, left)
        finally:
            self._timers.is_in_turn = False
        self._timers.pending[fields["id"]] = (day, used + spent)
        self._told(fields)

    def _has_turn(self, fields: dict, mark) -> bool:
        line = self._journal.entries.line(mark[0]) if 0 < mark[0] <= self._journal.newest else None
        return line is not None and line.get("mid") == turn_mid(fields["id"], mark[1]) and "text" in line


def turn_mid(ref: str, due: int) -> str:
    """The id of a timer's turn in the journal."""
    return "timer:%s:%d" % (ref, due)
