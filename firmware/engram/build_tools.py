"""Wires a person's own tools and pins: a board that has none never loads this."""

from engram.compat import const
from engram.errors import ArgumentError, ConfigError

_SHARE = const(8)  # of the model's window, the part that a person's own tools may take


def toolbox(board):
    """What holds a person's own tools."""
    from engram.agent import schemas  # seldom needed
    from engram.tools.toolbox import Toolbox  # absent from boards without tools of their own

    names = [tool.name for mode in ("full", "lightweight") for tool in schemas.tools(mode)]
    names += ["timer", "sense_recall", "sense_limit"]
    return Toolbox(tuple(names), board.check_arguments, board.config.get("llm.context_tokens") // _SHARE)


def add_pins(board):
    """Open the pins of config.json, and add the tools over them."""
    from engram.tools import pins  # absent from boards without pins

    board.pins = pins.open_pins(board.config.table("pins"), board.folder)
    try:
        for tool in pins.tools(board.pins):
            board.find_toolbox().add(tool)
    except ArgumentError as error:
        raise ConfigError("pins", "take shorter names and notes: " + error.problem) from None
