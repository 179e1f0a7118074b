"""Wires one board: makes each object and hands it what it needs. build_turn.py does that for what only turns need,
commands/handlers.py for the commands; no other file does.
"""

# Leaves first: an import within an import takes of the stack, which is short on a chip.
# isort: off
from engram import diag, files, text, log_line  # noqa: F401
from engram.text.days import find_days  # noqa: F401
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
from engram.reminders.reminders import Reminders
from engram.agent.agent import Agent, Confirmations
from engram.channels.console.commands import Commands, commands
from engram.channels.inbox import Inbox, Message
from engram.board import Board
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
        _add_companion(board)
    add_agent(board)
    if board.companion and board.companion.listening:

        def is_let_in(caller) -> bool:
            return not board.find_people().is_blocked(caller.principal)

        board.inbox.add_channel("link", board.companion.listening.open_sink, is_let_in)
    if config.secret("telegram.token"):
        _add_telegram(board)
    _add_hands_and_senses(board)
    if not (board.turns_reserve.keep() and board.reserve.keep()):
        diag.warning("store", "the flash is nearly full: forget something and /compact")
    return board


def _add_hands_and_senses(board: Board) -> None:
    """Add the pins, senses and timers that the settings name, or that the flash has."""
    if board.config.table("pins"):
        from engram.build_tools import add_pins  # absent from boards without pins

        add_pins(board)
    memory = board.folder + "/memory"
    if board.config.table("senses") or files.size(memory + "/senses/senses.jsonl") >= 0:
        board.find_senses()
    if files.size(memory + "/timers.jsonl") >= 0:
        board.find_timers()


def add_memory(board: Board, segment_bytes: int = 0) -> None:
    """Add what a board remembers with, on segments of a size that fits the settings if none is given."""
    files.make_folder(board.folder + "/memory")
    _add_logs(board, segment_bytes)
    _add_texts(board)


def _add_logs(board: Board, segment_bytes: int) -> None:
    """Open the logs, and add what reads and writes them."""
    config, folder, clock = board.config, board.folder + "/memory", board.clock
    log = Log(folder, "memory_records", config.get("records.bytes"), segment_bytes)
    board.reserve = Reserve(folder + "/reserve.bin", log.segment_bytes)
    board.schema = schema = RecordSchema()
    store = Store(log, schema, board.reserve, board.gate.is_active)
    store.open()
    log = Log(board.folder + "/journal", "journal", config.get("journal.bytes"), segment_bytes)
    board.turns_reserve = Reserve(board.folder + "/journal/reserve.bin", log.segment_bytes)
    turn_schema = TurnSchema(clock, config.get("session.live"))
    journal_store = Store(log, turn_schema, board.turns_reserve, board.gate.is_active)
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
    importance = Importance(usage, clock, config.get("decay.after_days"), config.get("decay.a_week"))

    def make_eviction(records):
        return Eviction(records, board.trash, most, cap, board.archive)

    chars, keep = config.get("records.content_chars"), board.turns_reserve.keep
    return Records(
        store, board.journal, clock, chars, cap, keep, most, usage, importance, board.archived, make_eviction
    )


def _add_archive_index(board: Board, store, journal_store) -> None:
    """Add what a board keeps of its companion's archive, if it has a companion or had one."""
    config, folder = board.config, board.folder + "/memory"
    if config.get("companion.url"):
        from engram.link.link_state import LinkState  # absent from boards without a companion

        board.link_state = LinkState(folder, board.clock, (("records", store.raw()), ("journal", journal_store.raw())))
    if config.get("companion.url") or board.schema.archived or files.size(folder + "/archive.jsonl") >= 0:
        from engram.archive.index import ArchiveIndex  # absent from boards that have no archive

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
    board.undo = Undo(store, board.journal, clock, {"profile": board.profile, "note": board.notes})
    board.note_retention = NoteRetention(folder, board.notes, board.schema, clock, days, most_bytes)
    limits = [config.get("intents." + name) for name in ("on", "most", "days", "cooldown_hours", "a_turn")]
    board.reminders = Reminders(folder, clock, *limits)
    board.reminders.open()


