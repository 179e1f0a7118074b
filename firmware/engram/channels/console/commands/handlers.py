"""The function of each command: it takes the board, the caller, and the text behind the name."""

from engram.channels.console.commands import board, memory, people, stats, transfer

_MODULES = (memory, board, people, stats, transfer)


def find_handler(name: str):
    """Return NAME_command of the module that has it."""
    return next(getattr(module, name + "_command") for module in _MODULES if hasattr(module, name + "_command"))
