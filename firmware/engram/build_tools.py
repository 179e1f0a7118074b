"""Wires a board's tools, and its pins."""

from engram.agent.tools import MemoryTools
from engram.compat import const
from engram.errors import ArgumentError, ConfigError
from engram.tools.toolbox import Toolbox

_SHARE = const(8)  # of the model's window, the part that tools beside the memory's may take


def make_toolbox(board, remote) -> Toolbox:
    """Return the Toolbox with the memory's tools; `remote` is their RemoteRecall, None without a companion."""
    tools = MemoryTools(
        config=board.config,
        clock=board.clock,
        records=board.records,
        recall=board.recall,
        journal=board.journal,
        forgetting=board.forgetting,
        profile=board.profile,
        notes=board.notes,
        remote=remote,
    )
    toolbox = Toolbox(board.config.get("llm.context_tokens") // _SHARE)
    for tool in tools.tools():
        toolbox.add(tool)
    return toolbox


def add_pins(board) -> None:
    """Open the pins of config.json, and add the tools over them."""
    from engram.tools import pins  # absent from boards without pins

    board.pins = pins.open_pins(board.config.table("pins"), board.folder)
    try:
        for tool in board.pins.tools():
            board.toolbox.add(tool)
    except ArgumentError as error:
        raise ConfigError("pins", "take shorter names: " + error.problem) from None