def _add_companion(board: Board) -> None:
    from engram.build_turn import trust  # absent from boards without a link
    from engram.link.companion import Companion  # absent from boards without one

    config, records, journal = board.config, board.records, board.journal
    url = config.get("companion.url")
    tls = trust(board, url)

    def make_transport(device: str, take):
        token = config.secret("companion.token")
        try:
            if url.lower().startswith("mqtt"):
                from engram.link.mqtt import Mqtt  # one of the two ways

                return Mqtt(url, device, board.link_state.board, token, take, tls)
            from engram.link.http import Http  # one of the two ways

            return Http(url, device, token, take, tls)
        except ArgumentError as error:
            raise ConfigError("companion.url", error.problem) from None

    def make_archive(exchange, replication):
        from engram.archive.transfer import ArchiveTransfer  # absent from boards that have no archive

        within_ms, parts = config.get("companion.timeout_ms"), (board.archived, records, journal, board.eviction)
        return ArchiveTransfer(exchange, replication, board.link_state, *parts, board.clock, within_ms, board.is_unread)

    async def answer(mid, caller, content, is_command, origin, sink):
        if board.find_people().is_blocked(caller.principal):
            raise ArgumentError(caller.principal, "is blocked on this board.")
        await board.inbox.handle(Message(mid, caller, content, is_command, None, *origin), sink)

    async def redeliver():
        await board.inbox.redeliver("link")

    def find_senses():
        return board.senses, board.sense_watch and board.sense_watch.events

    board.companion = Companion(
        config,
        board.clock,
        (("records", records.entries.raw()), ("journal", journal.entries.raw())),
        board.link_state,
        is_busy=board.gate.is_busy,
        notes=board.notes,
        retention=board.note_retention,
        find_status=board.find_status,
        make_transport=make_transport,
        network=board.network,
        archived=board.archived,
        make_archive=make_archive if config.get("archive.on") else None,
        chat=None if config.get("companion.chat") == "off" else (answer, redeliver),
        find_senses=find_senses,
    )


def _add_telegram(board: Board) -> None:
    """Add the bot that the settings name."""
    config, token = board.config, board.config.secret("telegram.token")
    if not token.partition(":")[0].isdigit() or "/" in token or "?" in token or "#" in token:
        raise ConfigError(
            "telegram.token", "is not a bot's token, which is a number, a colon and letters; paste it again."
        )
    # isort: off
    from engram.build_turn import trust  # absent from boards without a link
    from engram.llm.http import client  # noqa: F401  likewise; leaves first, as above
    from engram.channels.telegram.bot_api import BotApi  # absent from boards without Telegram
    from engram.channels.telegram import sender, updates  # noqa: F401  likewise
    from engram.channels.telegram.channel import Telegram  # likewise

    # isort: on
    url = config.get("telegram.url")
    tls = trust(board, url)

    def make_api(wait_s: int) -> BotApi:
        return BotApi(url, token, tls, board.network, wait_s)

    parts = board.inbox, board.find_people, make_api, commands
    try:
        board.telegram = Telegram(config, board.clock, *parts)
    except ArgumentError as error:
        raise ConfigError("telegram.url", error.problem) from None


def add_agent(board, learns: bool = True) -> None:
    """Add what answers turns to a board that has all else; with `learns` what follows them, if it has a model."""
    board.confirmations = Confirmations()
    if board.model and learns:
        _add_jobs(board)
    board.agent = Agent(board.gate, board.make_answerer)
    board.commands = Commands(board.make_handlers)
    board.inbox = Inbox(board.folder, board.commands, board.agent, board.make_deliveries)


def _add_jobs(board: Board) -> None:
    """Add what a model does while nobody waits for an answer."""
    from engram.learning.distill import Distillation  # these are absent from boards without a model
    from engram.learning.extract import Extraction  # absent, too
    from engram.learning.flush import Flush  # absent, too
    from engram.learning.jobs import Jobs  # absent, too

    config, clock, records, journal = board.config, board.clock, board.records, board.journal
    cursor, model = board.learning_cursor, board.model
    extraction = Extraction(config, clock, records, journal, board.notes, cursor, model)
    board.flush = Flush(config, records, journal, cursor, board.make_tools, board.make_prompts, model, extraction)
    board.distillation = Distillation(config, clock, records, board.note_retention, cursor, model)
    quiet_ms = 1000 * config.get("extract.pause_seconds")
    board.jobs = Jobs((extraction, board.flush, board.distillation), quiet_ms, board.gate.is_busy)


def _model(board: Board):
    """The model that the settings name, None if they name none; ConfigError if they are not enough."""
    url, name = board.config.get("llm.url"), board.config.get("llm.model")
    if not url and not name:
        return None
    if not url or not name:
        raise ConfigError("llm.url" if name else "llm.model", "is missing: a model needs both llm.url and llm.model.")
    from engram.build_turn import make_model  # absent from boards without a model

    return make_model(board)
