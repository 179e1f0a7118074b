"""The application: runs a board's channels and background work, and serves code on the board: `app` and `app.memory`."""

import asyncio
import gc
import sys

from engram.build import build  # isort: skip  it imports leaves first
from engram import __version__, diag, files
from engram.channels.console.commands import count_of
from engram.channels.console.console import STOPPED, Console
from engram.channels.message import BufferedSink
from engram.clock import Backoff
from engram.compat import collect_often, sleep_ms, ticks_add, ticks_diff, ticks_ms
from engram.config import Config
from engram.errors import ArgumentError
from engram.interrupt import Stop, start_task
from engram.memory import access
from engram.memory.access import OWNER
from engram.memory.recall import make_query
from engram.memory.records import fields

_OFFLINE = const("No model is set up (see docs/start/model.md). Memory works without one.")

_UPKEEP_MS = const(5000)  # between two looks at what idles
_BUSY_MS = const(10)  # between two slices of the stores' work in the background
_END_MS = const(5000)  # that each task may take to end when the app is stopped
_END_LOOK_MS = const(5)


class Memory:
    """The memory for a sensor loop or a person's own main.py; it acts for the owner by default."""

    def __init__(self, records, recall, forgetting, caller=OWNER):
        self._records = records
        self._recall = recall
        self._forgetting = forgetting
        self._caller = caller

    def store(self, content: str, tags, **more) -> str:
        """Store a memory on flash and return its id; `more` has fields such as type and expires."""
        workspace = access.scope_of_tags(fields.check("tags", tags, 0))
        if workspace and more.get("scope", workspace) != workspace:
            raise ArgumentError("scope", "is that of the workspace in the tags: give one of the two.")
        more.setdefault("scope", workspace or access.ALL)
        return self._records.store(content, tags, self._caller, **more).id

    def search(self, query: str, limit: int = 10, tags=(), since: int = 0, until: int = 0) -> list:
        """Return dicts with id, at, text, score and confidence (0 to 100; below 10 is no answer)."""
        ranked = self._recall.rank(make_query(query, self._caller, tags, since, until))
        return [_shown(item) for item in self._recall.find(ranked, limit)]

    def get(self, ref: str) -> dict:
        """Return a memory; NotFound if there is none with that id."""
        return self._forgetting.seen(self._records.get(ref, self._caller), self._caller)

    def newest(self, tags=()):
        for record in self._records.newest(self._caller, tags):
            yield self._forgetting.seen(record, self._caller)

    def forget(self, ref: str, with_turns: bool = False) -> None:
        """Forget a memory, and with `with_turns` the turns that it came from."""
        self._forgetting.forget(ref, self._caller, with_turns)

    def why_empty(self, query: str) -> str:
        return self._recall.why_empty(query, self._caller)

    def of(self, caller):
        """Return the memory as seen by Caller(principal, room, group, workspace)."""
        return Memory(self._records, self._recall, self._forgetting, access.check_caller(caller))


