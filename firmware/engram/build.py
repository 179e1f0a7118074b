"""Wires one board: makes each object and hands it what it needs. No other file does."""

# Lowest layers first: an import within an import takes of the stack, which is short on a chip.
# isort: off
from engram import diag, files, text  # noqa: F401
from engram.clock import Clock, zone_minutes
from engram.errors import ArgumentError, ConfigError
from engram.store.store import Store
from engram.store.log.reserve import Reserve
from engram.store.log.segments import Log
from engram.memory.records import fields  # noqa: F401
from engram.memory.records.importance import Importance
from engram.memory.records.schema import RecordSchema
from engram.memory.records.usage import Usage
from engram.memory.records.records import Records
from engram.memory.records.trash import Trash
from engram.memory.records.eviction import Eviction
from engram.memory.records.undo import UndoLog
from engram.memory.journal.journal import Journal
from engram.memory.principal_files import PrincipalFiles
from engram.memory.texts.notes import Notes
from engram.memory.texts.profile import Profile
from engram.memory.texts.retention import NoteRetention
from engram.memory.forgetting import Forgetting
from engram.memory.recall import Recall
from engram.learning.cursor import LearningCursor
from engram.reminders.reminders import Reminders
from engram.agent.agent import Agent, Gate
from engram.agent.offline import Offline
from engram.agent.prompt import PromptBuilder
from engram.agent.tools import Tools
from engram.channels.console.commands.commands import Commands
from engram.compat import const
# isort: on

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.archive.index import ArchiveIndex
    from engram.learning.distill import Distillation
    from engram.learning.jobs import Jobs
    from engram.link.companion import Companion
    from engram.llm.model import Model

_ROOTS_LARGEST = const(32768)  # bytes of the file of root certificates


class Board:
    """What a board is made of; App runs it."""

    reserve: Reserve
    turns_reserve: Reserve
    schema: RecordSchema
    records: Records
    journal: Journal
    trash: Trash
    capacity: Eviction
    learning: LearningCursor
    forgetting: Forgetting
    changes: UndoLog
    profile: Profile
    notes: Notes
    daily: NoteRetention
    intents: Reminders
    recall: Recall
    prompts: PromptBuilder
    tools: Tools
    offline: Offline
    agent: Agent
    commands: Commands
    archived: "ArchiveIndex | None" = None
    companion: "Companion | None" = None
    distillation: "Distillation | None" = None
    jobs: "Jobs | None" = None
    model: "Model | None" = None

    def __init__(self, config, folder: str, clock, network):
        self.config = config
        self.folder = folder
        self.clock = clock
        self.network = network
        self.gate = Gate()


def build(config, folder: str = "", clock=None, model=None, network=None) -> Board:
    """Wire a board on a folder; ConfigError when a setting is wrong, StoreError when the folder cannot be used.

    `clock` and `model` take the places of the machine's clock and of the model that the settings name; `network` is the board's
    Wi-Fi, if it has one.
    """
    board = Board(config, folder, clock or Clock(zone_minutes(config.get("timezone"))), network)
    files.make_folder(folder + "/memory")
    _add_logs(board)
    _add_texts(board)
    board.model = model or _model(config, folder, network)
    if config.get("companion.url"):
        _add_companion(board)
    add_agent(board)
    add_commands(board)
    if not (board.turns_reserve.keep() and board.reserve.keep()):
        diag.warning("store", "the flash is nearly full: forget something and /compact")
    return board


