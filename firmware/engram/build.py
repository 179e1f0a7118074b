"""Wires one board: makes each object and hands it what it needs. build_agent.py does that for what answers people,
build_links.py, build_senses.py and build_tools.py for the parts that the settings name.
"""

# Leaves first: an import within an import takes of the stack, which is short on a chip.
# isort: off
from engram import diag, files, text, log_line  # noqa: F401
from engram.text.days import find_days  # noqa: F401
from engram.clock import Clock
from engram.config import zone_of
from engram.errors import ConfigError
from engram.store.index import merge_policy  # noqa: F401
from engram.store.search import ranking  # noqa: F401
from engram.store.store import Store
from engram.store.log.reserve import Reserve
from engram.store.log.segments import Log
from engram.memory.records import fields  # noqa: F401
from engram.memory.records.importance import Importance, Usage
from engram.memory.records.schema import RecordSchema
from engram.memory.records.records import Records
from engram.memory.records.trash import Trash
from engram.memory.records.eviction import Eviction
from engram.memory.undo import TextChanges, Undo
from engram.memory.journal.schema import TurnSchema
from engram.memory.journal.journal import Journal
from engram.memory.principal_files import PrincipalFiles
from engram.memory.texts.notes import Notes
from engram.memory.texts.profile import Profile
from engram.memory.texts.retention import NoteRetention
from engram.memory.forgetting import Forgetting
from engram.learning.cursor import LearningCursor
from engram.memory.recall import Recall
from engram.timers.timers import Timers
from engram.board import Board
from engram.text import lenient_json  # noqa: F401
from engram.tools import toolbox  # noqa: F401
from engram.agent import get_tool, tool_loop  # noqa: F401
from engram.channels import deliveries  # noqa: F401
from engram.transfer import importer  # noqa: F401
from engram.channels.console.commands import handlers  # noqa: F401
from engram.build_agent import add_agent
# isort: on


def build(config, folder: str = "", clock=None, model=None, network=None) -> Board:
    """Wire a board on a folder; ConfigError when a setting is wrong, StoreError when the folder cannot be used.

    `clock` and `model` take the places of the machine's clock and of the model that the settings name; `network` is the board's
    Wi-Fi, if it has one.
    """
    if clock is None:
        standard, zone = zone_of(config.get("timezone"))
        clock = Clock(standard, None, zone)
    board = Board(config, folder, clock, network)
    board.model = model or _model(board)
    add_memory(board)
    if config.get("companion.url"):
        from engram.build_links import add_companion  # absent from boards without one

        add_companion(board)
    add_agent(board)
    if board.companion and board.companion.inbound:

        def is_let_in(caller) -> bool:
            return not board.find_people().is_blocked(caller.principal)

        board.inbox.add_channel("link", board.companion.inbound.open_sink, is_let_in)
    if config.secret("telegram.token"):
        from engram.build_links import add_telegram  # absent from boards without a bot

        add_telegram(board)
    _add_hands_and_senses(board)
    if not (board.turns_reserve.keep() and board.reserve.keep()):
        diag.warning("store", "the flash is nearly full: forget something and /compact")
    return board


def _model(board: Board):
    """The model that the settings name, None if they name none; ConfigError if they are not enough."""
    url, name = board.config.get("llm.url"), board.config.get("llm.model")
    if not url and not name:
        return None
    if not url or not name:
        raise ConfigError("llm.url" if name else "llm.model", "is missing: a model needs both llm.url and llm.model.")
    from engram.build_links import make_model  # absent from boards without a model

    return make_model(board)


def _add_hands_and_senses(board: Board) -> None:
    """Add the pins and senses that the settings name, or that the flash has."""
    if board.config.table("pins"):
        from engram.build_tools import add_pins  # absent from boards without pins

        add_pins(board)
    memory = board.folder + "/memory"
    if board.config.table("senses") or files.size(memory + "/senses/senses.jsonl") >= 0:
        find_senses(board)


def find_senses(board: Board):
    """Return the board's Senses, made with the first reading if the settings name none."""
    if board.senses is None:
        from engram.build_senses import add_senses  # absent from boards without senses

        add_senses(board)
    return board.senses


