"""The serial line to a board's raw REPL: mpremote's, with a patience that its caller sets."""

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mpremote.transport import TransportError
from mpremote.transport_serial import SerialTransport

SILENT_SECONDS = 60.0
"""How long a board may say nothing before it counts as gone. It says something with each piece of work, but cannot while
littlefs looks through a full flash for a free block.
"""

INTERRUPT_SECONDS = 10.0
"""Between two Ctrl-C: the app takes its time to stop, and another one would break into that."""

_LOOK_SECONDS = 0.1
_INTERRUPT, _ENTER, _LEAVE, _RUN = b"\x03", b"\x01", b"\x02", b"\x04"
_RAW = b"raw REPL; CTRL-B to exit\r\n"
_PROMPT = b">>> "


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
        if not self.is_pty:
            return super().read_until(min_num_bytes, ending, silence, data_consumer, timeout_overall)
        # There mpremote reads without a look at what is there, and each read takes the port's own time.
        port: Any = self.serial
        usual, port.timeout = port.timeout, _LOOK_SECONDS
        try:
            return super().read_until(min_num_bytes, ending, silence, data_consumer, timeout_overall)
        finally:
            port.timeout = usual

    def stop(self, longest_seconds: float, on_wait: Callable[[], None]) -> None:
        """Stop what runs and get to the raw prompt, without a soft reset; TransportError if the board does not get there.

        It is waited for while it says something, up to a bound. `on_wait` is called each time that it did not stop yet.
        """
        began = heard = time.monotonic()
        while True:
            # No end of a line: what a person has typed and not ended is nothing to carry out.
            self.serial.write(_INTERRUPT + _ENTER)
            with self.patience(INTERRUPT_SECONDS):
                said = self.read_until(1, _RAW, timeout_overall=INTERRUPT_SECONDS)
            if said.endswith(_RAW):
                break
            now = time.monotonic()
            heard = now if said else heard
            if now - heard >= SILENT_SECONDS or now - began >= longest_seconds:
                raise TransportError("could not enter raw repl")
            on_wait()
        self.in_raw_repl = True
        # Earlier attempts may be answered, too: what comes behind our own line is the answer to that.
        mark = secrets.token_hex(4).encode()
        self.serial.write(b"print('" + mark + b"')" + _RUN)
        self._expect(mark + b"\r\n\x04\x04")

    def type_line(self, line: str) -> None:
        """Leave the raw prompt, and type a line at the one for people."""
        self.serial.write(_LEAVE)
        self._expect(_PROMPT)
        self.serial.write(line.encode() + b"\r")
        self._expect(line.encode() + b"\r\n")
        self.in_raw_repl = False

    def begin_code(self, code: str) -> None:
        """Let the board run code of which no end is awaited, such as a reset."""
        self.serial.write(code.encode() + _RUN)
        self._expect(b"OK")
        self.in_raw_repl = False

    def begin_code_unheard(self, code: str) -> None:
        """Ask a board that does not answer to stop and run code, when it gets to that."""
        self.serial.write(_INTERRUPT + _ENTER + code.encode() + _RUN)

    def _expect(self, ending: bytes) -> None:
        if not self.read_until(1, ending).endswith(ending):
            raise TransportError("the board stopped answering")
