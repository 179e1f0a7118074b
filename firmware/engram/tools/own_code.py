"""Runs own.py, the file in which a person keeps code of their own on a board."""

import sys

from engram import diag
from engram.compat import print_trace


def load(app, folder: str) -> None:
    """Import own.py of a folder and call its setup(app), if it has one; an error there is shown, and the board goes on."""
    if folder and folder not in sys.path:
        sys.path.append(folder)
    try:
        sys.modules.pop("own", None)  # what another folder had
        module = __import__("own")
        setup = getattr(module, "setup", None)
        if setup:
            setup(app)
    except Exception as error:  # noqa: BLE001 the code is a person's own, and may raise anything
        print_trace(error)
        diag.failure("own.py", error, "the board goes on without the rest of it")
