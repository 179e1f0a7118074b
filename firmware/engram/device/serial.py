"""The board's serial line, as the console writes to it.

Without an open USB port the firmware drops output at once. A port that is open but not read delays each write
by half a second; writing then pauses for a while, so that other tasks run. A UART has no reader to wait for
and takes 11 bytes per millisecond.
"""

import sys

from engram.compat import ticks_diff, ticks_ms

_BYTES_A_MS = const(8)  # a UART at 115200 baud is faster
_PATIENCE_MS = const(450)  # a write this much slower than its bytes explain had no reader
_SILENCE_MS = const(3000)


class Serial:
    """A text output that drops text while the other side does not read."""

    def __init__(self, target=None):
        # The buffer, since standard output itself would make a line's end of each newline in it.
        self._target = target or sys.stdout.buffer
        self._is_silent = False
        self._silent_since = 0

    def write(self, text: str) -> None:
        start = ticks_ms()
        if self._is_silent and ticks_diff(start, self._silent_since) < _SILENCE_MS:
            return
        data = text.encode()
        self._target.write(data)
        end = ticks_ms()
        self._is_silent = ticks_diff(end, start) > _PATIENCE_MS + len(data) // _BYTES_A_MS
        self._silent_since = end
