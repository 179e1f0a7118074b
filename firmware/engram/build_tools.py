"""Wires a board's tools beside the memory's, and its pins."""

from engram.agent import schemas
from engram.agent.arguments import read_arguments
from engram.compat import const
from engram.errors import ArgumentError, ConfigError
from engram.tools.toolbox import Toolbox

_SHARE = const(8)  # of the model's window, the part that a person's own tools may take


def make_toolbox(board) -> Toolbox:
    """Return the Toolbox, which holds the tools beside the memory's."""
    names = [tool.name for mode in ("full", "lightweight") for tool in schemas.tools(mode)]
    names += ["timer", "sense_recall", "sense_limit"]
    return Toolbox(tuple(names), read_arguments, board.config.get("llm.context_tokens") // _SHARE)


def add_pins(board):
    """Open the pins of config.json, and add the tools over them."""
    from engram.tools import pins  # absent from boards without pins

    board.pins = pins.open_pins(board.config.table("pins"), board.folder)
    try:
        for tool in pins.tools(board.pins):
            board.toolbox.add(tool)
    except ArgumentError as error:
        raise ConfigError("pins", "take shorter names and notes: " + error.problem) from None
