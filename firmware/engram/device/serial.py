"""The board's serial line, as the console writes to it.

Where nobody has opened a USB port the firmware drops what is written at once. Where somebody holds it open and does not
read, each write waits half a second before it is dropped: then nothing more is written for a while, so that the
network and all else go on. A UART has nobody to wait for; it takes 11 bytes a millisecond.
"""

import sys

from engram.compat import const, ticks_diff, ticks_ms

_BYTES_A_MS = const(8)  # a UART at 115200 baud is faster
_PATIENCE_MS = const(450)  # a write that takes so much longer than its bytes explain has waited for nobody
_SILENCE_MS = const(3000)


class Serial:
    """Takes text as standard output does; drops it while the other side does not read."""

    def __init__(self, target=None):
        # The buffer, since standard output itself would make a line's end of each newline in it.
        self._target = target or sys.stdout.buffer
        self._is_silent = False
        self._silent_since = 0

    def write(self, text: str) -> None:
        """Write, or drop the text."""
        start = ticks_ms()
        if self._is_silent and ticks_diff(start, self._silent_since) < _SILENCE_MS:
            return
        data = text.encode()
        self._target.write(data)
        end = ticks_ms()
        self._is_silent = ticks_diff(end, start) > _PATIENCE_MS + len(data) // _BYTES_A_MS
        self._silent_since = end
