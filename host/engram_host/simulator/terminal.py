"""The terminal under a board: it hands on each key at once, since the firmware echoes and edits as on a serial line.

A terminal's own line editing would end lines at 4,095 bytes.
"""

import contextlib
import signal
import termios
from collections.abc import Iterator

_LOCAL, _CONTROL = 3, 6
_NO_KEY = b"\0"


@contextlib.contextmanager
def keys_at_once(terminal: int, *, with_ctrl_c: bool) -> Iterator[None]:
    """Let each key through at once and unechoed, also Ctrl-C if wanted: as a signal, `make` would hear it too."""
    old = termios.tcgetattr(terminal)
    new = termios.tcgetattr(terminal)
    new[_LOCAL] &= ~(termios.ICANON | termios.ECHO)
    if with_ctrl_c:
        new[_CONTROL][termios.VINTR] = _NO_KEY
    _set(terminal, new)
    # Who was stopped by Ctrl-Z finds the terminal as the shell likes it.
    old_handler = signal.signal(signal.SIGCONT, lambda *_: _set(terminal, new))
    try:
        yield
    finally:
        signal.signal(signal.SIGCONT, old_handler)
        _set(terminal, old)


def _set(terminal: int, attributes: list) -> None:
    # A terminal that has gone cannot be set, and need not be.
    with contextlib.suppress(termios.error):
        termios.tcsetattr(terminal, termios.TCSADRAIN, attributes)
