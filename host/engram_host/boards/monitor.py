"""Shows what a board prints and sends it what is typed, until Ctrl-]."""

import os
import select
import sys
import termios
import tty
from typing import Any

from engram_host.boards import port as ports
from engram_host.boards.errors import BadRequest
from engram_host.boards.progress import Progress

CTRL_RIGHT_BRACKET = b"\x1d"
_PIECE = 4096
_OUTPUT_FLAGS = 1


def monitor(named_port: str, progress: Progress) -> None:
    """Pass on keys and output; on a pipe until that ends. NoPort if the board goes."""
    import serial

    port = ports.choose(named_port)
    try:
        line = serial.serial_for_url(port, baudrate=ports.BAUD, timeout=0, exclusive=True)
    except (OSError, ValueError) as error:
        raise ports.problem(port, error) from None
    with line:
        keys = sys.stdin.fileno()
        if not hasattr(line, "fileno"):
            raise BadRequest(f"{port} is no serial port of this computer, which the monitor needs.")
        old = termios.tcgetattr(keys) if os.isatty(keys) else None
        try:
            if old:
                _pass_each_key(keys)
            progress.say(f"{port}: Ctrl-] ends, Ctrl-C stops the app, Ctrl-D at the prompt starts it again.")
            _pass_on(line, keys)
        except ports.LOST:
            raise ports.gone(port) from None
        finally:
            if old:
                termios.tcsetattr(keys, termios.TCSADRAIN, old)
    progress.say("")


def _pass_each_key(keys: int) -> None:
    """Let the terminal keep no key for itself; what is printed still begins each line on the left."""
    tty.setraw(keys, termios.TCSADRAIN)
    mode = termios.tcgetattr(keys)
    mode[_OUTPUT_FLAGS] |= termios.OPOST
    termios.tcsetattr(keys, termios.TCSADRAIN, mode)


def _pass_on(line: Any, keys: int) -> None:
    while True:
        ready, _, _ = select.select([line.fileno(), keys], [], [])
        if line.fileno() in ready:
            data = os.read(line.fileno(), _PIECE)
            if not data:
                raise OSError("the port has ended")
            os.write(sys.stdout.fileno(), data)
        if keys in ready:
            typed = os.read(keys, _PIECE)
            typed, found, _ = typed.partition(CTRL_RIGHT_BRACKET)
            line.write(typed)
            if found or not typed:
                return
