"""Wires a board's timers: a board that has none never loads this."""

from engram import text
from engram.build_agent import make_answerer
from engram.timers.asking import Asking
from engram.timers.telling import Telling
from engram.timers.timers import Timers


def add_timers(board) -> None:
    """Add what is said, called or asked at a time."""
    folder = board.folder + "/memory"
    board.timers = Timers(folder, board.clock, lambda timers: _telling(board, timers))
    board.timers.open()
    if board.begin:
        board.begin("timers", board.timers.run)


def _telling(board, timers) -> Telling:
    """What tells those that are due."""

    def answerer(journal, reminders, model):
        return make_answerer(board, journal, reminders, model, None)

    def make_asking():
        parts = board.config, board.journal, board.gate, board.inbox.deliveries(), board.model, board.jobs
        return Asking(*parts, answerer)

    async def call(name: str, arguments: str, caller, is_confirmed: bool) -> tuple:
        return await board.toolbox.call(name, text.loads(arguments), caller, is_confirmed)

    return Telling(timers, board.inbox, board.journal, make_asking, call)
