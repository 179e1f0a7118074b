"""The application: wires one board's parts together, runs the channels, and is what code on the board talks to."""

import asyncio
import sys

from engram import __version__, diag, files
from engram.agent.agent import Agent
from engram.agent.offline import HINT, Offline
from engram.agent.prompt import PromptBuilder
from engram.agent.tools import Tools
from engram.api import Memory
from engram.channels.console.commands.commands import Commands, count_of
from engram.clock import Clock, zone_minutes
from engram.compat import collect_often, const, sleep_ms, ticks_add, ticks_diff, ticks_ms
from engram.config import Config
from engram.errors import ArgumentError, ConfigError
from engram.interrupt import Stop, interruptible
from engram.learning.cursor import LearningCursor
from engram.memory.access import OWNER
from engram.memory.forgetting import Forgetting
from engram.memory.journal.journal import Journal
from engram.memory.journal.schema import TurnSchema
from engram.memory.journal.sessions import Sessions
from engram.memory.principal_files import PrincipalFiles
from engram.memory.recall import Recall
from engram.memory.records.eviction import Eviction
from engram.memory.records.importance import Importance
from engram.memory.records.records import Records
from engram.memory.records.schema import RecordSchema
from engram.memory.records.trash import Trash
from engram.memory.records.usage import Usage
from engram.memory.text_changes import TextChanges, Undo
from engram.memory.texts.notes import Notes
from engram.memory.texts.profile import Profile
from engram.memory.texts.retention import NoteRetention
from engram.reminders.reminders import Reminders
from engram.store.log.reserve import Reserve
from engram.store.log.segments import Log
from engram.store.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.archive.index import ArchiveIndex
    from engram.link.companion import Companion
    from engram.link.link_state import LinkState

_FIRST_PAUSE_MS = const(500)  # before a task that failed is started again; doubles up to the longest
_LONGEST_PAUSE_MS = const(60000)
_UPKEEP_MS = const(5000)  # between two looks at what idles
_BUSY_MS = const(10)  # between two slices of the stores' work in the background
_END_MS = const(5000)  # that each task may take to end when the app is stopped
_END_LOOK_MS = const(5)
_ROOTS_LARGEST = const(32768)  # bytes of the file of root certificates


class Parts:
    """What the board's agent is made of; each part is handed what it needs from here."""

    folder: str
    config: Config
    clock: Clock
    records: Records
    journal: Journal
    trash: Trash
    capacity: Eviction
    learning: LearningCursor
    forgetting: Forgetting
    changes: Undo
    profile: Profile
    notes: Notes
    daily: NoteRetention
    intents: Reminders
    recall: Recall
    tools: Tools
    agent: Agent
    commands: Commands
    archived: "ArchiveIndex" = None  # type: ignore
    companion: "Companion" = None  # type: ignore
    link_state: "LinkState" = None  # type: ignore
    network = None