def _shown(item) -> dict:
    shown = {"id": item.id, "at": item.at, "text": item.text, "score": item.score, "confidence": item.confidence // 10}
    if item.who:
        shown["who"] = item.who
    return shown


class App:
    """One board on a folder; ConfigError or StoreError if it cannot start."""

    def __init__(self, folder: str = "", overrides=None, config=None, clock=None, model=None, network=None):
        collect_often()
        self.config = config or Config(folder, overrides)
        diag.level = diag.NAMES.index(self.config.get("log.level"))
        self.board = board = build(self.config, folder, clock, model, network)
        self.memory = Memory(board.records, board.recall, board.forgetting)
        self._channels = []
        self._own_tasks = []
        self._tasks = []
        self._beside = []
        self._open_channels = 0
        self._console = None
        self._watchdog = None
        self._serial = None

    # --- for code on the board

    def note(self, content: str) -> None:
        self.board.notes.for_caller(OWNER).note(content)

    def observe(self, name: str, value, unit: str = "") -> bool:
        """Store a sensor's reading; False if one of the same second exists."""
        return self.board.find_senses().observe(name, value, unit)

    def perceive(self, caption: str, kind: str = "photo", at: int = 0, media: str = "") -> str:
        """Store a caption of a camera or microphone as a turn or an event; return its id."""
        from engram.memory.perceive import perceive  # for boards with code of their own, as own_tool below

        board = self.board
        return perceive(board.clock, board.journal, board.records, caption, kind, at, media)

    def tool(self, function=None, **options):
        """Let the model call a function, as a decorator too; docs/guides/tools.md has the options."""
        from engram.tools.own_tool import declare

        return declare(self.board.toolbox, function, options)

    def load_own_code(self) -> None:
        folder = self.board.folder
        if files.size(folder + "/own.py") >= 0:
            from engram.tools.own_tool import load_own_code

            load_own_code(self, folder)

    def limit(self, name: str, low=None, high=None, minutes: int = 0) -> str:
        """Notify the owner of readings beyond a limit for some minutes; return the limit's id."""
        self.board.find_senses()
        return self.board.sense_view.set_limit(OWNER, name, low, high, minutes)["id"]  # type: ignore

    async def ask(self, content: str, sink, caller=OWNER):
        """Answer a message as a channel does, see Agent.turn; ArgumentError for an invalid caller."""
        return await self.board.agent.turn(access.check_caller(caller), content, sink)

    def banner(self):
        board = self.board
        memories = count_of(board.records.count(), "memory", "memories")
        yield "Engram %s, %s mode, %s. /help lists the commands." % (__version__, self.config.get("mode"), memories)
        if board.model is None:
            yield _OFFLINE

    # --- running

    def add_channel(self, name: str, run) -> None:
        self._channels.append((name, run))

    def add_task(self, name: str, run) -> None:
        """Add a coroutine function that runs beside the channels and restarts when it fails."""
        self._own_tasks.append((name, run))

    def attach_hardware(self, watchdog, serial) -> None:
        """Add the board's watchdog, fed while the app runs, and its serial line."""
        self._watchdog = watchdog
        self._serial = serial

    def run(self) -> None:
        """Run until the channels end or Ctrl-C; it can be called again."""
        asyncio.new_event_loop()
        self.board.toolbox.restart()
        if self._watchdog:
            self._watchdog.watch()
        gc.collect()  # the tasks stay: they are not to lie behind what the start leaves over
        try:
            asyncio.run(self._run())
        except KeyboardInterrupt:
            # The tasks are in the loop still: each may keep what it has, such as the part of a reply that came.
            asyncio.run(self._cancel(self._tasks + self._beside))
            sys.stdout.write("\n" + STOPPED + "\n")
        finally:
            if self.board.senses:
                self.board.senses.flush()
            if self._watchdog:
                self._watchdog.rest()

    async def _run(self) -> None:
        channels = self._channels or [("console", self.console)]
        board = self.board
        parts = (
            ("watchdog", self._watchdog),
            ("learning", board.jobs),
            ("companion", board.companion),
            ("network", board.network),
            ("telegram", board.telegram),
            ("senses", board.sampling),
            ("timers", board.timers),
        )
        beside = [("upkeep", self._upkeep)] + self._own_tasks + [(name, part.run) for name, part in parts if part]
        board.turn_queue.note_activity()
        stop = Stop()
        self._open_channels = len(channels)
        self._tasks = [start_task(self._channel, name, run, stop) for name, run in channels]
        self._beside = [start_task(self._supervise, name, run) for name, run in beside]
        try:
            await stop.wait()
            for task in self._tasks:
                await task  # what even the supervisor could not handle, such as an output that is gone, ends the app
        finally:
            stop.close()
            await self._cancel(self._beside)

    async def _upkeep(self) -> None:
        while True:
            while await self._work():
                await sleep_ms(_BUSY_MS)
            await sleep_ms(_UPKEEP_MS)

    async def _work(self) -> bool:
        board = self.board
        is_busy = False
        for work in (board.records.entries, board.journal.entries, board.eviction, board.records.uses):
            is_busy = work.tick() or is_busy
            # Between two of them the keyboard is looked at.
            await sleep_ms(0)
        if board.senses:
            is_busy = board.senses.tick() or is_busy
            is_busy = board.sense_watch.tick() or is_busy
        board.toolbox.confirmations.tick()
        if board.note_retention.is_due:
            tidying = board.note_retention.tidying()
            try:
                for _ in tidying:
                    await sleep_ms(0)
            finally:
                tidying.close()  # MicroPython does not end one that is dropped
        if board.model:
            board.model.tidy()
        if not is_busy and not board.turn_queue.is_active():
            from engram.channels.console.commands.stats import walk_flash  # once the banner is shown

            walk_flash(board)
        return is_busy

    async def _cancel(self, tasks: list, most_ms: int = _END_MS) -> None:
        """Cancel tasks one by one; one that does not end in time is left behind."""
        for task in tasks:
            if not task.done():
                task.cancel()
            end = ticks_add(ticks_ms(), most_ms)
            while not task.done() and ticks_diff(end, ticks_ms()) > 0:
                await sleep_ms(_END_LOOK_MS)

    async def console(self) -> None:
        if self._console is None:
            inbox = self.board.inbox
            self._console = console = Console(self.config, inbox, target=self._serial)
            inbox.deliveries.add_channel("console", lambda room: (BufferedSink(console.show_push), room))
            for line in self.banner():
                console.show(line)
            await inbox.deliveries.redeliver("console")
        await self._console.run()

    async def _channel(self, name: str, run, stop) -> None:
        try:
            await self._supervise(name, run)
        finally:
            self._open_channels -= 1
            if not self._open_channels:
                stop.set()

    async def _supervise(self, name: str, run) -> None:
        pauses = Backoff()
        while True:
            try:
                await run()
                return
            except Exception as error:  # noqa: BLE001 the one place where all that is left over ends
                diag.failure(name, error, "it starts again")
            await sleep_ms(pauses.next_ms())
