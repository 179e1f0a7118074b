"""Wires a board's senses; a board without any never imports it."""

# Leaves first, as in build.py.
# isort: off
from engram import diag
from engram.errors import ArgumentError
from engram.senses import rings, sense_config, tools  # noqa: F401
from engram.senses.senses import Senses
from engram.senses.limits import Limits
from engram.senses.watch import Watch
from engram.senses.view import SenseView
from engram.senses.sampling import Sampling
from engram.tools import pin_config, pin_driver
from engram.tools.toolbox import Tool
# isort: on


def make_senses(board) -> tuple:
    """Return the board's Senses, Sampling or None, Watch, and SenseView."""
    config, clock = board.config, board.clock
    folder, configs = board.folder + "/memory", _sense_configs(board)
    senses = Senses(
        folder,
        clock,
        most_bytes=config.get("senses.bytes"),
        write_minutes=config.get("senses.write_minutes"),
        configs=configs,
        is_shared=config.get("senses.share") == "all",
    )
    senses.open()
    sampling = None
    if any(each.kind != "code" for each in configs):
        sampling = Sampling(senses, configs, board.pins)
    limits = _make_limits(board, senses, folder + "/senses")
    quiet, finds_unusual = config.get("senses.cooldown_minutes"), config.get("senses.unusual")
    watch = Watch(senses, clock, limits, quiet=quiet, finds_unusual=finds_unusual)
    view = board.prompts.senses = SenseView(senses, limits, clock)
    _add_tools(board, view)
    return senses, sampling, watch, view


def _sense_configs(board) -> list:
    table = board.config.table("senses")
    if not table:
        return []
    forbidden = () if pin_driver.is_simulated() else pin_config.forbidden_pins(board.folder)
    return sense_config.parse_senses(table, board.config.table("pins"), forbidden)


def _make_limits(board, senses, folder: str) -> Limits:
    def push(mid: str, caller, content: str) -> bool:
        may_push = board.inbox.deliveries.may_push(caller)
        if may_push:
            board.inbox.deliveries.push(caller, content, mid)
        return may_push is not None

    return Limits(
        folder,
        senses,
        board.clock,
        records=board.records,
        push=push,
        room=board.config.get("senses.tell"),
    )


def _add_tools(board, view) -> None:
    def recall(arguments: dict, turn) -> tuple:
        return tools.recall(view, turn.caller, **arguments), ""

    def limit(arguments: dict, turn) -> tuple:
        return tools.limit(view, turn.caller, **arguments)

    for described, run, writes in ((tools.LIMIT, limit, True), (tools.RECALL, recall, False)):
        try:
            board.toolbox.add(Tool(*described, run, view.is_for, writes))
        except ArgumentError as error:
            diag.warning("senses", "the model has no tool %s: %s" % (described[0], error))
