"""A year of timers on one board, against a plain model: daylight saving, restarts, a clock that is not set or wrong at times.

    year(days, seed) -> Year, whose `problems` are empty if each due moment was told once

The model knows the true time and what the board can know of it. A moment is told at the first look at which the board's time
has reached it; of those that came while the board was off or its clock not set, the newest is told, with its age.
"""

import gc
import random

from board import Board
from channel import Network
from engram.clock import Zone
from engram.llm.types import Reply
from engram.memory.access import Caller
from support import let_others_run
from timed import spec

ZONE = "CET-1CEST,M3.5.0,M10.5.0/3"
START = 1790000000  # 2026-09-21 14:13 in Greenwich
SUMMER_ENDS, SUMMER_BEGINS, ENDS_AGAIN = 1792890000, 1806195600, 1824944400
"""2026-10-25, 2027-03-28 and 2027-10-31, 01:00 in Greenwich."""
MINUTE, HOUR, DAY = 60, 3600, 86400
LOOK = 300
CALLER = Caller("owner", "net 1", False, "")
GROUP = Caller("ann", "net 2", True, "")
UNSET = 1000
HOLD = 1500
"""For how long a clock is wrong."""

EVERY_DAY, WEEKDAYS, SUNDAY, TWICE = 127, 31, 64, 9
RULES = (
    ("say", "morning", 480, EVERY_DAY, 0),
    ("say", "in the gap", 150, EVERY_DAY, 0),
    ("say", "school", 435, WEEKDAYS, 0),
    ("say", "at the change", 180, SUNDAY, 0),
    ("say", "bins", 1410, TWICE, 0),
    ("say", "midnight", 0, EVERY_DAY, 0),
    ("say", "often", 0, 0, 360),
    ("ask", "what is on", 720, EVERY_DAY, 0),
    ("tool", "lamp", 1320, EVERY_DAY, 0),
)
"""kind, text, minute of the day, days of the week, minutes between two."""


class Model:
    """Answers with what it was asked."""

    name = "scripted"
    asked = 0
    rounds = 10
    no_tools = ""
    work = "thinking"

    async def stream(self, request, on_text, on_retry=None):
        self.asked += 1
        answer = "answer: " + list(request.messages())[-1].text.split("\n")[-1]
        await on_text(answer)
        return Reply(answer, (), "end", (-1, -1, -1))


class Toolbox:
    """Counts the calls."""

    called = 0

    async def call(self, name, arguments, caller):
        self.called += 1
        return True, "1"

    def listed(self, caller):
        return ()

    def add(self, tool, is_own=True):
        pass


def offset(at):
    """Seconds east of Greenwich, as a calendar has it and not the firmware's rule."""
    return 3600 if SUMMER_ENDS <= at < SUMMER_BEGINS or at >= ENDS_AGAIN else 7200


def moment(day, minute):
    """When a local day has a minute: the first time, or where a gap ends."""
    local = day * DAY + minute * MINUTE
    for seconds in (7200, 3600):
        if offset(local - seconds) == seconds:
            return local - seconds
    return SUMMER_BEGINS


