"""The terminal under a board: it hands on each key at once, since the firmware echoes and edits as on a serial line.

A terminal's own line editing would end lines at 4,095 bytes.
"""

import contextlib
import os
import signal
import termios
from collections.abc import Callable, Iterator

_LOCAL, _CONTROL = 3, 6
_NO_KEY = b"\0"


@contextlib.contextmanager
def keys_at_once(terminal: int, *unheard: int) -> Iterator[None]:
    """Let each key through at once and unechoed; those of the `unheard` control keys are keys like any other."""
    old = termios.tcgetattr(terminal)
    new = termios.tcgetattr(terminal)
    new[_LOCAL] &= ~(termios.ICANON | termios.ECHO)
    for key in unheard:
        new[_CONTROL][key] = _NO_KEY
    termios.tcsetattr(terminal, termios.TCSADRAIN, new)
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, old)


@contextlib.contextmanager
def lending(terminal: int) -> Iterator[Callable[[], None]]:
    """Give what a new process group has to call to get the terminal and its Ctrl-C, which `make` then does not hear."""
    # A group in the background may change the terminal only while it ignores this signal.
    old_handler = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    old_group = os.tcgetpgrp(terminal)
    try:
        yield lambda: os.tcsetpgrp(terminal, os.getpid())
    finally:
        os.tcsetpgrp(terminal, old_group)
        signal.signal(signal.SIGTTOU, old_handler)
