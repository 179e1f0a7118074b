"""Wires a board's timers: a board that has none never loads this."""

from engram import diag, text
from engram.compat import const
from engram.errors import ArgumentError

_NO_TOOLBOX = const("this board has no tools of its own.")


def timers(board):
    """What is said, called or asked at a time."""
    from engram.timers.timers import Timers  # absent from boards without timers

    def make_telling(timers):
        return _telling(board, timers)

    found = Timers(board.folder + "/memory", board.clock, make_telling, board.config.get("timers.most"))
    found.open()
    return found


def _telling(board, timers):
    """What tells those that are due."""
    from engram.timers.telling import Telling  # while one is due

    def make_asking():
        from engram.timers.asking import Asking  # while one asks

        parts = board.config, board.journal, board.gate, board.inbox.deliveries(), board.model, board.jobs
        return Asking(*parts, board.make_answerer)

    async def call(name: str, arguments: str, caller, is_confirmed: bool) -> tuple:
        if not board.toolbox:
            return False, _NO_TOOLBOX
        return await board.toolbox.call(name, text.loads(arguments), caller, is_confirmed)

    return Telling(timers, board.inbox, board.journal, make_asking, call)


def add_timer_tool(board) -> None:
    """Let the model set timers: from the first message on that may ask for one, or while there are some."""
    from engram.timers.timer_tool import TimerTool  # absent from boards without timers

    board.has_timer_tool = True
    try:
        board.find_toolbox().add(TimerTool(board.find_timers, board.check_tool), is_own=False)
    except ArgumentError as error:
        diag.warning("timers", "the model cannot set timers: %s" % error)


def check_tool(board, name: str, arguments: str, caller, is_confirmed: bool) -> None:
    """See Board.check_tool()."""
    if not board.toolbox or name == "timer":
        raise ArgumentError("tool", _NO_TOOLBOX)
    try:
        values = text.loads(arguments)
    except ValueError:
        values = None
    if not isinstance(values, dict):
        raise ArgumentError("arguments", 'must be a JSON object such as {"value": 1}.')
    board.toolbox.check(name, values, caller, is_confirmed)
