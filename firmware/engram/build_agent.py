"""Wires what answers people: the agent with its tools and prompts, the commands, the inbox, and what learns from turns."""

from engram import diag, text
from engram.agent.answer import Agent
from engram.agent.offline import Offline
from engram.agent.prompt import PromptBuilder
from engram.build_tools import make_toolbox
from engram.channels.console.commands import Commands
from engram.channels.console.commands.handlers import HANDLERS
from engram.channels.inbox import Inbox
from engram.errors import ArgumentError
from engram.timers.runner import TimerRunner
from engram.timers.tool import TimerTool
from engram.timers.turn import TimerTurns


def add_agent(board, learns: bool = True) -> None:
    """Add what answers turns to a board that has all else; with `learns` what follows them, if it has a model."""
    board.toolbox = make_toolbox(board, _remote_recall(board))
    _add_turn_parts(board)
    if board.model:
        _add_timer_tool(board)
        if learns:
            _add_jobs(board)

    board.agent = Agent(board)
    board.commands = Commands(board, HANDLERS)
    board.inbox = Inbox(board.folder, board.commands, board.agent, board.journal, board.clock)
    _add_timer_runner(board)


def _add_turn_parts(board) -> None:
    """Add prompts, the tools that a model calls, and what answers plain commands without a model."""
    config, clock, records, journal = board.config, board.clock, board.records, board.journal
    recall, notes, toolbox = board.recall, board.notes, board.toolbox
    board.prompts = PromptBuilder(
        config, clock, records, journal, recall, board.profile, notes, board.tag_snapshots, toolbox
    )
    search, mode = board.remote_search, config.get("mode")
    board.offline = Offline(records, recall, board.forgetting, search, notes, mode)


def _add_timer_runner(board) -> None:
    async def call(name: str, arguments: str, caller, is_confirmed: bool) -> tuple:
        return await board.toolbox.call(name, text.loads(arguments), caller, is_confirmed)

    board.timers.runner = TimerRunner(board.timers, board.inbox, board.journal, TimerTurns(board), call)


def _add_timer_tool(board) -> None:
    try:
        board.toolbox.add(TimerTool(board.timers, board.toolbox))
    except ArgumentError as error:
        diag.warning("timers", "the model cannot set timers: %s" % error)


def _remote_recall(board):
    """Return the tools' access to a companion, None where there neither is one nor was."""
    if not (board.archived or board.companion):
        return None
    from engram.agent.remote_recall import RemoteRecall  # absent from boards without a companion

    search = board.remote_search
    return RemoteRecall(board.clock, board.records, board.recall, search, board.archive, board.archived, board.notes)


def _add_jobs(board) -> None:
    """Add what a model does while nobody waits for an answer."""
    from engram.learning.distill import Distillation  # these are absent from boards without a model
    from engram.learning.extract import Extraction  # absent, too
    from engram.learning.flush import Flush  # absent, too
    from engram.learning.jobs import Jobs  # absent, too

    config, clock, records, journal = board.config, board.clock, board.records, board.journal
    cursor, model = board.learning_cursor, board.model
    extraction = Extraction(config, clock, records, journal, board.notes, cursor, model)
    board.flush = Flush(config, records, journal, cursor, board.toolbox, board.prompts, model, extraction)
    board.distillation = Distillation(config, clock, records, board.note_retention, cursor, model)
    quiet_ms = 1000 * config.get("extract.pause_seconds")
    board.jobs = Jobs((extraction, board.flush, board.distillation), quiet_ms, board.turn_queue.is_busy)
