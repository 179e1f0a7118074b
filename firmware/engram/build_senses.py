"""Wires a board's senses: a board that has none never loads this."""

from engram import diag
from engram.errors import ArgumentError, EngramError
from engram.lazy import lazy


def add_senses(board) -> None:
    """Add what keeps readings, what watches them, and what shows them to those who may see them."""
    from engram.senses.answers.view import SenseView  # absent from boards without senses
    from engram.senses.events.build_watch import make_watch  # likewise

    def push(caller, content):
        return board.inbox.push(caller, content)

    def may_push(caller):
        return board.inbox.deliveries().may_push(caller)

    senses = _senses(board)
    memory = board.records, board.journal, board.notes, push, may_push
    watch, limits = make_watch(board.config, board.folder + "/memory/senses", board.clock, senses, *memory)
    senses.listen(watch.on_minute, watch.on_hour)
    config = board.config
    settings = config.table("senses"), config.get("senses.share"), config.get("senses.tokens")
    failing = board.sampling.failing if board.sampling else tuple
    view = SenseView(senses, watch, limits, board.clock, *settings, failing)
    board.senses, board.sense_watch, board.sense_limits, board.sense_view = senses, watch, limits, view
    _add_tool(board, _limit_tool(board, limits))
    if board.model:
        _add_tool(board, view.tool())


def _senses(board):
    """What keeps readings of sensors."""
    from engram.senses.senses import Senses  # absent from boards without senses

    config = board.config
    limits = [config.get("senses." + name) for name in ("most", "bytes", "write_minutes", "raw_readings")]
    configs = _sense_configs(board)
    declared = {sense.name: (sense.unit, sense.decimals) for sense in configs}
    senses = Senses(board.folder + "/memory", board.clock, *limits, declared=declared)
    senses.open()
    sampled = [sense.name for sense in configs if sense.kind != "code"]
    if sampled:
        from engram.senses.sampling import Sampling  # absent from boards without sensors

        board.sampling = Sampling(senses, configs, board.read_pin)
        try:
            senses.make_unread(sampled)
        except EngramError as error:
            diag.warning("senses", str(error))  # the board goes on: a reading makes its sense once there is room
    return senses


def _sense_configs(board) -> list:
    """The senses of config.json."""
    table, pins = board.config.table("senses"), board.config.table("pins")
    if not table:
        return []
    with lazy("senses.sense_config", "senses.registry"):
        from engram.senses import sense_config  # once, at the start

        forbidden = ()
        if sense_config.names_numbers(table):
            from engram.tools import pin_config, pin_driver  # absent from boards without pins

            forbidden = () if pin_driver.is_simulated() else pin_config.forbidden_pins(board.folder)
        return sense_config.parse_senses(table, pins, forbidden, board.config.get("senses.most"))


def _add_tool(board, tool) -> None:
    """Add a tool of the board's own, if there is room."""
    try:
        board.find_toolbox().add(tool, is_own=False)
    except ArgumentError as error:
        diag.warning("senses", "the model has no tool %s: %s" % (tool.name, error))


def _limit_tool(board, tool):
    """The tool by which the model sets limits; others have it only where a sense is shared."""
    from engram.senses.events import limit_tool  # absent from boards without senses
    from engram.tools.own_tool import OwnTool  # likewise

    def run(caller, **arguments):
        return tool.run(arguments, caller)

    config = board.config
    is_shared = config.get("senses.share") == "all" or any(
        entry.get("shared") for entry in config.table("senses").values()
    )
    described = limit_tool.NAME, limit_tool.DESCRIPTION, limit_tool.SCHEMA
    return OwnTool(*described, run, "all" if is_shared else "owner", is_shared, wants_caller=True)
