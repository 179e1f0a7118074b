"""The serial line to a board's raw REPL: mpremote's, with a patience that its caller sets."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mpremote.transport_serial import SerialTransport

SILENT_SECONDS = 60.0
"""How long a board may say nothing before it counts as gone. It says something with each piece of work, but cannot while
littlefs looks through a full flash for a free block.
"""


class RawReplTransport(SerialTransport):
    """A line on which a board may be silent for a time of ours: mpremote has 10 seconds everywhere, a restart included."""

    def __init__(self, port: str, baud: int, timeout: float):
        super().__init__(port, baudrate=baud, timeout=timeout)
        self.silent_seconds = SILENT_SECONDS

    @contextmanager
    def patience(self, seconds: float) -> Iterator[None]:
        """Let the board be silent for as long as this, while the block runs."""
        usual, self.silent_seconds = self.silent_seconds, seconds
        try:
            yield
        finally:
            self.silent_seconds = usual

    def read_until(
        self,
        min_num_bytes: int,
        ending: bytes,
        timeout: float | None = None,
        data_consumer: Callable[[bytes], None] | None = None,
        timeout_overall: float | None = None,
    ) -> Any:
        """What the board says up to `ending`, or less when it is silent or takes longer than `timeout_overall`, seconds."""
        silence: Any = self.silent_seconds  # mpremote's annotation says int, its code takes both
        return super().read_until(min_num_bytes, ending, silence, data_consumer, timeout_overall)
