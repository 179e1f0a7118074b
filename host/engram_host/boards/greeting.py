"""What a board says before its console talks JSON: whether it lives, and why it does not answer."""

import re

PROBE = b"/json on"

SILENT_SECONDS = 8.0
"""A board that says nothing for so long does not answer: a person is told within 10 seconds."""

LONGEST_SECONDS = 60.0
"""A board that lives is waited for no longer: a start takes up to half a minute, in silence once MicroPython runs."""

SETTLE_SECONDS = 0.5
"""A prompt after which nothing comes for so long is one that waits."""

LOOP_STARTS = 3
"""So many starts while it is waited for are no start."""

_RESET = b"rst:0x"
"""In what a chip's ROM prints at each start: why it was reset."""

_PROMPT = b">>> "
_SAFE_MODE = b"Engram is in safe mode"
_NO_START = re.compile(rb"Engram (?:did not start|could not be started): ([^\r\n]+)")
_KEPT_BYTES = 4096


class Greeting:
    """Listens to a board from the moment `now`; times are those of one clock, in seconds."""

    def __init__(self, port: str, now: float, silent_seconds: float = 0):
        self._port = port
        self._began = self._heard = now
        self._silent_seconds = silent_seconds or SILENT_SECONDS
        self._tail = b""
        self._starts = 0
        self._lives = False

    def hear(self, data: bytes, now: float) -> None:
        """Take what the board said."""
        if not data:
            return
        # A mark may come in two pieces.
        before = self._tail[-len(_RESET) :]
        self._starts += (before + data).count(_RESET) - before.count(_RESET)
        self._tail = (self._tail + data)[-_KEPT_BYTES:]
        # What it only echoes tells that there is a console, and not that it goes on.
        if not self._lives or data.replace(PROBE, b"").strip(b"\r\n> "):
            self._heard = now
        self._lives = True

    @property
    def is_waiting(self) -> bool:
        """Whether the board said something, so that it is worth waiting for."""
        return self._lives

    def problem(self, now: float) -> str:
        """Why it is no use to wait any longer; "" if it is."""
        if self._tail.endswith(_PROMPT) and now - self._heard >= SETTLE_SECONDS:
            return self._at_prompt()
        if self._starts >= LOOP_STARTS:
            return (
                f"the board on {self._port} starts again and again: `make monitor` shows why;"
                " hold BOOT, press RESET, and `make flash` writes it anew."
            )
        is_starting = self._starts > 0
        if now - self._began < LONGEST_SECONDS and (is_starting or now - self._heard < self._silent_seconds):
            return ""
        if not self._lives:
            return (
                f"no Engram answers on {self._port}: press the board's RESET and try again; `make monitor` shows what it"
                " says. If it says nothing, check the cable and the port (PORT=...), or `make flash`."
            )
        return (
            f"no Engram answers on {self._port}, though the board says something (`make monitor` shows it): it may be busy,"
            " so try again; else press its RESET, or `make deploy`."
        )

    def _at_prompt(self) -> str:
        if _SAFE_MODE in self._tail:
            return (
                f"the board on {self._port} is in safe mode, since its last starts failed: press its RESET to try once more"
                " (`make monitor` shows why it fails), or put it right by `make deploy`."
            )
        found = _NO_START.search(self._tail)
        if found:
            why = found[1].decode("utf-8", "replace").strip()
            return f"the board on {self._port} did not start Engram: {why}"
        return f"the board on {self._port} is at the MicroPython prompt: press its RESET (or type app.run() there)."