class App:
    """One board: `app.memory`, `app.note(...)` and `app.run()`.

    `folder` holds config.json, profile/, memory/ and journal/; `overrides` are settings by dotted name that go before
    those of the files; a start that has read the settings hands them on. ConfigError when a setting is wrong,
    StoreError when the folder cannot be used. `clock` and `model` take the places of the machine's clock and of the model that
    the settings name. `network` is a board's Wi-Fi, if it has one.
    """

    def __init__(self, folder: str = "", overrides=None, config=None, clock=None, model=None, network=None):
        collect_often()
        self.config = config or Config(folder, overrides)
        diag.level = diag.NAMES.index(self.config.get("log.level"))
        self._parts = self._assemble(folder, clock, model, network)
        self.memory = Memory(self._parts)
        self._channels = []
        self._tasks = []
        self._beside = []
        self._open_channels = 0
        self._console = None
        self._watchdog = None
        self._serial = None

    def _assemble(self, folder: str, clock, model, network) -> Parts:
        config = self.config
        parts = Parts()
        parts.network = network
        parts.folder = folder
        parts.config = config
        parts.clock = clock = clock or Clock(zone_minutes(config.get("timezone")))
        files.make_folder(folder + "/memory")
        limit, cap = config.get("records.content_chars"), config.get("records.bytes")
        records_log = Log(folder + "/memory", "memory_records", cap)
        reserve = Reserve(folder + "/memory/reserve.bin", records_log.segment_bytes)
        journal_log = Log(folder + "/journal", "journal", config.get("journal.bytes"))
        turns_reserve = Reserve(folder + "/journal/reserve.bin", journal_log.segment_bytes)
        versions = RecordSchema()
        records_store = Store(records_log, versions, reserve)
        records_store.open()
        sessions = Sessions(config.get("session.live"))
        journal_store = Store(journal_log, TurnSchema(sessions, clock), turns_reserve)
        journal_store.open()
        link_state = None
        if config.get("companion.url"):
            from engram.link.link_state import LinkState

            logs = (("records", records_store.raw()), ("journal", journal_store.raw()))
            parts.link_state = link_state = LinkState(folder + "/memory", clock, logs)
        if not config.get("archive.on"):
            link_state = None  # for the companion alone
        if config.get("companion.url") or versions.archived or files.size(folder + "/memory/archive.jsonl") >= 0:
            from engram.archive.index import ArchiveIndex

            parts.archived = ArchiveIndex(
                folder + "/memory", records_store, versions, clock, link_state, config.get("archive.uses")
            )
        most, uses = config.get("records.most"), Usage(folder + "/memory", clock)
        importance = Importance(uses, clock, config.get("decay.after_days"), config.get("decay.a_week"))
        parts.trash = Trash(folder + "/memory", config.get("records.trash_bytes"))

        def make_eviction(records):
            return Eviction(
                records, parts.trash, most, cap, lambda: parts.companion.archive if parts.companion else None
            )

        parts.records = Records(
            records_store,
            clock,
            limit,
            cap,
            turns_reserve.keep,
            most,
            uses,
            importance,
            parts.archived,
            make_eviction,
        )
        parts.capacity = parts.records.eviction  # type: ignore
        parts.journal = Journal(journal_store, sessions, clock, config.get("journal.bytes"), link_state)
        parts.learning = LearningCursor(folder + "/memory", versions, parts.records, parts.journal, clock)
        parts.learning.open()
        parts.forgetting = Forgetting(parts.records, parts.journal, parts.trash, parts.archived)
        changes = TextChanges(records_store, clock)
        people = PrincipalFiles((folder + "/memory", folder + "/profile"), config.get("principals.most"))
        parts.profile = Profile(folder + "/profile", changes, people, config.get("profile.chars"))
        parts.profile.seed()
        days, most_bytes = config.get("notes.days"), config.get("notes.bytes")
        parts.notes = Notes(folder + "/memory", changes, clock, people, config.get("notes.chars"), days)
        parts.changes = Undo(records_store, parts.journal, clock, {"profile": parts.profile, "note": parts.notes})
        parts.daily = NoteRetention(folder + "/memory", parts.notes, versions, clock, days, most_bytes)
        limits = [config.get("intents." + name) for name in ("on", "most", "days", "cooldown_hours", "a_turn")]
        parts.intents = Reminders(folder + "/memory", clock, *limits)
        parts.intents.open()
        remote = None
        if config.get("companion.url"):
            from engram.archive.remote_results import ResultMerger

            remote = ResultMerger(parts.records, parts.journal, parts.archived)
        parts.recall = Recall(parts.records, parts.journal, clock, remote)
        parts.tools = Tools(parts, config.get("mode"))
        model, context = model or _model(config, folder, network), PromptBuilder(parts)
        after = None
        if model:
            from engram.agent.post_turn import PostTurn

            after = PostTurn(parts, model, context)
        parts.agent = Agent(parts, context, parts.tools, model, Offline(parts), after)
        parts.commands = Commands(parts)
        if config.get("companion.url"):
            parts.companion = _companion(parts)
        if not (turns_reserve.keep() and reserve.keep()):
            diag.warning("store", "the flash is nearly full: forget something and /compact")
        return parts

    # --- for code on the board

    def note(self, content: str) -> None:
        """Add a line to the owner's note of today."""
        self._parts.notes.for_caller(OWNER).note(content)

    async def ask(self, content: str, sink, caller=OWNER):
        """Give the agent a message, as a channel does; see Agent.turn. ArgumentError if the caller cannot be one."""
        if caller is not OWNER:
            from engram.memory import caller_check

            caller_check.check_caller(caller)
        return await self._parts.agent.turn(caller, content, sink)

    def banner(self):
        """Yield the lines that a channel shows when it starts."""
        parts = self._parts
        memories = count_of(parts.records.count(), "memory", "memories")
        yield "Engram %s, %s mode, %s. /help lists the commands." % (__version__, self.config.get("mode"), memories)
        if parts.agent.model is None:
            yield HINT
        for name in ("records", "journal", "intents"):
            damaged = getattr(parts, name).damaged
            if damaged:
                yield "%d damaged lines of the %s were set aside; the rest is whole." % (damaged, name)

    # --- running

    def add_channel(self, name: str, run) -> None:
        """Add a channel: `run` is a coroutine function; when the last one returns, so does `app.run()`."""
        self._channels.append((name, run))

    def attach_hardware(self, watchdog, serial) -> None:
        """Add what a board has: the watchdog, which is fed while the app runs, and the serial line."""
        self._watchdog = watchdog
        self._serial = serial

    def run(self) -> None:
        """Run until the channels end. Ctrl-C stops it and leaves to the prompt; calling it again goes on."""
        if hasattr(asyncio, "new_event_loop"):
            asyncio.new_event_loop()
        if self._watchdog:
            self._watchdog.watch()
        try:
            asyncio.run(self._run())
        except KeyboardInterrupt:
            # The tasks are in the loop still: each may keep what it has, such as the part of a reply that came.
            asyncio.run(self._cancel(self._tasks + self._beside))
            sys.stdout.write("\nstopped; app.run() goes on, app.memory is at hand.\n")
        finally:
            if self._watchdog:
                self._watchdog.rest()

    async def _run(self) -> None:
        channels = self._channels or [("console", self.console)]
        beside: list = [("upkeep", self._upkeep)]
        if self._watchdog:
            beside.append(("watchdog", self._watchdog.run))
        agent = self._parts.agent
        if agent.after:
            beside.append(("learning", lambda: agent.after.run(agent.is_busy)))
        if self._parts.companion:
            beside.append(("companion", self._parts.companion.run))
        if self._parts.network:
            beside.append(("network", self._parts.network.run))
        stop = Stop()
        self._open_channels = len(channels)
        self._tasks = []
        for name, run in channels:
            self._tasks.append(asyncio.create_task(interruptible(self._channel(name, run, stop))))
        self._beside = [asyncio.create_task(interruptible(self._supervise(name, run))) for name, run in beside]
        try:
            await stop.wait()
            for task in self._tasks:
                await task  # what even the supervisor could not handle, such as an output that is gone, ends the app
        finally:
            stop.close()
            for task in self._beside:
                task.cancel()

    async def _upkeep(self) -> None:
        """What is to be done now and then: the stores' work, and an idle link to the model gives its memory back."""
        parts = self._parts
        while True:
            is_busy = False
            for work in (parts.records, parts.journal, parts.capacity, parts.records.uses):
                is_busy = work.tick() or is_busy
                # Between two of them the keyboard is looked at.
                await sleep_ms(0)
            if parts.daily.is_new_day:
                for _ in parts.daily.tidying(self._is_distilled()):
                    await sleep_ms(0)
            if parts.agent.model:
                parts.agent.model.tidy()
            await sleep_ms(_BUSY_MS if is_busy else _UPKEEP_MS)

    def _is_distilled(self) -> bool:
        """Whether the notes are distilled sooner or later."""
        config = self.config
        return config.get("distill.on") and config.get("mode") == "full" and self._parts.agent.model is not None

    async def _cancel(self, tasks: list, most_ms: int = _END_MS) -> None:
        """Let tasks end one after the other. One that does not is left behind: the prompt is not to wait for it."""
        for task in tasks:
            if not task.done():
                task.cancel()
            end = ticks_add(ticks_ms(), most_ms)
            while not task.done() and ticks_diff(end, ticks_ms()) > 0:
                await sleep_ms(_END_LOOK_MS)

    async def console(self) -> None:
        """The channel that there is when no other was added: the serial line."""
        from engram.channels.console.console import Console

        if self._console is None:
            self._console = Console(self.config, self._parts.commands, self._parts.agent, target=self._serial)
            for line in self.banner():
                self._console.line(line)
        await self._console.run()

    async def _channel(self, name: str, run, stop) -> None:
        """Run a channel; with the last one the app ends."""
        try:
            await self._supervise(name, run)
        finally:
            self._open_channels -= 1
            if not self._open_channels:
                stop.set()

    async def _supervise(self, name: str, run) -> None:
        """Run a channel until it ends by itself; one that fails is told of and started again."""
        pause = _FIRST_PAUSE_MS
        while True:
            try:
                await run()
                return
            except Exception as error:  # noqa: BLE001 the one place where all that is left over ends
                diag.failure(name, error, "it starts again")
            await sleep_ms(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_MS)