def _add_logs(board: Board) -> None:
    """Open the records and the journal."""
    config, folder, clock = board.config, board.folder + "/memory", board.clock
    cap, most = config.get("records.bytes"), config.get("records.most")
    log = Log(folder, "memory_records", cap)
    journal_log = Log(board.folder + "/journal", "journal", config.get("journal.bytes"))
    board.reserve = Reserve(folder + "/reserve.bin", log.segment_bytes)
    board.turns_reserve = Reserve(board.folder + "/journal/reserve.bin", journal_log.segment_bytes)
    board.schema = schema = RecordSchema()
    store = Store(log, schema, board.reserve)
    store.open()
    usage = Usage(folder, clock)
    importance = Importance(usage, clock, config.get("decay.after_days"), config.get("decay.a_week"))
    chars = config.get("records.content_chars")
    board.records = records = Records(store, clock, chars, cap, board.turns_reserve.keep, most, usage, importance)
    board.trash = Trash(folder, config.get("records.trash_bytes"))
    board.capacity = Eviction(records, board.trash, most, cap)
    records.make_room_by(board.capacity.make_room)

    def journal_store(owner):
        return Store(journal_log, owner, board.turns_reserve)

    board.journal = journal = Journal(journal_store, clock, config.get("session.live"), config.get("journal.bytes"))
    journal.open()
    if config.get("companion.url") or schema.archived or files.size(folder + "/archive.jsonl") >= 0:
        from engram.archive.index import ArchiveIndex  # absent from boards that never had a companion

        board.archived = records.archived = ArchiveIndex(folder, store, schema)
    board.learning = LearningCursor(folder, schema, records, journal, clock)
    board.learning.open()
    board.forgetting = Forgetting(records, journal, board.trash)
    board.changes = UndoLog(store, journal, clock)
    board.recall = Recall(records, journal, clock)


def _add_texts(board: Board) -> None:
    """Add profile, notes and reminders."""
    config, folder, clock = board.config, board.folder + "/memory", board.clock
    profiles = board.folder + "/profile"
    people = PrincipalFiles((folder, profiles), config.get("principals.most"))
    board.profile = Profile(profiles, board.changes, people, config.get("profile.chars"))
    board.profile.seed()
    days, most_bytes = config.get("notes.days"), config.get("notes.bytes")
    board.notes = Notes(folder, board.changes, clock, people, config.get("notes.chars"), days)
    board.changes.register_file("profile", board.profile)
    board.changes.register_file("note", board.notes)
    board.daily = NoteRetention(folder, board.notes, board.schema, clock, days, most_bytes)
    limits = [config.get("intents." + name) for name in ("on", "most", "days", "cooldown_hours", "a_turn")]
    board.intents = Reminders(folder, clock, *limits)
    board.intents.open()


def _add_companion(board: Board) -> None:
    from engram.link.companion import Companion  # absent from boards without one

    url = board.config.get("companion.url")
    board.companion = Companion(board, _trust(board.config, board.folder, url))


def add_agent(board, learns: bool = True) -> None:
    """Add what answers turns to a board that has all else; with `learns` what follows them, if it has a model."""
    remote_search = board.companion.ask if board.companion else None
    config, clock, records, journal = board.config, board.clock, board.records, board.journal
    board.tools = tools = Tools(
        config.get("mode"),
        clock,
        records,
        board.recall,
        journal,
        board.forgetting,
        board.profile,
        board.notes,
        board.intents,
        _remote_recall(board),
    )
    board.prompts = prompts = prompt_builder(board)
    board.offline = offline = Offline(records, board.recall, board.forgetting, board.intents, remote_search)
    post_turn = _post_turn(board, tools, prompts) if board.model and learns else None
    board.agent = Agent(
        config, journal, board.intents, prompts, tools, offline, board.gate, board.model, post_turn, remote_search
    )


def prompt_builder(board) -> PromptBuilder:
    """What builds the prompts from a board's memory."""
    records, journal = board.records, board.journal
    return PromptBuilder(board.config, board.clock, records, journal, board.recall, board.profile, board.notes)


def _remote_recall(board: Board):
    """What the tools have of a companion, None where there neither is one nor was."""
    if not (board.archived or board.companion):
        return None
    from engram.agent.remote_recall import RemoteRecall  # absent from boards without a companion

    companion = board.companion
    search, archive = (companion.ask, companion.archive) if companion else (None, None)
    return RemoteRecall(board.clock, board.records, board.journal, search, archive, board.archived)