def add_memory(board: Board, segment_bytes: int = 0) -> None:
    """Add what a board remembers with, on segments of a size that fits the settings if none is given."""
    files.make_folder(board.folder + "/memory")
    _add_logs(board, segment_bytes)
    _add_texts(board)
    _add_recall(board)


def _add_logs(board: Board, segment_bytes: int) -> None:
    """Open the logs, and add what reads and writes them."""
    config, folder, clock = board.config, board.folder + "/memory", board.clock
    log = Log(folder, "memory_records", config.get("records.bytes"), segment_bytes)
    board.reserve = Reserve(folder + "/reserve.bin", log.segment_bytes)
    board.schema = schema = RecordSchema()
    store = Store(log, schema, board.reserve, board.turn_queue.is_active)
    store.open()
    log = Log(board.folder + "/journal", "journal", config.get("journal.bytes"), segment_bytes)
    board.turns_reserve = Reserve(board.folder + "/journal/reserve.bin", log.segment_bytes)
    turn_schema = TurnSchema(clock)
    journal_store = Store(log, turn_schema, board.turns_reserve, board.turn_queue.is_active)
    journal_store.open()
    _add_archive_index(board, store, journal_store)
    link_state = board.link_state if config.get("archive.on") else None  # otherwise it is for the companion alone
    board.journal = Journal(journal_store, turn_schema, clock, config.get("journal.bytes"), link_state)
    board.records = _records(board, store)
    board.eviction = board.records.eviction  # type: ignore
    board.learning_cursor = LearningCursor(folder, schema, board.records, board.journal, clock)
    board.learning_cursor.open()
    board.forgetting = Forgetting(board.records, board.journal, board.trash, board.archived)


def _records(board: Board, store) -> Records:
    config, folder, clock = board.config, board.folder + "/memory", board.clock
    cap, most = config.get("records.bytes"), config.get("records.most")
    board.trash = Trash(folder, config.get("records.trash_bytes"))
    usage = Usage(folder, clock)
    importance = Importance(usage, clock)

    def make_eviction(records):
        return Eviction(records, board.trash, most, cap, lambda: board.archive)

    keep = board.turns_reserve.keep
    return Records(store, board.journal, clock, cap, keep, most, usage, importance, board.archived, make_eviction)


def _add_archive_index(board: Board, store, journal_store) -> None:
    """Add what a board keeps of its companion's archive, if it has a companion or had one."""
    config, folder = board.config, board.folder + "/memory"
    if config.get("companion.url"):
        from engram.link.link_state import LinkState  # absent from boards without a companion

        board.link_state = LinkState(folder, board.clock, (("records", store.raw()), ("journal", journal_store.raw())))
    if config.get("companion.url") or board.schema.archived or files.size(folder + "/archive.jsonl") >= 0:
        from engram.archive.index import ArchiveIndex  # absent from boards that have no archive

        link_state = board.link_state if config.get("archive.on") else None
        board.archived = ArchiveIndex(folder, store, board.schema, board.clock, link_state)


def _add_texts(board: Board) -> None:
    """Add profile, notes, timers and undo."""
    config, folder, clock = board.config, board.folder + "/memory", board.clock
    store = board.records.entries
    changes = TextChanges(store, clock)
    profiles = board.folder + "/profile"
    people = PrincipalFiles((folder, profiles), config.get("principals.most"))
    board.profile = Profile(profiles, changes, people)
    board.profile.seed()
    days, most_bytes = config.get("notes.days"), config.get("notes.bytes")
    board.notes = Notes(folder, changes, clock, people, days)
    board.undo = Undo(store, board.journal, clock, {"profile": board.profile, "note": board.notes})
    board.note_retention = NoteRetention(folder, board.notes, board.schema, clock, days, most_bytes)
    board.timers = Timers(folder, clock)
    board.timers.open()


def _add_recall(board: Board) -> None:
    """Add what searches records and turns, and takes in what a companion has found."""
    remote = None
    if board.config.get("companion.url"):
        from engram.archive.remote_results import ResultMerger  # absent from boards without a companion

        remote = ResultMerger(board.records, board.journal, board.archived)
    board.recall = Recall(board.records, board.journal, board.notes, board.clock, remote, board.searches)
