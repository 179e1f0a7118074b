"""The serial line to a board's raw REPL: mpremote's transport, with timeouts set by the caller."""

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mpremote.transport import TransportError
from mpremote.transport_serial import SerialTransport

SILENT_SECONDS = 60.0
"""Silence allowed: a board prints with each piece of work, but not while littlefs scans a full
flash."""

INTERRUPT_SECONDS = 10.0
"""Time between two Ctrl-C: a second one would interrupt the app's shutdown."""

_LOOK_SECONDS = 0.1
_INTERRUPT, _ENTER, _RUN = b"\x03", b"\x01", b"\x04"
_RAW = b"raw REPL; CTRL-B to exit\r\n"


class RawReplTransport(SerialTransport):
    """Transport with its own timeouts: mpremote has 10 seconds everywhere, a restart included."""

    def __init__(self, port: str, baud: int, timeout: float):
        super().__init__(port, baudrate=baud, timeout=timeout)
        self.silent_seconds = SILENT_SECONDS

    @contextmanager
    def patience(self, seconds: float) -> Iterator[None]:
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
        """Read up to `ending`, or less after a silence or after `timeout_overall` seconds."""
        silence: Any = self.silent_seconds  # mpremote's annotation says int, its code takes both
        if not self.is_pty:
            return super().read_until(min_num_bytes, ending, silence, data_consumer, timeout_overall)
        # mpremote reads without looking at what is there, and each read takes the port's own timeout.
        port: Any = self.serial
        usual, port.timeout = port.timeout, _LOOK_SECONDS
        try:
            return super().read_until(min_num_bytes, ending, silence, data_consumer, timeout_overall)
        finally:
            port.timeout = usual

    def stop(self, longest_seconds: float, on_wait: Callable[[], None]) -> None:
        """Interrupt the program and enter the raw prompt, no soft reset; raises TransportError on
        timeout."""
        began = heard = time.monotonic()
        while True:
            # No line end: input that a person has typed and not ended must not be executed.
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
        # Earlier attempts may be answered, too: the answer to ours follows our own line.
        mark = secrets.token_hex(4).encode()
        self.serial.write(b"print('" + mark + b"')" + _RUN)
        self._expect(mark + b"\r\n\x04\x04")

    def begin_code(self, code: str) -> None:
        self.serial.write(code.encode() + _RUN)
        self._expect(b"OK")
        self.in_raw_repl = False

    def begin_code_unheard(self, code: str) -> None:
        self.serial.write(_INTERRUPT + _ENTER + code.encode() + _RUN)

    def _expect(self, ending: bytes) -> None:
        if not self.read_until(1, ending).endswith(ending):
            raise TransportError("the board stopped answering")