def _model(config, folder: str, network):
    """The model that the settings name, None if they name none; ConfigError if they are not enough."""
    url, name = config.get("llm.url"), config.get("llm.model")
    if not url and not name:
        return None
    if not url or not name:
        raise ConfigError("llm.url" if name else "llm.model", "is missing: a model needs both llm.url and llm.model.")
    from engram.llm.http.client import Client
    from engram.llm.model import Model

    if config.get("llm.api") == "anthropic":
        from engram.llm.anthropic import Anthropic

        adapter = Anthropic()
    else:
        from engram.llm.openai import OpenAI, limit_field

        adapter = OpenAI(limit=limit_field(url))
    connect, stall = config.get("llm.connect_seconds"), config.get("llm.stall_seconds")
    trust = _trust(config, folder, url)
    try:
        client = Client(url, connect_ms=connect * 1000, stall_ms=stall * 1000, tls=trust, network=network)
    except ArgumentError as error:
        raise ConfigError("llm.url", error.problem) from None
    return Model(client, adapter, name=name, key=config.secret("llm.key"), retries=config.get("llm.retries"))


def _companion(parts):
    """The companion that the settings name; ConfigError if they are wrong."""
    from engram.link.companion import Companion

    config, records, journal = parts.config, parts.records, parts.journal

    def make_archive(exchange, replication):
        from engram.archive.transfer import ArchiveTransfer

        def is_unread(seq: int) -> bool:
            return bool(parts.agent.after) and seq > parts.learning.until

        return ArchiveTransfer(
            exchange,
            replication,
            parts.link_state,
            parts.archived,
            records,
            journal,
            parts.capacity,
            parts.clock,
            config.get("companion.timeout_ms"),
            is_unread,
        )

    return Companion(
        config,
        parts.clock,
        (("records", records.entries.raw()), ("journal", journal.entries.raw())),
        parts.link_state,
        parts.agent.is_busy,
        parts.network,
        _trust(config, parts.folder, config.get("companion.url")),
        parts.archived,
        make_archive if config.get("archive.on") else None,
    )


def _trust(config, folder: str, url: str):
    """The TLS context for a URL, None if it needs none."""
    if url.lower().partition(":")[0] not in ("https", "mqtts"):
        return None
    from engram.llm.http.transport import tls_context

    name = config.get("llm.roots")
    roots = files.read(folder + "/" + name, _ROOTS_LARGEST)
    if not roots:
        raise ConfigError("llm.roots", "there is no file %s with root certificates; see docs/settings.md." % name)
    try:
        return tls_context(roots)
    except ArgumentError as error:
        raise ConfigError("llm.roots", name + " " + error.problem) from None