def _post_turn(board: Board, tools, prompts):
    """What follows the turns that a model answers."""
    from engram.agent.post_turn import PostTurn  # these are absent from boards without a model
    from engram.learning.distill import Distillation
    from engram.learning.extract import Extraction
    from engram.learning.flush import Flush
    from engram.learning.jobs import Jobs

    config, records, journal, cursor, model = board.config, board.records, board.journal, board.learning, board.model
    extraction = Extraction(config, board.clock, records, journal, board.notes, cursor, model)
    flush = Flush(config, records, journal, cursor, tools, prompts, model, extraction)
    board.distillation = Distillation(config, board.clock, records, board.daily, cursor, model)
    quiet_ms = 1000 * config.get("extract.pause_seconds")
    board.jobs = Jobs((extraction, flush, board.distillation), quiet_ms, board.gate.is_busy)
    return PostTurn(config, records, journal, board.intents, board.jobs, flush)


def add_commands(board) -> None:
    """Add the commands: each has its module and what it needs."""
    config, clock, records, journal = board.config, board.clock, board.records, board.journal
    notes, daily, recall, forgetting = board.notes, board.daily, board.recall, board.forgetting
    companion, archived = board.companion, board.archived
    search, archive = (companion.ask, companion.archive) if companion else (None, None)
    stats = (
        config,
        clock,
        board.agent,
        records,
        board.capacity,
        board.trash,
        journal,
        board.intents,
        recall,
        board.jobs,
    )
    handlers = {
        "memory": ("memory", (config, clock, records, journal, notes, forgetting, archived, archive)),
        "recall": ("recall", (clock, recall, search)),
        "forget": ("recall", (clock, records, recall, journal, forgetting)),
        "undo": ("recall", (board.changes,)),
        "pin": ("care", (records,)),
        "unpin": ("care", (records,)),
        "dedupe": ("care", (records,)),
        "note": ("care", (notes,)),
        "clear": ("care", (config, notes, daily)),
        "distill": ("care", (config, notes, daily, board.distillation)),
        "session": ("sessions", (journal, clock)),
        "profile": ("sessions", (board.profile,)),
        "intents": ("reminders", (board.intents, clock)),
        "mode": ("board", (config, board.tools)),
        "compact": ("board", (records, journal)),
        "json": ("board", ()),
        "export": ("transfer", (board,)),
        "import": ("transfer", (board,)),
        "stats": ("stats", stats + (companion, archived, board.network)),
        "companion": ("stats", (companion,)),
        "workspace": ("workspace", (config,)),
    }
    board.commands = Commands(handlers)


def _model(config, folder: str, network):
    """The model that the settings name, None if they name none; ConfigError if they are not enough."""
    url, name = config.get("llm.url"), config.get("llm.model")
    if not url and not name:
        return None
    if not url or not name:
        raise ConfigError("llm.url" if name else "llm.model", "is missing: a model needs both llm.url and llm.model.")
    from engram.llm.http.client import Client  # absent from boards without a model
    from engram.llm.model import Model

    connect, stall = config.get("llm.connect_seconds"), config.get("llm.stall_seconds")
    trust = _trust(config, folder, url)
    try:
        client = Client(url, connect_ms=connect * 1000, stall_ms=stall * 1000, tls=trust, network=network)
    except ArgumentError as error:
        raise ConfigError("llm.url", error.problem) from None
    key, retries = config.secret("llm.key"), config.get("llm.retries")
    return Model(client, _adapter(config, url), name=name, key=key, retries=retries)


def _adapter(config, url: str):
    """One of the two APIs: the other's code is not loaded."""
    if config.get("llm.api") == "anthropic":
        from engram.llm.anthropic import Anthropic

        return Anthropic()
    from engram.llm.openai import OpenAI, limit_field

    return OpenAI(limit=limit_field(url))


def _trust(config, folder: str, url: str):
    """The TLS context for a URL, None if it needs none."""
    if url.lower().partition(":")[0] not in ("https", "mqtts"):
        return None
    from engram.llm.http.transport import tls_context  # absent from boards without a link

    name = config.get("llm.roots")
    roots = files.read(folder + "/" + name, _ROOTS_LARGEST)
    if not roots:
        raise ConfigError("llm.roots", "there is no file %s with root certificates; see docs/settings.md." % name)
    try:
        return tls_context(roots)
    except ArgumentError as error:
        raise ConfigError("llm.roots", name + " " + error.problem) from None
