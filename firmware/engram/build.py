"""Wires one board; build_parts.py wires the optional parts."""

# Leaves first: an import within an import takes of the stack, which is short on a chip.
# isort: off
from engram import diag, files, text, log_line  # noqa: F401
from engram.text.times import find_days  # noqa: F401
from engram.clock import Clock
from engram.config import zone_of
from engram.errors import ArgumentError, ConfigError
from engram.store.index import merge_policy  # noqa: F401
from engram.store.search import ranking  # noqa: F401
from engram.store.store import Store
from engram.store.log.reserve import Reserve
from engram.store.log.segments import Log
from engram.memory.records import fields  # noqa: F401
from engram.memory.records.importance import Importance, Usage
from engram.memory.records.schema import RecordSchema
from engram.memory.records.records import Records
from engram.memory.undo import TextChanges, Undo
from engram.memory.journal.schema import TurnSchema
from engram.memory.journal.journal import Journal
from engram.memory.principal_files import PrincipalFiles
from engram.memory.texts.notes import Notes
from engram.memory.events import EventLog
from engram.memory.texts.profile import Profile
from engram.memory.texts.retention import NoteRetention
from engram.memory.forgetting import Forgetting
from engram.learning.cursor import LearningCursor
from engram.memory.recall import Recall
from engram.timers.timers import Timers
from engram.timers.runner import TimerRunner
from engram.timers.timers import TimerTool
from engram.tools.toolbox import Toolbox
from engram.agent import file_tools  # noqa: F401
from engram.agent.agent import TurnQueue
from engram.agent.answer import Agent
from engram.agent.offline import Offline
from engram.agent.prompt import PromptBuilder
from engram.agent.tools import MemoryTools, RemoteRecall
from engram.channels import deliveries  # noqa: F401
from engram.channels.inbox import Inbox
from engram.channels.message import BufferedSink
from engram.channels.console.commands import Commands
# isort: on


def build(config, folder: str = "", clock=None, model=None, network=None) -> "Board":
    """Wire a board on a folder; ConfigError or StoreError if that fails."""
    if clock is None:
        standard, zone = zone_of(config.get("timezone"))
        clock = Clock(standard, None, zone)
    board = Board(config, folder, clock, network)
    board.add_memory()
    board.add_links(model)
    board.add_agent()
    board.add_channels()
    if config.table("pins"):
        board.add_pins()
    if config.table("senses") or files.size(folder + "/memory/senses/senses.jsonl") >= 0:
        board.find_senses()
    if not (board.turns_reserve.keep() and board.reserve.keep()):
        diag.warning("store", "the flash is nearly full: forget something and /compact")
    return board


def _load_handler_finder():
    from engram.channels.console.commands.handlers import find_handler  # at the first command: a start needs none

    return find_handler


