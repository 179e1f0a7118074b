"""Wires what answers people: the agent with its tools and prompts, the commands, the inbox, and what learns from turns."""

from engram import diag
from engram.agent.agent import Agent, Confirmations
from engram.agent.answer import Answerer
from engram.agent.offline import Offline
from engram.agent.prompt import PromptBuilder
from engram.agent.tools import Tools
from engram.build_tools import make_toolbox
from engram.channels.console.commands import Commands
from engram.channels.console.commands.handlers import handlers
from engram.channels.deliveries import Deliveries
from engram.channels.inbox import Inbox
from engram.channels.message_handler import MessageHandler
from engram.errors import ArgumentError


def add_agent(board, learns: bool = True) -> None:
    """Add what answers turns to a board that has all else; with `learns` what follows them, if it has a model."""
    board.toolbox = make_toolbox(board)
    _add_turn_parts(board)
    if board.model:
        _add_timer_tool(board)
        if learns:
            _add_jobs(board)

    def make_deliveries(inbox):
        folder = board.folder + "/memory"
        out = Deliveries(inbox, board.journal, board.clock, folder)
        return out, MessageHandler(inbox, board.journal, board.clock, folder, out)

    def answerer():
        return make_answerer(board, board.journal, board.reminders, board.model, board.jobs)

    board.agent = Agent(board.gate, answerer)
    board.commands = Commands(lambda: handlers(board))
    board.inbox = Inbox(board.folder, board.commands, board.agent, make_deliveries)


def _add_turn_parts(board) -> None:
    """Add prompts, the tools that a model calls, and what answers plain commands without a model."""
    config, clock, records, journal = board.config, board.clock, board.records, board.journal
    recall, notes, toolbox = board.recall, board.notes, board.toolbox
    board.prompts = PromptBuilder(
        config, clock, records, journal, recall, board.profile, notes, board.tag_snapshots, toolbox
    )
    texts = board.profile, notes, board.reminders
    confirmations = Confirmations()
    remote = _remote_recall(board)
    board.tools = Tools(
        config, clock, records, recall, journal, board.forgetting, *texts, confirmations, remote, toolbox
    )
    search, mode = board.remote_search(), config.get("mode")
    board.offline = Offline(records, recall, board.forgetting, board.reminders, search, board.seen_help, notes, mode)


def _add_timer_tool(board) -> None:
    from engram.timers.timer_tool import TimerTool  # absent from boards without a model

    try:
        board.toolbox.add(TimerTool(board.find_timers, board.toolbox), is_own=False)
    except ArgumentError as error:
        diag.warning("timers", "the model cannot set timers: %s" % error)


def _remote_recall(board):
    """Return the tools' access to a companion, None where there neither is one nor was."""
    if not (board.archived or board.companion):
        return None
    from engram.agent.remote_recall import RemoteRecall  # absent from boards without a companion

    search = board.remote_search()
    return RemoteRecall(board.clock, board.records, board.recall, search, board.archive(), board.archived, board.notes)


def make_answerer(board, journal, reminders, model, jobs):
    """Return an Answerer with these in the places of the board's own; without `jobs` it learns nothing."""
    return Answerer(
        config=board.config,
        journal=journal,
        reminders=reminders,
        push=board.inbox.push,
        prompts=board.prompts,
        tools=board.tools,
        offline=board.offline,
        model=model,
        jobs=jobs,
        flush=board.flush,
        remote_search=board.remote_search(),
        toolbox=board.toolbox,
    )


def _add_jobs(board) -> None:
    """Add what a model does while nobody waits for an answer."""
    from engram.learning.distill import Distillation  # these are absent from boards without a model
    from engram.learning.extract import Extraction  # absent, too
    from engram.learning.flush import Flush  # absent, too
    from engram.learning.jobs import Jobs  # absent, too

    config, clock, records, journal = board.config, board.clock, board.records, board.journal
    cursor, model = board.learning_cursor, board.model
    extraction = Extraction(config, clock, records, journal, board.notes, cursor, model)
    board.flush = Flush(config, records, journal, cursor, board.tools, board.prompts, model, extraction)
    board.distillation = Distillation(config, clock, records, board.note_retention, cursor, model)
    quiet_ms = 1000 * config.get("extract.pause_seconds")
    board.jobs = Jobs((extraction, board.flush, board.distillation), quiet_ms, board.gate.is_busy)
