"""Wires a board's senses: a board that has none never imports this."""

# Leaves first, as in build.py.
# isort: off
from engram import diag
from engram.errors import ArgumentError, EngramError
from engram.senses import rings, sense_config  # noqa: F401
from engram.senses.senses import Senses
from engram.senses.answers.view import SenseView, readings_scope
from engram.senses.events import limit_tool
from engram.senses.events.day_line import add_day_line
from engram.senses.events.event_file import EventFile
from engram.senses.events.events import Events
from engram.senses.events.limit_tool import LimitTool
from engram.senses.events.limits import Limits
from engram.senses.events.watch import Watch
from engram.senses.sampling import Sampling
from engram.tools import pin_config, pin_driver
from engram.tools.own_tool import OwnTool
# isort: on


def add_senses(board) -> None:
    """Add what keeps readings, what watches them, and what shows them to those who may see them."""
    config, declared = board.config, board.config.table("senses")
    share = config.get("senses.share")
    board.senses = senses = _make_senses(board)

    def scope_of(sense) -> str:
        return readings_scope(sense, share, declared)

    limits = Limits(board.folder + "/memory/senses/limits.jsonl", senses, declared)
    limits.load()
    events = _make_events(board, scope_of)
    board.sense_watch = watch = Watch(senses, board.clock, limits, events, declared, config.get("senses.unusual"))
    watch.open()
    senses.listen(watch.on_minute, watch.on_hour)
    board.sense_limits = limiting = LimitTool(senses, limits, scope_of)
    failing = board.sampling.failing if board.sampling else tuple
    board.sense_view = board.prompts.senses = view = SenseView(
        senses, watch, limiting, board.clock, declared, share, config.get("senses.tokens"), failing
    )
    _add_tool(board, _limit_tool(limiting, share == "all" or any(entry.get("shared") for entry in declared.values())))
    if board.model:
        _add_tool(board, view.tool())


def _make_senses(board) -> Senses:
    config, configs = board.config, _sense_configs(board)
    limits = [config.get("senses." + name) for name in ("most", "bytes", "write_minutes", "raw_readings")]
    declared = {sense.name: (sense.unit, sense.decimals) for sense in configs}
    senses = Senses(board.folder + "/memory", board.clock, *limits, declared=declared)
    senses.open()
    sampled = [sense.name for sense in configs if sense.kind != "code"]
    if sampled:
        board.sampling = Sampling(senses, configs, board.read_pin)
        try:
            senses.make_unread(sampled)
        except EngramError as error:
            diag.warning("senses", str(error))  # the board goes on: a reading makes its sense once there is room
    return senses


def _sense_configs(board) -> list:
    """The senses of config.json."""
    table = board.config.table("senses")
    forbidden = ()
    if sense_config.names_numbers(table) and not pin_driver.is_simulated():
        forbidden = pin_config.forbidden_pins(board.folder)
    return sense_config.parse_senses(table, board.config.table("pins"), forbidden, board.config.get("senses.most"))


def _make_events(board, scope_of) -> Events:
    config, senses = board.config, board.senses
    file = EventFile(board.folder + "/memory/senses/events.jsonl")
    file.load()

    def push(caller, content):
        return board.inbox.push(caller, content)

    def may_push(caller):
        return board.inbox.deliveries().may_push(caller)

    def add_day(day: int) -> None:
        add_day_line(senses, file, board.clock, board.notes, day)

    logs = board.records, board.journal
    tell, cool_down = config.get("senses.tell"), config.get("senses.cooldown_minutes") * 60
    end_day = add_day if config.get("senses.day_notes") else None
    return Events(file, senses, board.clock, *logs, push, may_push, tell, cool_down, scope_of, end_day)


def _add_tool(board, tool) -> None:
    """Add a tool of the board's own, if there is room."""
    try:
        board.toolbox.add(tool, is_own=False)
    except ArgumentError as error:
        diag.warning("senses", "the model has no tool %s: %s" % (tool.name, error))


def _limit_tool(limiting: LimitTool, is_shared: bool) -> OwnTool:
    """The tool by which the model sets limits; others have it only where a sense is shared."""

    def run(caller, **arguments):
        return limiting.run(arguments, caller)

    described = limit_tool.NAME, limit_tool.DESCRIPTION, limit_tool.SCHEMA
    return OwnTool(*described, run, "all" if is_shared else "owner", is_shared, wants_caller=True)