class Board:
    """The parts of one board, which App runs."""

    model = window = jobs = distillation = None
    archived = link_state = companion = remote_search = archive = telegram = None
    senses = sampling = sense_watch = sense_view = pins = None
    people = None
    tls = None
    """The TLS context of all links, None until one needs it."""
    flash_walk = ()
    """(bytes used, bytes in all, bytes of the logs) at the last walk of the file system."""

    def __init__(self, config, folder: str, clock, network):
        self.config = config
        self.folder = folder
        self.clock = clock
        self.network = network
        self.turn_queue = TurnQueue()
        self.searches = [0, 0]
        """Searches since the start, and those without a result."""

    # --- the memory

    def add_memory(self, segment_bytes: int = 0) -> None:
        """Add stores, texts and recall; without `segment_bytes` segments fit the settings."""
        files.make_folder(self.folder + "/memory")
        self._add_logs(segment_bytes)
        self._add_texts()
        self.timers = Timers(self.folder + "/memory", self.clock)
        self.timers.open()
        self._add_recall()

    def _add_logs(self, segment_bytes: int) -> None:
        config, clock, folder = self.config, self.clock, self.folder + "/memory"
        self.schema = RecordSchema()
        record_log = Log(folder, "memory_records", config.get("records.bytes"), segment_bytes)
        self.reserve = Reserve(folder + "/reserve.bin", record_log.segment_bytes)
        store = Store(record_log, self.schema, self.reserve, self.turn_queue.is_active)
        store.open()
        turn_schema = TurnSchema(clock)
        turn_log = Log(self.folder + "/journal", "journal", config.get("journal.bytes"), segment_bytes)
        self.turns_reserve = Reserve(self.folder + "/journal/reserve.bin", turn_log.segment_bytes)
        turn_store = Store(turn_log, turn_schema, self.turns_reserve, self.turn_queue.is_active)
        turn_store.open()
        archive_state = self._add_archive_index(store, turn_store)
        cap, idle = config.get("journal.bytes"), 3600 * config.get("session.idle_hours")
        self.journal = Journal(turn_store, turn_schema, clock, cap=cap, link_state=archive_state, idle_seconds=idle)
        usage = Usage(folder, clock)
        self.records = Records(
            store,
            self.journal,
            clock,
            cap=config.get("records.bytes"),
            most=config.get("records.most"),
            leaves_room=self.turns_reserve.keep,
            uses=usage,
            importance=Importance(usage, clock),
            archived=self.archived,
            find_archive=lambda: self.archive,
        )
        self.eviction = self.records.eviction
        self.learning_cursor = LearningCursor(folder, self.schema, self.records, self.journal, clock)
        self.learning_cursor.open()
        self.forgetting = Forgetting(self.records, self.journal, self.archived)

    def _add_archive_index(self, store, turn_store):
        """Add the archive's index if needed; return the holder of archived turns, or None."""
        config, folder = self.config, self.folder + "/memory"
        if config.get("companion.url"):
            from engram.link.link_state import LinkState  # absent from boards without a companion

            self.link_state = LinkState(folder, self.clock, (("records", store.raw()), ("journal", turn_store.raw())))
        archive_state = self.link_state if config.get("archive.on") else None
        if self.link_state or any(self.schema.archived):
            from engram.archive.index import ArchiveIndex  # absent from boards that have no archive

            self.archived = ArchiveIndex(store, self.schema, self.clock, archive_state)
        return archive_state

    def _add_texts(self) -> None:
        config, folder, clock = self.config, self.folder + "/memory", self.clock
        profiles = self.folder + "/profile"
        changes = TextChanges(self.records.entries, clock)
        people = PrincipalFiles((folder, profiles), config.get("principals.most"))
        self.events = EventLog(self.records, clock)
        self.profile = Profile(profiles, changes, people, self.events.close_task)
        self.profile.seed()
        self.notes = Notes(folder, changes, clock, people)
        self.note_retention = NoteRetention(self.notes, self.schema, config.get("notes.bytes"))
        self.journal.on_redacted = self.notes.drop_lines_of
        self.undo = Undo(self.records.entries, self.journal, clock, {"profile": self.profile, "note": self.notes})

    def _add_recall(self) -> None:
        remote = None
        if self.config.get("companion.url"):
            from engram.archive.remote_results import ResultMerger  # absent from boards without a companion

            remote = ResultMerger(self.records, self.journal, self.archived, self.notes)
        self.recall = Recall(self.records, self.journal, self.notes, self.clock, remote, self.searches)

    # --- what answers people

    def add_agent(self, learns: bool = True) -> None:
        """Add the agent to an otherwise complete board, and with `learns` its learning jobs."""
        self._add_tools()
        self.prompts = PromptBuilder(
            config=self.config,
            clock=self.clock,
            records=self.records,
            journal=self.journal,
            recall=self.recall,
            profiles=self.profile,
            notebooks=self.notes,
            toolbox=self.toolbox,
            model=self.model,
            snapshots={},
        )
        self.offline = Offline(self.records, self.recall, self.forgetting, self.remote_search, self.notes, self.config)
        if self.model and learns:
            self._add_jobs()
        self.agent = Agent(
            config=self.config,
            turn_queue=self.turn_queue,
            records=self.records,
            journal=self.journal,
            recall=self.recall,
            prompts=self.prompts,
            toolbox=self.toolbox,
            timers=self.timers,
            offline=self.offline,
            model=self.model,
            window=self.window,
            jobs=self.jobs,
            remote_search=self.remote_search,
        )
        self.commands = Commands(self, _load_handler_finder)
        self.inbox = Inbox(self.folder + "/memory", self.commands, self.agent, self.journal, self.clock)
        self.timers.runner = TimerRunner(
            self.timers, self.inbox.deliveries, self.journal, agent=self.agent, toolbox=self.toolbox
        )

    def _add_tools(self) -> None:
        self.toolbox = Toolbox(self.config, self.events)
        # There is none to ask where there neither is a companion nor was.
        has_remote = self.archived or self.companion
        remote = RemoteRecall(self.remote_search, self.archive, self.archived, self.notes) if has_remote else None
        tools = MemoryTools(
            config=self.config,
            clock=self.clock,
            records=self.records,
            recall=self.recall,
            journal=self.journal,
            forgetting=self.forgetting,
            profile=self.profile,
            notes=self.notes,
            remote=remote,
        )
        for tool in tools.tools():
            self.toolbox.add(tool)
        if self.model:
            try:
                self.toolbox.add(TimerTool(self.timers, self.toolbox))
            except ArgumentError as error:
                diag.warning("timers", "the model cannot set timers: %s" % error)

    def _add_jobs(self) -> None:
        from engram.learning.diary import Diary  # absent, too
        from engram.learning.distill import Distillation  # these are absent from boards without a model
        from engram.learning.extract import Extraction  # absent, too
        from engram.learning.jobs import Jobs  # absent, too

        prompts, clock, records, cursor = self.prompts, self.clock, self.records, self.learning_cursor
        extraction = Extraction(prompts, clock, records, self.journal, self.notes, cursor, self.model)
        self.distillation = Distillation(prompts, clock, records, self.note_retention, cursor, self.model)
        diary = Diary(prompts, clock, records, self.journal, self.notes, cursor, self.model)
        quiet_ms = 1000 * self.config.get("extract.pause_seconds")
        self.jobs = Jobs((extraction, diary, self.distillation), quiet_ms, self.turn_queue.is_busy)

    # --- links and people

    def add_links(self, model) -> None:
        """Add the given or configured model and the companion, if any; ConfigError."""
        config = self.config
        self.model = model
        if not model and (config.get("llm.url") or config.get("llm.model")):
            from engram.build_parts import make_model  # absent from boards without a model

            self.model, self.window = make_model(self)
        if config.get("companion.url"):
            from engram.build_parts import make_companion  # absent from boards without one

            self.companion = make_companion(self)
            self.remote_search, self.archive = self.companion.ask, self.companion.archive

    async def check_model(self, sink) -> str:
        """Test the model of the settings, also before the restart that begins to use it; return the verdict."""
        from engram.build_parts import make_model  # absent from boards without a model
        from engram.learning.model_check import ModelCheck  # absent, too

        model, window = make_model(self)
        try:
            return await self.turn_queue.run(False, ModelCheck(self, model, window).run, sink)
        finally:
            model.client.idle_ms = -1  # its link is closed at once: TLS takes much of a board's memory
            model.tidy()

    def add_channels(self) -> None:
        """Add the channels beside the console that the settings name."""
        if self.companion and self.companion.inbound:
            self.inbox.deliveries.add_channel("link", self._open_link_sink, self.is_let_in)
        if self.config.secret("telegram.token"):
            from engram.build_parts import make_telegram  # absent from boards without a bot

            self.telegram = make_telegram(self)

    def _open_link_sink(self, room: str) -> tuple:
        send, room = self.companion.inbound.find_send(room)
        return send and BufferedSink(send), room

    def find_people(self):
        """Return the people who may talk through networks, read when first needed."""
        if self.people is None:
            from engram.channels.people import People  # with the first message of a network

            config = self.config
            self.people = People(self.folder, self.clock, config.get("people.policy"), config.get("people.rate"))
        return self.people

    def is_let_in(self, caller) -> bool:
        return not self.find_people().is_blocked(caller.principal)

    # --- pins and senses

    def add_pins(self) -> None:
        from engram.tools import pins  # absent from boards without pins

        self.pins = pins.open_pins(self.config.table("pins"), self.folder)
        try:
            for tool in self.pins.tools():
                self.toolbox.add(tool)
        except ArgumentError as error:
            raise ConfigError("pins", "take shorter names: " + error.problem) from None

    def find_senses(self):
        if self.senses is None:
            from engram.build_parts import make_senses  # absent from boards without senses

            self.senses, self.sampling, self.sense_watch, self.sense_view = make_senses(self)
        return self.senses
