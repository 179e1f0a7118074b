"""Wires a board's senses: a board that has none never loads this."""

from engram import diag
from engram.errors import ArgumentError, EngramError
from engram.lazy import lazy


def add_senses(board) -> None:
    """Add what keeps a board's readings, what watches them, and what shows them."""
    board.senses = _senses(board)
    board.sense_watch = _sense_watch(board)
    board.senses.listen(board.sense_watch.on_minute)
    board.sense_view = _sense_view(board)


def _senses(board):
    """What keeps readings of sensors."""
    from engram.senses.senses import Senses  # absent from boards without senses

    config = board.config
    limits = [config.get("senses." + name) for name in ("most", "bytes", "write_minutes", "raw_readings")]
    configs = _sense_configs(board)
    declared = {sense.name: (sense.unit, sense.decimals) for sense in configs}
    senses = Senses(board.folder + "/memory", board.clock, *limits, declared=declared)
    senses.open()
    if any(sense.kind != "code" for sense in configs):
        from engram.senses.sampling import Sampling  # absent from boards without sensors

        board.sampling = Sampling(senses, configs, board.read_pin)
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


def _sense_watch(board):
    """What watches a board's senses."""
    from engram.senses.events.build_watch import make_watch  # absent from boards without senses

    def push(caller, content):
        return board.inbox.push(caller, content)

    memory = board.records, board.journal, board.notes, push
    watch, limits = make_watch(board.config, board.folder + "/memory/senses", board.clock, board.senses, *memory)
    board.sense_limits = limits
    _add_tool(board, _limit_tool(board, limits))
    return watch


def _sense_view(board):
    """What shows readings to those who may see them; a model gets a tool for it."""
    from engram.senses.answers.view import SenseView  # absent from boards without senses

    config, failing = board.config, board.sampling.failing if board.sampling else tuple
    settings = config.table("senses"), config.get("senses.share"), config.get("senses.tokens")
    view = SenseView(board.senses, board.sense_watch, board.sense_limits, board.clock, *settings, failing)
    if board.model:
        _add_tool(board, view.tool())
    return view


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


def limit_rule(board):
    """What keeps a limit of a sense that a message plainly asks for."""

    def keep_limit(said: str, caller, is_new: bool = False) -> str:
        """A sentence on it, "" for none; with `is_new` only of a limit that there was not."""
        with lazy("senses.events.limit_rules", "text.phrases"):
            from engram.senses.events import limit_rules  # seldom needed

            try:
                return limit_rules.add_limit_by_rule(board.sense_limits, said, caller, is_new)
            except EngramError as error:
                return "no limit: " + str(error)

    return keep_limit
