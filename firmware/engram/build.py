"""Wires one board: makes each object and hands it what it needs. No other file does."""

from collections import namedtuple

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
from engram.memory.text_changes import TextChanges
from engram.memory.undo import Undo
from engram.memory.journal.schema import TurnSchema
from engram.memory.journal.sessions import Sessions
from engram.memory.journal.journal import Journal
from engram.memory.principal_files import PrincipalFiles
from engram.memory.texts.notes import Notes
from engram.memory.texts.profile import Profile
from engram.memory.texts.retention import NoteRetention
from engram.memory.forgetting import Forgetting
from engram.memory.recall import Recall
from engram.learning.cursor import LearningCursor
from engram.reminders.reminders import Reminders
from engram.agent.agent import Agent
from engram.agent.offline import Offline
from engram.agent.prompt import PromptBuilder
from engram.agent.tools import Tools
from engram.compat import const
from engram.board import Board
# isort: on

Source = namedtuple("Source", ("clock", "records", "journal", "trash", "forgetting", "profile", "notes"))
"""What an export reads."""

_ROOTS_LARGEST = const(32768)  # bytes of the file of root certificates


def build(config, folder: str = "", clock=None, model=None, network=None) -> Board:
    """Wire a board on a folder; ConfigError when a setting is wrong, StoreError when the folder cannot be used.

    `clock` and `model` take the places of the machine's clock and of the model that the settings name; `network` is the board's
    Wi-Fi, if it has one.
    """
    board = Board(config, folder, clock or Clock(zone_minutes(config.get("timezone"))), network)
    files.make_folder(folder + "/memory")
    _add_logs(board)
    _add_texts(board)
    _add_recall(board)
    board.model = model or _model(config, folder, network)
    if config.get("companion.url"):
        _add_companion(board)
    add_agent(board)
    if not (board.turns_reserve.keep() and board.reserve.keep()):
        diag.warning("store", "the flash is nearly full: forget something and /compact")
    return board


def _add_logs(board: Board) -> None:
    """Open the logs, and add what reads and writes them."""
    config, folder, clock = board.config, board.folder + "/memory", board.clock
    log = Log(folder, "memory_records", config.get("records.bytes"))
    board.reserve = Reserve(folder + "/reserve.bin", log.segment_bytes)
    board.schema = schema = RecordSchema()
    store = Store(log, schema, board.reserve)
    store.open()
    log = Log(board.folder + "/journal", "journal", config.get("journal.bytes"))
    board.turns_reserve = Reserve(board.folder + "/journal/reserve.bin", log.segment_bytes)
    sessions = Sessions(config.get("session.live"))
    journal_store = Store(log, TurnSchema(sessions, clock), board.turns_reserve)
    journal_store.open()
    _add_archive_index(board, store, journal_store)
    link_state = board.link_state if config.get("archive.on") else None  # otherwise it is for the companion alone
    board.journal = Journal(journal_store, sessions, clock, config.get("journal.bytes"), link_state)
    board.records = _records(board, store)
    board.capacity = board.records.eviction  # type: ignore
    board.learning = LearningCursor(folder, schema, board.records, board.journal, clock)
    board.learning.open()
    board.forgetting = Forgetting(board.records, board.journal, board.trash, board.archived)


def _records(board: Board, store) -> Records:
    config, folder, clock = board.config, board.folder + "/memory", board.clock
    cap, most = config.get("records.bytes"), config.get("records.most")
    board.trash = Trash(folder, config.get("records.trash_bytes"))
    usage = Usage(folder, clock)
    importance = Importance(usage, clock, config.get("decay.after_days"), config.get("decay.a_week"))

    def make_eviction(records):
        return Eviction(records, board.trash, most, cap, board.archive)

    chars, keep = config.get("records.content_chars"), board.turns_reserve.keep
    return Records(store, clock, chars, cap, keep, most, usage, importance, board.archived, make_eviction)


def _add_archive_index(board: Board, store, journal_store) -> None:
    """Add what a board keeps of its companion's archive, if it has a companion or had one."""
    config, folder = board.config, board.folder + "/memory"
    if config.get("companion.url"):
        from engram.link.link_state import LinkState  # absent from boards without a companion

        board.link_state = LinkState(folder, board.clock, (("records", store.raw()), ("journal", journal_store.raw())))
    if config.get("companion.url") or board.schema.archived or files.size(folder + "/archive.jsonl") >= 0:
        from engram.archive.index import ArchiveIndex

        link_state = board.link_state if config.get("archive.on") else None
        uses = config.get("archive.uses")
        board.archived = ArchiveIndex(folder, store, board.schema, board.clock, link_state, uses)


def _add_texts(board: Board) -> None:
    """Add profile, notes, reminders and undo."""
    config, folder, clock = board.config, board.folder + "/memory", board.clock
    store = board.records.entries
    changes = TextChanges(store, clock)
    profiles = board.folder + "/profile"
    people = PrincipalFiles((folder, profiles), config.get("principals.most"))
    board.profile = Profile(profiles, changes, people, config.get("profile.chars"))
    board.profile.seed()
    days, most_bytes = config.get("notes.days"), config.get("notes.bytes")
    board.notes = Notes(folder, changes, clock, people, config.get("notes.chars"), days)
    board.changes = Undo(store, board.journal, clock, {"profile": board.profile, "note": board.notes})
    board.daily = NoteRetention(folder, board.notes, board.schema, clock, days, most_bytes)
    limits = [config.get("intents." + name) for name in ("on", "most", "days", "cooldown_hours", "a_turn")]
    board.intents = Reminders(folder, clock, *limits)
    board.intents.open()


def _add_recall(board: Board) -> None:
    remote = None
    if board.config.get("companion.url"):
        from engram.archive.remote_results import ResultMerger  # absent from boards without a companion

        remote = ResultMerger(board.records, board.journal, board.archived)
    board.recall = Recall(board.records, board.journal, board.clock, remote)


def _add_companion(board: Board) -> None:
    from engram.link.companion import Companion  # absent from boards without one

    config, records, journal = board.config, board.records, board.journal

    def make_archive(exchange, replication):
        from engram.archive.transfer import ArchiveTransfer

        within_ms, parts = config.get("companion.timeout_ms"), (board.archived, records, journal, board.capacity)
        return ArchiveTransfer(exchange, replication, board.link_state, *parts, board.clock, within_ms, board.is_unread)

    board.companion = Companion(
        config,
        board.clock,
        (("records", records.entries.raw()), ("journal", journal.entries.raw())),
        board.link_state,
        board.gate.is_busy,
        board.network,
        _trust(config, board.folder, config.get("companion.url")),
        board.archived,
        make_archive if config.get("archive.on") else None,
    )


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
    return RemoteRecall(board.clock, board.records, board.recall, search, archive, board.archived)


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


def handlers(board) -> dict:
    """The commands: each has its module and what it needs."""
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
    texts = (forgetting, board.profile, notes)
    source = Source(clock, records, journal, board.trash, *texts)
    return {
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
        "export": ("transfer", (source,)),
        "import": ("transfer", (board.folder, records, clock, journal, board.capacity) + texts),
        "stats": ("stats", stats + (companion, archived, board.network)),
        "companion": ("stats", (companion,)),
        "workspace": ("workspace", (config,)),
    }


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
    return Model(client, _adapter(config, url), name, key, retries)


def _adapter(config, url: str):
    """One of the two APIs: the other's code is not loaded."""
    if config.get("llm.api") == "anthropic":
        from engram.llm.anthropic import Anthropic

        return Anthropic()
    from engram.llm.openai import OpenAI

    return OpenAI(url)


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