class Due:
    """One timer, as the model knows it: what is due when, and what was told."""

    def __init__(self, kind, what, minute, days, every, first):
        self.kind, self.what = kind, what
        self.minute, self.days, self.every = minute, days, every
        self.next = first + every * MINUTE if every else first
        self.is_over = False
        if days:
            self.next = self._after(first)

    def _after(self, at):
        """The first moment after one."""
        if self.every:
            return self.next + ((at - self.next) // (self.every * MINUTE) + 1) * self.every * MINUTE
        if not self.days:
            return 1 << 40
        day = (at + 3600) // DAY - 1
        while True:
            found = moment(day, self.minute)
            if found > at and self.days >> (day + 3) % 7 & 1:
                return found
            day += 1

    def reach(self, now):
        """The newest moment that is due now, 0 for none; how many were due."""
        count = newest = 0
        while self.next <= now:
            newest = self.next
            self.next = self._after(newest)
            count += 1
        return newest, count


class Year:
    """The days of a board."""

    def __init__(self, seed, start):
        random.seed(seed)
        self.problems = []
        self.dues = self.told = self.merged = self.late = self.restarts = self.jumps = self.unset = 0
        self.at = start
        self.wrong = 0
        self.wrong_until = 0
        self.unset_since = 0
        self.unset_until = 0
        self.model, self.toolbox = Model(), Toolbox()
        self.board = Board(journal_bytes=131072)
        self.board.now = start
        self.serve()
        self.known = {}
        self.once = 0
        for kind, what, minute, days, every in RULES:
            self.add(kind, what, minute, days, every, GROUP if what == "bins" else CALLER)

    def serve(self):
        board = self.board
        board.clock.zone, board.clock.zone_minutes = Zone(ZONE), 60
        board.serve(self.model)
        board.timers.runner.toolbox = self.toolbox  # pyright: ignore[reportAttributeAccessIssue]  # it stands in for one
        self.network = Network(board.inbox)
        self.timers = board.timers

    def add(self, kind, what, minute=0, days=0, every=0, caller=CALLER, after=0):
        asked = spec(kind, what + " {}" if kind == "tool" else what, 0, after, minute, days, every)
        ref = self.timers.add(caller, asked)["id"]
        self.known[ref] = Due(kind, what, minute, days, every, self.at + after)

    @property
    def is_set(self):
        return not self.unset_since

    def set_time(self):
        """Let the board's clock show what it shows."""
        self.board.now = UNSET + self.at - self.unset_since if self.unset_since else self.at + self.wrong

    async def pass_look(self):
        self.at += LOOK
        if self.unset_since and self.at >= self.unset_until:
            self.unset_since = 0
        if self.wrong and self.at >= self.wrong_until:
            self.wrong = 0
        self.set_time()
        await self.look()

    async def look(self):
        for _ in range(4):
            is_done = await self.timers.run_due()
            while self.timers.runner._busy:
                await let_others_run()
            if is_done:
                break
        if self.network.chats:
            await let_others_run()
        self.compare()

    def compare(self):
        """What was told is what the model says, and nothing else."""
        told = {}
        for address, chat in self.network.chats:
            text = "".join(chat.told[1:-1])
            ref = text[text.rfind("(") + 1 : -1] if text.endswith(")") else "answer"
            told.setdefault(ref, []).append((address, text))
        self.network.chats.clear()
        calls, self.toolbox.called = self.toolbox.called, 0
        for ref, due in list(self.known.items()):
            self._compare_one(ref, due, told, calls)
        for texts in told.values():
            self.problems.append("not due: %s at %d" % (texts, self.at))

    def _compare_one(self, ref, due, told, calls):
        if not self.is_set:
            return
        now = self.at + self.wrong
        newest, count = due.reach(now)
        if not count:
            return
        self.dues += count
        self.merged += count - 1
        is_late = now - newest > 120
        self.late += is_late
        name = "answer" if due.kind == "ask" else ref
        texts = told.pop(name, [])
        if due.kind == "tool" and now - newest <= 600:
            self.told += 1
            if calls != 1 or texts:
                self.problems.append("%s: called %d times, told %s" % (due.what, calls, texts))
            return
        self.told += 1
        room = "net 2" if due.what == "bins" else "net 1"
        if len(texts) != 1 or texts[0][0] != room or due.what not in texts[0][1]:
            self.problems.append("%s was due at %d: told %s" % (due.what, newest, texts))
        elif ("was due" in texts[0][1]) != is_late:
            self.problems.append("%s: %d s late: %s" % (due.what, now - newest, texts))
        if not due.days and not due.every:
            del self.known[ref]

    def restart(self, off, unset):
        """The power fails, and comes again after a while."""
        self.restarts += 1
        self.at += off
        self.wrong = 0
        self.unset += unset > 0
        self.unset_since = self.at if unset else 0
        self.unset_until = self.at + unset
        self.set_time()
        self._drop_layers()
        self.board.open()
        self.serve()

    def _drop_layers(self):
        """Leave nothing of a board but its folder, as where the power fails: two boards at a time are much for the heap."""
        board = self.board
        board.close()
        self.timers = self.network = None
        for name in list(board.__dict__):
            if name not in ("place", "folder", "now", "segment_bytes", "limits"):
                delattr(board, name)
        gc.collect()

    def jump(self):
        """The clock is wrong for a while."""
        self.jumps += 1
        self.wrong = random.choice((-HOUR // 2, -5 * MINUTE, 5 * MINUTE, HOUR // 2))
        self.wrong_until = self.at + HOLD


async def year(days, seed, restarts=100, start=START):
    """Live through some days."""
    found = Year(seed, start)
    looks = days * DAY // LOOK
    chance = max(1, looks // restarts)
    for _ in range(looks):
        await found.pass_look()
        number = random.getrandbits(30) % chance
        if number == 0 and not found.wrong:
            off = random.choice((0, 10, 400, HOUR, 5 * HOUR, DAY, 3 * DAY))
            found.restart(off, random.choice((0, 0, 20 * MINUTE, 3 * HOUR)))
            await found.look()
        elif number == 1 and found.is_set and not found.wrong:
            found.jump()
        elif number in (2, 3) and found.is_set and not found.wrong and len(found.known) < 20:
            found.once += 1
            found.add("say", "once %d" % found.once, after=random.choice((20 * MINUTE, 7 * HOUR, 9 * DAY)))
        if len(found.problems) > 5:
            break
    return found
